package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlitefile"
	"modernc.org/sqlite"
)

// errExchanged is the error of every statement after another file came in the place of the database. The program neither
// follows, since what it remembers is of the old file, nor goes on with a file that has no name any more.
var errExchanged = errors.New("another file was put in the place of the SQLite database: restart the host")

// watched is the file below the pools of one DB.
type watched struct {
	file string

	mu      sync.Mutex
	first   *sqlitefile.Identity // the file that the first connection opened
	refused error                // why there are no connections any more
	looked  time.Time
}

// identify returns the file that has the name now, which must be the first one.
func (w *watched) identify() (now sqlitefile.Identity, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refused != nil {
		return now, w.refused
	}
	if now, err = sqlitefile.Identify(w.file); err != nil {
		return now, fmt.Errorf("the database file cannot be found: put it back: %w", err)
	}
	if w.first == nil {
		first := now.Alone()
		w.first = &first
	}
	if !now.Same(*w.first) {
		w.refused = errExchanged
	}
	return now, w.refused
}

// exchanged reports whether the file was exchanged for another one, now or before. Readers believe what was seen within
// sqlitefile.LookEvery.
func (w *watched) exchanged(opened sqlitefile.Identity, reads bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); !reads || now.Sub(w.looked) >= sqlitefile.LookEvery {
		w.looked = now
		if w.refused == nil && opened.Exchanged() {
			w.refused = errExchanged
		}
	}
	return w.refused != nil
}

// connector opens connections that keep their statements, and to the first file only.
type connector struct {
	file   *watched // nil for a file that is not watched
	driver driver.Driver
	dsn    string
	reads  bool // its connections cannot write
}

func (c connector) Driver() driver.Driver { return c.driver }

// Connect never creates a file: that is done when the database is opened.
func (c connector) Connect(context.Context) (driver.Conn, error) {
	if c.file == nil {
		return c.open()
	}
	if _, err := c.file.identify(); err != nil {
		return nil, err
	}
	inner, err := c.open()
	if err != nil {
		return nil, err
	}
	opened, err := c.file.identify()
	if err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	return &conn{keeper: inner, file: c.file, opened: opened, reads: c.reads}, nil
}

func (c connector) open() (*keeper, error) {
	inner, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	full, ok := inner.(driverConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's connection is a %T", inner), inner.Close())
	}
	return newKeeper(full), nil
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
	*keeper
	file   *watched
	opened sqlitefile.Identity
	reads  bool
}

// ResetSession ends the connection when the file was exchanged.
func (c *conn) ResetSession(ctx context.Context) error {
	if err := c.keeper.ResetSession(ctx); err != nil || !c.file.exchanged(c.opened, c.reads) {
		return err
	}
	return driver.ErrBadConn
}

// Close closes the connection. After an exchange it first writes the log into the old file, which may have been kept under
// another name, and removes the log: otherwise the next process would read the new file with it.
func (c *conn) Close() error {
	if !c.opened.Exchanged() {
		return c.keeper.Close()
	}
	_, _ = c.ExecContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)", nil) // the old file counts no more
	err := c.opened.Detach()
	if err != nil {
		err = fmt.Errorf("%w; first remove the old -wal and -shm: %w", errExchanged, err)
		c.file.mu.Lock()
		c.file.refused = err
		c.file.mu.Unlock()
	}
	return errors.Join(err, c.keeper.Close())
}

// connectorFor is the connector of a pool; nil file for one that is not watched.
func connectorFor(dsn string, file *watched) (*sql.DB, error) {
	plain, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector{file: file, driver: plain.Driver(), dsn: dsn, reads: strings.HasSuffix(dsn, readsOnly)}), plain.Close()
}
