package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
)

// versions names the states of a SQLite database. PRAGMA data_version changes on a connection when another connection has
// committed, but its numbers cannot be compared between connections. So one connection, the watch, gives the names. A
// reader asks the watch before and after it opens its snapshot: when both answers are the same, nothing was committed in
// between, and the snapshot has that name.
type versions struct {
	mu    sync.Mutex
	watch *sqlite3.Conn
	stmt  *sqlite3.Stmt
	// seen is the watch's number when the state was last named, and name that name; unknown before the first.
	seen int64
	name string
	// stale tells that the name is no longer right.
	stale atomic.Bool
	// prefix sets the names of this process apart from those of others, n counts them.
	prefix string
	n      uint64
	own    *ownWrites
	// relied reports whether what readers remember relies on the schema of a table; nil relies on all.
	relied func(table string) bool
	// first is the hash of the schema at NameVersions. number is the schema's number when same was found out; -1 before the first time.
	first      string
	schemaStmt *sqlite3.Stmt
	number     int64
	same       bool
	// on tells that NameVersions was called.
	on bool
}

// watchWait is how long the watch waits for a lock: those who ask for a name wait in line.
const watchWait = 10 * time.Millisecond

// unknown is the name of a state that could not be told.
const unknown = ""

func (v *versions) open(dsn string) error {
	c, err := sqlite3.Open(dsn)
	if err != nil {
		return err
	}
	if v.stmt, err = c.Prepare(askVersion); err != nil {
		return errors.Join(err, c.Close())
	}
	if v.schemaStmt, err = c.Prepare("PRAGMA schema_version"); err != nil {
		return errors.Join(err, c.Close())
	}
	if v.first == "" {
		if v.first, err = v.schemaOf(c); err != nil {
			return errors.Join(err, c.Close())
		}
	}
	v.number = -1
	c.SetBusyTimeout(watchWait)
	v.watch, v.on, v.prefix = c, true, rand.Text()[:12]+"."
	return nil
}

// reopen watches the file that has the name now. No name that was given before is given again.
func (v *versions) reopen(dsn string) error {
	v.mu.Lock()
	on := v.on
	v.seen, v.name = 0, unknown
	v.mu.Unlock()
	if !on {
		return nil
	}
	err := v.close()
	v.mu.Lock()
	defer v.mu.Unlock()
	return errors.Join(err, v.open(dsn))
}

// forget makes the next state get a new name.
func (v *versions) forget() { v.stale.Store(true) }

const askVersion = "PRAGMA data_version"

// now is the name of the state at this moment; unknown when the writer stays busy for maxWriterWait.
func (v *versions) now(ctx context.Context) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.watch == nil {
		return unknown
	}
	if v.stale.Swap(false) {
		v.name = unknown
	}
	return v.look(ctx)
}

// look asks the watch for the name of the state.
func (v *versions) look(ctx context.Context) string {
	n, err := single(v.stmt)
	if err != nil {
		return unknown
	}
	if n == v.seen && v.name != unknown {
		return v.name
	}
	if v.own == nil {
		v.seen = n
		return v.next()
	}
	return v.ask(ctx)
}

// next gives a name that no state had before, unless the schema is another one than at NameVersions: what readers remember
// relies on keys and on columns without null.
func (v *versions) next() string {
	if !v.sameSchema() {
		v.name = unknown
		return unknown
	}
	v.n++
	v.name = v.prefix + strconv.FormatUint(v.n, 36)
	return v.name
}

// sameSchema reports whether the schema is that of NameVersions. It compares the statements when the schema has another
// number, which VACUUM gives it, too. The caller holds mu.
func (v *versions) sameSchema() bool {
	n, err := single(v.schemaStmt)
	if err != nil {
		return false
	}
	if n == v.number {
		return v.same
	}
	now, err := v.schemaOf(v.watch)
	if err != nil {
		return false // and asks again
	}
	v.number, v.same = n, now == v.first
	return v.same
}

// schemaOf returns a hash of the statements of the relied tables, without the tables that SQLite keeps for itself and without
// indexes that promise nothing.
func (v *versions) schemaOf(c *sqlite3.Conn) (schema string, err error) {
	stmt, err := c.Prepare(`SELECT type, name, sql, tbl_name FROM sqlite_schema
		WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' AND (type <> 'index' OR sql LIKE 'create unique%') ORDER BY type, name`)
	if err != nil {
		return "", err
	}
	defer stmt.Close()
	sum := sha256.New()
	for {
		row, err := stmt.Step()
		if err != nil || !row {
			return string(sum.Sum(nil)), err
		}
		if v.relied != nil && !v.relied(stmt.Value(3).Text()) {
			continue
		}
		for i := range 3 {
			_, _ = io.WriteString(sum, stmt.Value(i).Text()+"\x00") // a hash returns no error
		}
	}
}

// ask holds the writer, and gives a new name if a commit since the last call changed what readers see.
func (v *versions) ask(ctx context.Context) string {
	known := false
	err := v.own.hold(ctx, func(state func() (writerState, error)) error {
		before, err := state()
		if err != nil {
			return err
		}
		n, err := single(v.stmt)
		if err != nil {
			return err
		}
		after, err := state()
		if err != nil || before != after {
			return err
		}
		known, v.seen = true, n
		if v.own.moved(after) || v.name == unknown {
			v.next()
		}
		return nil
	})
	if err != nil || !known {
		return unknown
	}
	return v.name
}

func (v *versions) close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.watch == nil {
		return nil
	}
	c := v.watch
	v.watch = nil
	return c.Close()
}

// single runs a statement that gives one number.
func single(stmt *sqlite3.Stmt) (int64, error) {
	_, err := stmt.Step()
	n := stmt.Value(0).Int()
	stmt.Reset()
	return n, err
}

// Version names the state of the data at this moment; empty where that cannot be told. No other process gives the same
// name.
func (db *SQLite) Version(ctx context.Context) string {
	db.mu.Lock()
	err := db.renew()
	db.mu.Unlock()
	if err != nil {
		return unknown
	}
	return db.versions.now(ctx)
}

// snapshot begins a read transaction on a connection and finds the name of what it reads.
func (tx *sqliteTx) snapshot() error {
	c := tx.conn
	n, err := tx.restart(false)
	if err != nil || !tx.db.versions.on {
		return err
	}
	if n == c.seen && c.name != unknown {
		tx.version = c.name
		return nil
	}
	for range 3 {
		before := tx.db.versions.now(tx.ctx)
		if n, err = tx.restart(true); err != nil {
			return err
		}
		// A connection to a file that was exchanged meanwhile must not take a name of the new one.
		if before != unknown && before == tx.db.versions.now(tx.ctx) && c.exchange == tx.db.exchanges.Load() {
			c.seen, c.name, tx.version = n, before, before
			return nil
		}
	}
	c.name = unknown
	return nil
}

// restart begins a read transaction, at this moment and not with the first statement, and returns the connection's own
// number for the state.
func (tx *sqliteTx) restart(again bool) (int64, error) {
	c := tx.conn
	if again {
		if err := c.Exec("COMMIT"); err != nil {
			return 0, err
		}
	}
	if err := c.Exec("BEGIN"); err != nil {
		return 0, err
	}
	stmt, err := c.Prepare(askVersion)
	if err != nil {
		return 0, err
	}
	defer stmt.Close()
	return single(stmt)
}
