package mysql

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	standard "log"
	"net"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
)

// errInterrupted is what the driver gets from a connection whose context has ended, whatever it does with it.
var errInterrupted = errors.New("the connection was closed because nobody waits for it any more")

// driven is all that the driver's connections can do.
type driven interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// A connection is one of the driver, with its socket. Its session reads what is committed.
type connection struct {
	driven
	socket *socket
}

// readCommitted makes it the level of all transactions of a session that say nothing else.
const readCommitted = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"

// BeginTx implements driver.ConnBeginTx. The driver sends a statement for the level, which the session has already.
func (c *connection) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if opts.Isolation == driver.IsolationLevel(sql.LevelReadCommitted) {
		opts.Isolation = driver.IsolationLevel(sql.LevelDefault)
	}
	return c.driven.BeginTx(ctx, opts)
}

// Watch ends whatever waits for the server when ctx ends. It returns the context for the statements in between, and what
// must be called once behind them, which is driver.ErrBadConn where the connection was closed. The driver's own way is a
// goroutine for each connection: waking it twice for each statement takes as long as a statement that finds one row.
// Queries of package odata/sqlsource/engine call it too, which finds it by its name.
func (c *connection) Watch(ctx context.Context) (unwatched context.Context, end func() error) {
	if ctx.Err() != nil { // the driver tells
		return ctx, func() error { return nil }
	}
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		c.socket.interrupt()
	})
	return context.WithoutCancel(ctx), func() error {
		if stop() {
			return nil
		}
		<-closed
		return driver.ErrBadConn
	}
}

// watch is store.Dialect.Watch.
func watch(ctx context.Context, conn any) (unwatched context.Context, end func() error) {
	c, ok := conn.(*connection)
	if !ok {
		return ctx, func() error { return nil }
	}
	return c.Watch(ctx)
}

// Close implements driver.Conn. All that can fail is to say goodbye, which a server that is gone, or that package nodes has
// left, need not hear.
func (c *connection) Close() error {
	_ = c.driven.Close()
	return nil
}

// A socket takes what the server has sent meanwhile with one system call. The driver reads 4 KiB at a time, and a page of
// rows has some ten times that.
type socket struct {
	net.Conn
	reader      *bufio.Reader
	interrupted atomic.Bool
}

// Read implements net.Conn.
func (s *socket) Read(p []byte) (int, error) {
	n, err := s.reader.Read(p)
	return n, s.told(err)
}

// Write implements net.Conn.
func (s *socket) Write(p []byte) (int, error) {
	n, err := s.Conn.Write(p)
	return n, s.told(err)
}

// SetDeadline implements net.Conn.
func (s *socket) SetDeadline(t time.Time) error { return s.told(s.Conn.SetDeadline(t)) }

// SetReadDeadline implements net.Conn.
func (s *socket) SetReadDeadline(t time.Time) error { return s.told(s.Conn.SetReadDeadline(t)) }

// SetWriteDeadline implements net.Conn.
func (s *socket) SetWriteDeadline(t time.Time) error { return s.told(s.Conn.SetWriteDeadline(t)) }

// Close implements net.Conn.
func (s *socket) Close() error { return s.told(s.Conn.Close()) }

// interrupt ends whatever is done with the socket.
func (s *socket) interrupt() {
	s.interrupted.Store(true)
	_ = s.Conn.Close()
}

// told is the error that the driver is given for err, so that the log can tell a fault from the end of a context.
func (s *socket) told(err error) error {
	if err != nil && s.interrupted.Load() {
		return errInterrupted
	}
	return err
}

// A connector makes connections that can be watched.
type connector struct{ driver.Connector }

type dialedKey struct{}

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	var dialed *socket
	conn, err := c.Connector.Connect(context.WithValue(ctx, dialedKey{}, &dialed))
	full, ok := conn.(driven)
	if !ok || err != nil || dialed == nil {
		return conn, err
	}
	if _, err := full.ExecContext(ctx, readCommitted, nil); err != nil {
		return nil, errors.Join(err, full.Close())
	}
	return &connection{full, dialed}, nil
}

// newSocket tells the connector that waits for it which socket was dialed.
func newSocket(ctx context.Context, c net.Conn) *socket {
	s := &socket{Conn: c, reader: bufio.NewReaderSize(c, 32<<10)}
	if dialed, ok := ctx.Value(dialedKey{}).(**socket); ok {
		*dialed = s
	}
	return s
}

// A log is the driver's. It writes to the standard logger, which a program may send elsewhere,
// and leaves out what is no fault.
type log struct{}

var _ mysql.Logger = log{}

// Print implements mysql.Logger.
func (log) Print(v ...any) {
	for _, part := range v {
		if err, ok := part.(error); ok && errors.Is(err, errInterrupted) {
			return
		}
	}
	standard.Print(append([]any{"mysql: "}, v...)...)
}
