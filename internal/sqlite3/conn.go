package sqlite3

import (
	"container/list"
	"fmt"
	"sync/atomic"
	"time"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// maxCached bounds the statements that a connection keeps. A client can make any number of different ones.
const maxCached = 128

// A Conn is a connection to a database.
type Conn struct {
	tls *libc.TLS
	db  uintptr
	// cached are the statements by their text. idle orders those that nobody uses, the last used first.
	cached map[string]*Stmt
	idle   *list.List
	// bytes is the memory of the cached statements. MaxBytes bounds it but for the last one; zero is no bound.
	bytes, MaxBytes int
	// functions are those that SQLite has pointers to, which the garbage collector does not see.
	functions   []any
	interrupted atomic.Bool
}

// Open opens an existing database by its path or file: URI. The URI's mode=ro opens it read-only. Texts in double quotes
// are names and never strings.
func Open(name string) (*Conn, error) {
	c := &Conn{tls: libc.NewTLS(), cached: map[string]*Stmt{}, idle: list.New()}
	err := c.open(name)
	if err != nil {
		_ = c.Close() // the first error is the cause
		return nil, fmt.Errorf("open: %w", err)
	}
	return c, nil
}

func (c *Conn) open(name string) error {
	const flags = lib.SQLITE_OPEN_READWRITE | lib.SQLITE_OPEN_URI | lib.SQLITE_OPEN_NOMUTEX | lib.SQLITE_OPEN_EXRESCODE
	path, err := libc.CString(name)
	if err != nil {
		return err
	}
	defer libc.Xfree(c.tls, path)
	out := c.tls.Alloc(pointerSize)
	defer c.tls.Free(pointerSize)
	code := lib.Xsqlite3_open_v2(c.tls, path, out, flags, 0)
	c.db = *at[uintptr](out)
	if code != lib.SQLITE_OK {
		return c.fault(code)
	}
	off := libc.NewVaList(int32(0), uintptr(0))
	defer libc.Xfree(c.tls, off)
	for _, option := range []int32{lib.SQLITE_DBCONFIG_DQS_DDL, lib.SQLITE_DBCONFIG_DQS_DML} {
		if code := lib.Xsqlite3_db_config(c.tls, c.db, option, off); code != lib.SQLITE_OK {
			return c.fault(code)
		}
	}
	return nil
}

// Close finalizes all statements and closes the connection.
func (c *Conn) Close() error {
	defer c.tls.Close()
	for _, s := range c.cached {
		s.finalize()
	}
	if code := lib.Xsqlite3_close(c.tls, c.db); code != lib.SQLITE_OK {
		return fmt.Errorf("close: %w", c.fault(code))
	}
	return nil
}

// Exec runs a statement that has no parameters, and passes over its rows.
func (c *Conn) Exec(query string) error {
	s, err := c.Prepare(query)
	if err != nil {
		return err
	}
	for row := true; row && err == nil; {
		row, err = s.Step()
	}
	s.Close()
	return err
}

// Autocommit reports whether no transaction is open.
func (c *Conn) Autocommit() bool { return lib.Xsqlite3_get_autocommit(c.tls, c.db) != 0 }

// Changes returns how many rows the last INSERT, UPDATE or DELETE has changed. Triggers and foreign keys do not count.
func (c *Conn) Changes() int64 { return lib.Xsqlite3_changes64(c.tls, c.db) }

// SetBusyTimeout is the time that a statement waits for a lock of another connection; none if it is not above zero.
func (c *Conn) SetBusyTimeout(d time.Duration) {
	lib.Xsqlite3_busy_timeout(c.tls, c.db, int32(d/time.Millisecond)) // it returns SQLITE_OK
}

// Interrupt ends the statement that runs, and makes every further one fail with SQLITE_INTERRUPT until Resume. It may be
// called from any goroutine until Close. SQLite misses an interrupt just before a statement starts: call it again while the
// statement lasts.
func (c *Conn) Interrupt() {
	c.interrupted.Store(true)
	lib.Xsqlite3_interrupt(c.tls, c.db)
}

// Resume lets statements run again.
func (c *Conn) Resume() { c.interrupted.Store(false) }

// fault returns the error of the last call on the connection.
func (c *Conn) fault(code int32) error {
	text := "out of memory"
	if c.db != 0 {
		text = libc.GoString(lib.Xsqlite3_errmsg(c.tls, c.db))
	}
	return &Error{code: int(code), text: text}
}
