package engine_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

func TestErrorKinds(t *testing.T) {
	t.Parallel()
	const timeout, unreachable, outOfRange = "timeout", "unreachable", "out of range"
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"no error", nil, ""},
		{"deadline", context.DeadlineExceeded, timeout},
		{"PostgreSQL canceled", &pgconn.PgError{Code: "57014"}, timeout},
		{"MariaDB statement time", &mysql.MySQLError{Number: 1969}, timeout},
		{"MySQL execution time", &mysql.MySQLError{Number: 3024}, timeout},
		{"network", &net.OpError{Op: "dial", Err: errors.New("refused")}, unreachable},
		{"bad connection", driver.ErrBadConn, unreachable},
		{"PostgreSQL connection failure", &pgconn.PgError{Code: "08006"}, unreachable},
		{"PostgreSQL too many connections", &pgconn.PgError{Code: "53300"}, unreachable},
		{"PostgreSQL shutting down", &pgconn.PgError{Code: "57P01"}, unreachable},
		{"MariaDB connection lost", mysql.ErrInvalidConn, unreachable},
		{"MariaDB too many connections", &mysql.MySQLError{Number: 1040}, unreachable},
		{"MariaDB shutting down", &mysql.MySQLError{Number: 1053}, unreachable},
		{"closed without a word", io.ErrUnexpectedEOF, unreachable},
		{"PostgreSQL standby", &pgconn.PgError{Code: "25006"}, unreachable},
		{"MariaDB without Galera", &mysql.MySQLError{Number: 1047}, unreachable},
		{"PostgreSQL wrong password", &pgconn.PgError{Code: "28P01"}, ""},
		{"SQLite busy", coded(5), unreachable},
		{"SQLite busy snapshot", coded(5 | 2<<8), unreachable},
		{"SQLite locked", coded(6), unreachable},
		{"PostgreSQL number", &pgconn.PgError{Code: "22003"}, outOfRange},
		{"PostgreSQL date", &pgconn.PgError{Code: "22008"}, outOfRange},
		{"MariaDB number", &mysql.MySQLError{Number: 1690}, outOfRange},
		{"MariaDB date", &mysql.MySQLError{Number: 1441}, outOfRange},
		{"SQLite number", engine.ErrOutOfRange, outOfRange},
		{"PostgreSQL syntax", &pgconn.PgError{Code: "42601"}, ""},
		{"MariaDB syntax", &mysql.MySQLError{Number: 1064}, ""},
		{"SQLite corrupt", coded(11), ""},
		{"text of a row that reads like a code", &pgconn.PgError{Code: "23505", Message: "Error 1040: database is locked"}, ""},
		{"text without a code", errors.New("Error 1690: SQLITE_BUSY invalid connection"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.err
			if err != nil {
				err = fmt.Errorf("query: %w", err)
			}
			for kind, is := range map[string]func(error) bool{
				timeout: engine.IsTimeout, unreachable: engine.IsUnreachable, outOfRange: engine.IsOutOfRange,
			} {
				if got := is(err); got != (kind == tt.want) {
					t.Errorf("%v: %s is %t", err, kind, got)
				}
			}
		})
	}
}

func TestRepeatable(t *testing.T) {
	t.Parallel()
	const stale, changed = "stale", "changed"
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"no error", nil, ""},
		{"no connection can be made", &net.OpError{Op: "dial", Err: errors.New("refused")}, ""},
		{"PostgreSQL starting", &pgconn.PgError{Code: "57P03"}, ""},
		{"deadline", context.DeadlineExceeded, ""},
		{"PostgreSQL cached plan", &pgconn.PgError{Code: "0A000", Message: "cached plan must not change result type"}, stale},
		{"PostgreSQL not supported", &pgconn.PgError{Code: "0A000", Message: "cannot do that"}, ""},
		{"PostgreSQL column", &pgconn.PgError{Code: "42703"}, changed},
		{"PostgreSQL table", &pgconn.PgError{Code: "42P01"}, changed},
		{"MariaDB column", &mysql.MySQLError{Number: 1054}, changed},
		{"SQLite column", errors.New("no such column: gone"), changed},
		{"no such host", errors.New("lookup db: no such host"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.err
			if err != nil {
				err = errors.Join(fmt.Errorf("query: %w", err), errors.New("and more"))
			}
			for kind, is := range map[string]func(error) bool{stale: engine.IsStale, changed: engine.IsChanged} {
				if is(err) != (kind == tt.want) {
					t.Errorf("%s: %v", kind, is(err))
				}
			}
		})
	}
}

// coded is an error of SQLite with its extended result code.
type coded int

func (c coded) Code() int { return int(c) }

func (coded) Error() string { return "sqlite" }
