package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqlitefile"
	"modernc.org/sqlite"
)

// watched is the file below the pools of one DB. It sees to it that no connection is
// opened to a file that came in its place while the log of the old one lies beside it.
type watched struct {
	file string

	mu     sync.Mutex
	opened sqlitefile.Identity // what the last connection opened
	open   int                 // connections to opened
}

var errRenamed = errors.New("the file is being exchanged")

// connector opens connections that end when the file is exchanged.
type connector struct {
	file   *watched
	driver driver.Driver
	dsn    string
}

func (c connector) Driver() driver.Driver { return c.driver }

// Connect never creates a file: that is done when the database is opened.
func (c connector) Connect(context.Context) (driver.Conn, error) {
	var full driverConn
	opened, err := c.file.enter(func() (closer, error) {
		inner, err := c.driver.Open(c.dsn)
		if err != nil {
			return nil, err
		}
		var ok bool
		if full, ok = inner.(driverConn); !ok {
			return nil, errors.Join(fmt.Errorf("the driver's connection is a %T", inner), inner.Close())
		}
		return inner, nil
	})
	if err != nil {
		return nil, err
	}
	return &conn{driverConn: full, file: c.file, opened: opened}, nil
}

// closer is a connection of either driver.
type closer interface{ Close() error }

// enter opens a connection to the file that has the name now, and counts it.
func (w *watched) enter(open func() (closer, error)) (sqlitefile.Identity, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, err := sqlitefile.Identify(w.file)
	if err != nil {
		return before, fmt.Errorf("the database file cannot be found: put it back: %w", err)
	}
	if w.open > 0 && w.opened.Exchanged() {
		if err := w.opened.Detach(); err != nil {
			return before, fmt.Errorf("the database file was exchanged: remove the log of the old one: %w", err)
		}
	}
	inner, err := open()
	if err != nil {
		return before, err
	}
	after, err := sqlitefile.Identify(w.file)
	if err == nil && !after.Same(before) {
		err = errRenamed
	}
	if err != nil {
		return before, errors.Join(err, inner.Close())
	}
	if w.open > 0 && !after.Same(w.opened) {
		w.open = 0
	}
	w.opened = after
	w.open++
	return after, nil
}

// leave closes a connection and counts it out.
func (w *watched) leave(opened sqlitefile.Identity, closeConn func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if opened.Same(w.opened) {
		w.open--
	}
	return closeConn()
}

// driverConn is what the driver's connections can do.
type driverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
	sqlite.HookRegisterer
}

type conn struct {
	driverConn
	file   *watched
	opened sqlitefile.Identity
}

// ResetSession ends the connection when its file was exchanged. What the log of the
// old file has is written into it first, as it may have been kept under another name.
func (c *conn) ResetSession(ctx context.Context) error {
	if err := c.driverConn.ResetSession(ctx); err != nil || !c.opened.Exchanged() {
		return err
	}
	_, _ = c.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)", nil) // the old file counts no more
	return errors.Join(driver.ErrBadConn, c.opened.Detach())
}

// Close closes the connection and counts it out.
func (c *conn) Close() error { return c.file.leave(c.opened, c.driverConn.Close) }

// connectorFor is the connector of a pool; nil file for one that is not watched.
func connectorFor(dsn string, file *watched) (*sql.DB, error) {
	plain, err := sql.Open("sqlite", dsn)
	if err != nil || file == nil {
		return plain, err
	}
	return sql.OpenDB(connector{file: file, driver: plain.Driver(), dsn: dsn}), plain.Close()
}
