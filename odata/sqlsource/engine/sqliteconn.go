package engine

import (
	"context"
	"time"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
)

// conn is a connection with the marks that the pool sets.
type conn struct {
	*sqlite3.Conn
	// rank is lowest for the connection that is used most; see pages.
	rank int
	// arena is what the last cursor copied texts to, for the next one.
	arena []byte
	// seen is the connection's number for the state that it last read, and name what the state is called.
	seen int64
	name string
	// exchange is SQLite.exchanges when the connection was opened.
	exchange int64
	// written is SQLite.written when the connection was last taken.
	written int64
}

// pragma returns what SQLite answers to PRAGMA name.
func (c *conn) pragma(name string) (string, error) {
	stmt, err := c.Prepare("PRAGMA " + name)
	if err != nil {
		return "", err
	}
	defer stmt.Close()
	_, err = stmt.Step()
	return stmt.Value(0).Text(), err
}

// interruptAgain is the time between two interrupts of one connection: SQLite misses one just before a statement starts.
const interruptAgain = 10 * time.Millisecond

// interruptAfter interrupts the statements of a connection when ctx ends, until the function that it returns is called.
func (c *conn) interruptAfter(ctx context.Context) (end func()) {
	over, done := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		ticker := time.NewTicker(interruptAgain)
		defer ticker.Stop()
		for {
			c.Interrupt()
			select {
			case <-over:
				return
			case <-ticker.C:
			}
		}
	})
	return func() {
		if !stop() {
			close(over)
			<-done
			c.Resume()
		}
	}
}
