package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
	"github.com/vestibule-dev/vestibule/v2/internal/sqlitefile"
)

// SQLite reads one database file through connections of its own.
type SQLite struct {
	dsn string
	// slots has room for each connection that is in use.
	slots    chan struct{}
	versions versions
	pages    pages
	// statements bounds the memory of the statements that a connection keeps, in bytes; zero bounds their number alone.
	statements int

	mu   sync.Mutex
	idle []*conn // in the order in which they were given back
	// ranks tells which ranks have a connection.
	ranks []bool
	done  bool
	// file is the one that the connections read, and looked is when it was last looked whether it was exchanged.
	file   sqlitefile.Identity
	looked time.Time
	// exchanges counts how often another file came in the place of the first.
	exchanges atomic.Int64
	// disk is what the file looked like, and written how often that changed. copied tells that it is another one now, copies
	// counts how often that was seen.
	disk    onDisk
	written int64
	copied  bool
	copies  atomic.Int64
	// Fixed refuses to read a file that came in the place of the first one. Set it before the first use. left reports whether
	// one came.
	Fixed, left bool
	// Wait returns how long a transaction waits for a lock of another process; nil for lockWait. Set it before the first use.
	Wait func(context.Context) time.Duration
	// Gate is the pool of one connection through which the program writes to the same file; nil for none. Who writes waits in its
	// line. Set it before the first use.
	Gate *sql.DB
	// Hold is how long a transaction that writes may keep the lock of the file; zero for maxHold. Set it before the first use.
	Hold time.Duration
	// writing is full while somebody writes. writer is the connection for that; nil before the first use.
	writing chan struct{}
	writer  *conn
	// waits counts those who found no free connection, and waited is their time, in nanoseconds.
	waits, waited atomic.Int64
}

// lockWait is how long a lock is waited for where nobody says otherwise.
const lockWait = 5 * time.Second

// OpenSQLite opens a database by the path, or file: URI, that a data source name starts with. Its
// parameters behind "?" are for other drivers. The file is never mapped into memory: who copies a shorter one over it
// would end the process; the connection that is used most keeps pages of it in up to heap bytes of memory, 256 MiB when zero,
// and all connections statements in a third of that. At most maxConns connections are open; when it is 0, twice as many as
// there are processors, and 4 at least.
func OpenSQLite(dsn string, maxConns int, heap int64) (*SQLite, error) {
	if maxConns == 0 {
		maxConns = max(2*runtime.GOMAXPROCS(0), 4)
	}
	path, _, _ := strings.Cut(dsn, "?")
	if path == "" || strings.Contains(path, ":memory:") || strings.Contains(dsn, "mode=memory") {
		return nil, errors.New("a SQLite source needs a database file, which its own connections can open")
	}
	db := &SQLite{dsn: path, slots: make(chan struct{}, maxConns), writing: make(chan struct{}, 1), ranks: make([]bool, maxConns), pages: pagesWithin(heap), statements: int(heap) / 3 / maxConns}
	db.ranks[0] = true
	name, err := sqlitefile.Path(path)
	if err != nil {
		return nil, fmt.Errorf("open SQLite database: %w", err)
	}
	if db.file, err = sqlitefile.Identify(name); err != nil {
		return nil, fmt.Errorf("open SQLite database: %w", err)
	}
	db.file = db.file.Alone()
	conn, err := db.connect(0, lockWait)
	if err != nil {
		return nil, err
	}
	db.idle = append(db.idle, conn)
	if now, exchanged := db.file.Look(); !exchanged {
		return db, db.checkCopied(now)
	}
	return db, nil
}

// NameVersions makes Version, and transactions with a snapshot, name the state of the data. With a writer, its changes to
// private tables do not count. No state has a name while the schema of the relied tables differs from what it is now, also in a
// file that was exchanged; nil relies on all tables. Call NameVersions before the first use.
func (db *SQLite) NameVersions(writer *Writer, relied func(table string) bool) error {
	if writer != nil {
		db.versions.own = &ownWrites{Writer: *writer}
	}
	db.versions.relied = relied
	return db.versions.open(db.dsn)
}

func (db *SQLite) connect(rank int, lock time.Duration) (*conn, error) {
	c, err := db.openConn(rank, lock, "query_only=1")
	if err != nil {
		db.mu.Lock()
		defer db.mu.Unlock()
		db.ranks[rank] = false
		return nil, err
	}
	db.noteLog(c)
	return c, nil
}

func (db *SQLite) openConn(rank int, lock time.Duration, pragmas ...string) (*conn, error) {
	// The file may be on a read-only medium: SQLite then falls back by itself.
	raw, err := sqlite3.Open(db.dsn)
	if err != nil {
		return nil, fmt.Errorf("open SQLite database: %w", err)
	}
	raw.MaxBytes = db.statements
	c := &conn{Conn: raw, rank: rank}
	c.SetBusyTimeout(lock)
	// Nothing is read before it is certain that the log beside the file belongs to it.
	if c.exchange, err = db.verify(); err == nil {
		err = register(c)
	}
	if err == nil {
		err = c.checkEncoding()
	}
	for _, pragma := range append(pragmas, "mmap_size=0") {
		if err == nil {
			err = raw.Exec("PRAGMA " + pragma)
		}
	}
	if err == nil {
		err = db.pages.set(raw, rank)
	}
	if err == nil {
		err = raw.Exec("SELECT 1 FROM sqlite_schema LIMIT 1")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open SQLite database: %w", err), c.Close())
	}
	return c, nil
}

// acquire takes a free connection, or opens one while there are fewer than allowed, or waits.
func (db *SQLite) acquire(ctx context.Context, need Need) (*conn, error) {
	if err := db.takeSlot(ctx); err != nil {
		return nil, err
	}
	conn, err := db.free(need)
	for range 3 {
		if !errors.Is(err, errRenamed) {
			break
		}
		conn, err = db.free(need)
	}
	if err != nil {
		<-db.slots
	}
	return conn, err
}

// free is a connection that nobody uses.
func (db *SQLite) free(need Need) (*conn, error) {
	conn, written, rank, err := db.take(need)
	if err != nil {
		return nil, err
	}
	if conn == nil {
		if conn, err = db.connect(rank, need.lock); err != nil {
			return nil, err
		}
		conn.written = written
	}
	if err := conn.refresh(written); err != nil {
		db.mu.Lock()
		defer db.mu.Unlock()
		return nil, errors.Join(err, db.drop(conn))
	}
	return conn, nil
}

// take gives a connection, or the rank of one that is to be opened, and the number of the state of the file.
func (db *SQLite) take(need Need) (c *conn, written int64, rank int, err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.done {
		return nil, 0, 0, errClosed
	}
	if err := db.renew(); err != nil {
		return nil, 0, 0, err
	}
	c, rank = db.choose(need)
	return c, db.written, rank, nil
}

var errClosed = errors.New("the database is closed")

func (db *SQLite) release(conn *conn) error {
	defer func() { <-db.slots }()
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.done || conn.exchange != db.exchanges.Load() {
		return db.drop(conn)
	}
	db.idle = append(db.idle, conn)
	return nil
}

// drop closes a connection. The caller holds mu.
func (db *SQLite) drop(c *conn) error {
	db.ranks[c.rank] = false
	return c.Close()
}

// Close closes the free connections at once and the others when they come back.
func (db *SQLite) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.done {
		return nil
	}
	db.done = true
	errs := []error{db.versions.close()}
	for _, conn := range db.idle {
		errs = append(errs, conn.Close())
	}
	select {
	case db.writing <- struct{}{}: // nobody writes, nor will again
		if db.writer != nil {
			errs = append(errs, db.writer.Close())
		}
	default:
	}
	return errors.Join(errs...)
}

// Begin takes a connection.
func (db *SQLite) Begin(ctx context.Context, need Need) (Tx, error) {
	since, lock := time.Now(), lockWait
	if db.Wait != nil {
		lock = db.Wait(ctx)
	}
	need.lock = lock
	conn, err := db.acquire(ctx, need)
	if err != nil {
		return nil, err
	}
	conn.SetBusyTimeout(lock - time.Since(since))
	tx := &sqliteTx{db: db, conn: conn, ctx: ctx, end: conn.interruptAfter(ctx)}
	if need.Snapshot || need.Version {
		err = tx.snapshot()
	}
	if err != nil {
		return nil, errors.Join(cause(ctx, err), tx.Close())
	}
	return tx, nil
}

// ErrEncoding is the error of a SQLite file whose texts are UTF-16. They would have to be converted cell by cell, and nothing
// changes the encoding of a file, VACUUM INTO included.
var ErrEncoding = errors.New("the texts of the SQLite file are UTF-16, and queries read UTF-8 alone: " + EncodingRemedy)

// EncodingRemedy is the remedy for ErrEncoding.
const EncodingRemedy = "stop all programs that use it, make a copy by sqlite3 app.db .dump | sqlite3 copy.db, and put that in its place without -wal and -shm"

// checkEncoding is ErrEncoding for a file of another encoding than UTF-8.
func (c *conn) checkEncoding() error {
	encoding, err := c.pragma("encoding")
	if err == nil && encoding != "UTF-8" {
		return ErrEncoding
	}
	return err
}

// takeSlot takes a slot for a connection, or waits for one.
func (db *SQLite) takeSlot(ctx context.Context) error {
	select {
	case db.slots <- struct{}{}:
		return nil
	default:
	}
	since := time.Now()
	db.waits.Add(1)
	defer func() { db.waited.Add(int64(time.Since(since))) }()
	select {
	case db.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Pool returns the state of the connections.
func (db *SQLite) Pool() sql.DBStats {
	db.mu.Lock()
	defer db.mu.Unlock()
	return sql.DBStats{
		MaxOpenConnections: cap(db.slots), InUse: len(db.slots), Idle: len(db.idle),
		WaitCount: db.waits.Load(), WaitDuration: time.Duration(db.waited.Load()),
	}
}
