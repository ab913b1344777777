package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqlitefile"
	"zombiezen.com/go/sqlite"
)

// versions names the states of a SQLite database. PRAGMA data_version changes on a connection when another connection has
// committed, but its numbers cannot be compared between connections. So one connection, the watch, gives the names. A
// reader asks the watch before and after it opens its snapshot: when both answers are the same, nothing was committed in
// between, and the snapshot has that name.
type versions struct {
	mu    sync.Mutex
	watch *sqlite.Conn
	stmt  *sqlite.Stmt
	// seen is the watch's number when the state was last named, and name that name; unknown before the first.
	seen int64
	name string
	// file is the path of the database, and index that of its log, mapped when the watch has read; head is the index when the
	// state had the name. Where it still is, nothing was committed.
	file   string
	index  sqlitefile.LogIndex
	mapped bool
	head   sqlitefile.LogHead
	headed bool
	// stale tells that the name is no longer right.
	stale atomic.Bool
	// prefix sets the names of this process apart from those of others, n counts them.
	prefix string
	n      uint64
	own    *ownWrites
	// trust is asked about each schema: see trusted. schema is the number of the last one, and serves what was answered.
	trust      func(Asker) (bool, error)
	schemaStmt *sqlite.Stmt
	schema     int64
	serves     bool
	// on tells that NameVersions was called.
	on bool
}

// unknown is the name of a state that could not be told.
const unknown = ""

func (v *versions) open(dsn string) error {
	c, err := sqlite.OpenConn(dsn, sqlite.OpenReadWrite, sqlite.OpenURI)
	if err != nil {
		return err
	}
	if v.stmt, err = c.Prepare(askVersion); err != nil {
		return errors.Join(err, c.Close())
	}
	if v.schemaStmt, err = c.Prepare("PRAGMA schema_version"); err != nil {
		return errors.Join(err, c.Close())
	}
	v.schema = -1
	c.SetBusyTimeout(time.Second)
	if v.file, err = sqlitefile.Path(dsn); err != nil {
		return errors.Join(err, c.Close())
	}
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
	head, ok := v.index.Head()
	if ok && v.headed && v.name != unknown && head == v.head {
		return v.name
	}
	name := v.look(ctx)
	// The state had its name while the index was the same before and after.
	again, still := v.index.Head()
	v.headed = ok && still && name != unknown && again == head
	v.head = head
	if !v.mapped && name != unknown {
		v.index, v.mapped = sqlitefile.MapLogIndex(v.file), true
	}
	return name
}

// glance is now where the index alone tells it; else unknown.
func (v *versions) glance() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.watch == nil || v.stale.Load() || !v.headed {
		return unknown
	}
	if head, ok := v.index.Head(); !ok || head != v.head {
		return unknown
	}
	return v.name
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

// next gives a name that no state had before, unless the schema has become another one than readers rely on.
func (v *versions) next() string {
	if !v.trusted() {
		v.name = unknown
		return unknown
	}
	v.n++
	v.name = v.prefix + strconv.FormatUint(v.n, 36)
	return v.name
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
	c, index := v.watch, v.index
	v.watch, v.index, v.mapped, v.headed = nil, nil, false, false
	return errors.Join(index.Unmap(), c.Close())
}

// single runs a statement that gives one number.
func single(stmt *sqlite.Stmt) (int64, error) {
	if _, err := stmt.Step(); err != nil {
		return 0, err
	}
	n := stmt.ColumnInt64(0)
	return n, stmt.Reset()
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

// begun is called when the first statement has read. What that sees has the name that the state had before it and has
// after it.
func (tx *sqliteTx) begun() {
	db := tx.db
	db.noteBegunLog(tx.conn)
	before := tx.before
	tx.before = unknown
	if before != unknown && before == db.versions.now(tx.ctx) && tx.conn.exchange == db.exchanges.Load() {
		tx.version = before
	}
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
		if err := exec(c.Conn, "COMMIT"); err != nil {
			return 0, err
		}
	}
	if err := exec(c.Conn, "BEGIN"); err != nil {
		return 0, err
	}
	stmt, err := c.Prepare(askVersion)
	if err != nil {
		return 0, err
	}
	return single(stmt)
}
