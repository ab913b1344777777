package engine

import (
	"context"

	"modernc.org/libc"
	"zombiezen.com/go/sqlite"
)

// conn is a connection with its caches and the marks that its functions set.
type conn struct {
	*sqlite.Conn
	// tls is for calls of the C interface.
	tls *libc.TLS
	// sums are those of ves_sum; nil where the driver computes it.
	sums *sums
	// rank is lowest for the connection that is used most; see pages.
	rank int
	// interrupt is closed to interrupt the statements of a connection. One channel serves until it was closed: the driver
	// starts a goroutine for each that it is given.
	interrupt chan struct{}
	// arena is what the last cursor copied texts to, and columns how it wrote columns, for the next one.
	arena   []byte
	columns []written
	// cached are the statements that the connection keeps, oldest first, and known has their handles; see handleOf.
	cached []string
	known  map[*sqlite.Stmt]uintptr
	// seen is the connection's number for the state that it last read, and name what the state is called.
	seen int64
	name string
	// exchange is SQLite.exchanges when the connection was opened.
	exchange int64
	// written is SQLite.written when the connection was last taken.
	written int64
}

// maxCached bounds the statements that a connection keeps: a client can make any number of different ones.
const maxCached = 128

// trim drops the oldest statements. None of them may be in use.
func (c *conn) trim() error {
	for len(c.cached) > maxCached {
		stmt, err := c.Prepare(c.cached[0])
		if err != nil {
			return err
		}
		if err := stmt.Finalize(); err != nil {
			return err
		}
		delete(c.known, stmt)
		c.cached = c.cached[1:]
	}
	return nil
}

// Close closes the connection, whose statements nobody may use any more.
func (c *conn) Close() error {
	defer c.tls.Close()
	return c.Conn.Close()
}

func exec(conn *sqlite.Conn, query string) error {
	stmt, err := conn.Prepare(query)
	if err != nil {
		return err
	}
	if _, err := stmt.Step(); err != nil {
		return err
	}
	return stmt.Reset()
}

// interruptAfter interrupts the statements of a connection when ctx ends, until the function that it returns is called.
func (c *conn) interruptAfter(ctx context.Context) (end func()) {
	interrupt, interrupted := c.interrupt, make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		close(interrupt)
		close(interrupted)
	})
	return func() {
		if !stop() {
			<-interrupted
			c.renewInterrupt()
		}
	}
}

// renewInterrupt makes a connection go on after an interrupt.
func (c *conn) renewInterrupt() {
	c.interrupt = make(chan struct{})
	c.SetInterrupt(c.interrupt)
}
