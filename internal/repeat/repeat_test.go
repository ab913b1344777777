package repeat_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vestibule-dev/vestibule/v2/internal/repeat"
)

// notMadeError is an error of whoever connects.
type notMadeError struct{ error }

func (notMadeError) NotConnected() bool { return true }
func (e notMadeError) Unwrap() error    { return e.error }

// closedError is what pgx makes of a connection that breaks before the answer to a COMMIT.
type closedError struct{}

func (closedError) Error() string     { return "conn closed" }
func (closedError) SafeToRetry() bool { return true }
func (closedError) Unwrap() error     { return pgconn.ErrConnClosed }

func TestOf(t *testing.T) {
	state := func(code string) error { return &pgconn.PgError{Code: code} }
	number := func(n uint16) error { return &mysql.MySQLError{Number: n} }
	tests := []struct {
		name string
		err  error
		want repeat.Verdict
	}{
		{"nothing", nil, repeat.Never},
		{"an error of ours", errors.New("no"), repeat.Never},
		{"a unique key", state("23505"), repeat.Never},
		{"a serialization failure", state("40001"), repeat.Conflict},
		{"a deadlock", number(1213), repeat.Conflict},
		{"a transaction that stood still", state("25P03"), repeat.Conflict},
		{"a lock of SQLite", coded(5 | 2<<8), repeat.Conflict},
		{"a table that SQLite has not", coded(1), repeat.Never},
		{"a server that starts", state("57P03"), repeat.NotSent},
		{"a standby", state("25006"), repeat.NotSent},
		{"a node that left Galera", number(1047), repeat.NotSent},
		{"too many connections", number(1040), repeat.NotSent},
		{"a shutdown", state("57P01"), repeat.Lost},
		{"a connection that failed", state("08006"), repeat.Lost},
		{"a connection that was killed", number(1927), repeat.Lost},
		{"a cancelled statement", state("57014"), repeat.Never},
		{"a bad connection", fmt.Errorf("begin: %w", driver.ErrBadConn), repeat.NotSent},
		{"a broken connection of MariaDB", mysql.ErrInvalidConn, repeat.Lost},
		{"a connection of PostgreSQL that was closed", fmt.Errorf("commit: %w", closedError{}), repeat.Lost},
		{"an end", io.ErrUnexpectedEOF, repeat.Lost},
		{"a read", &net.OpError{Op: "read", Err: os.ErrClosed}, repeat.Lost},
		{"a dial", &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, repeat.NotSent},
		{"a node that took too long", notMadeError{context.DeadlineExceeded}, repeat.NotSent},
		{"a wrong password", notMadeError{errors.Join(errors.New("refused"), state("28P01"))}, repeat.Never},
		{"an unknown database", notMadeError{number(1049)}, repeat.Never},
		{"nobody waits", fmt.Errorf("read: %w", context.DeadlineExceeded), repeat.Never},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := repeat.Of(tt.err); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
}

// coded is an error of SQLite with its extended result code.
type coded int

func (c coded) Code() int { return int(c) }

func (coded) Error() string { return "sqlite" }
