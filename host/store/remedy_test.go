package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// What an operator can do is named for the errors of each server that ask for it, and waiting
// is what serves while a server is full.
func TestRemedy(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want string
		away bool
	}{
		{"PostgreSQL is full", &pgconn.PgError{Code: "53300"}, "max_connections", true},
		{"MariaDB is full", &mysql.MySQLError{Number: 1040}, "max_connections", true},
		{"the user of MariaDB has no more", &mysql.MySQLError{Number: 1203}, "max_connections", true},
		{"a pooler has no such statement", &pgconn.PgError{Code: "26000"}, "default_query_exec_mode=exec", false},
		{"a pooler has the statement already", &pgconn.PgError{Code: "42P05"}, "default_query_exec_mode=exec", false},
		{"PostgreSQL has no such table", &pgconn.PgError{Code: "42P01"}, "restore the table", false},
		{"MariaDB has no such table", &mysql.MySQLError{Number: 1146}, "restore the table", false},
		{"another error", errors.New("no such table"), "", false},
		{"no error", nil, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.err
			if err != nil {
				err = fmt.Errorf("find the session: %w", err)
			}
			got := store.Remedy(err)
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("Remedy = %q, want %q", got, tt.want)
			}
			if store.IsAway(err) != tt.away {
				t.Errorf("IsAway = %t", !tt.away)
			}
		})
	}
}
