package cursor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// TestClientFaults fails at every stage with errors of each database. A client
// learns of those that are not a defect of the service; the rest stay internal.
func TestClientFaults(t *testing.T) {
	t.Parallel()
	unavailable, malformed := plan.Unavailable, plan.Malformed
	tests := []struct {
		name string
		err  error
		want *plan.ErrorKind
	}{
		{"PostgreSQL canceled", &pgconn.PgError{Code: "57014"}, &unavailable},
		{"PostgreSQL away", &pgconn.PgError{Code: "57P01"}, &unavailable},
		{"PostgreSQL out of range", &pgconn.PgError{Code: "22003"}, &malformed},
		{"MariaDB statement time", &mysql.MySQLError{Number: 1969}, &unavailable},
		{"MariaDB away", mysql.ErrInvalidConn, &unavailable},
		{"MariaDB out of range", &mysql.MySQLError{Number: 1690}, &malformed},
		{"SQLite busy", locked{}, &unavailable},
		{"SQLite out of range", engine.ErrOutOfRange, &malformed},
		{"a defect", &pgconn.PgError{Code: "42601"}, nil},
	}
	for _, tt := range tests {
		for stage, d := range map[string]*database{
			"begin":      {beginErr: tt.err},
			"query":      {queryErr: tt.err},
			"first row":  {rowErr: tt.err},
			"second row": {rowErr: tt.err, failAt: 1, rows: [][]engine.Cell{{integer(1), text("a")}}},
		} {
			t.Run(tt.name+" at "+stage, func(t *testing.T) {
				t.Parallel()
				s := newThings(t, edm.Of(edm.String))
				rows, err := s.reader(d).Open(t.Context(), s.page(0, 3, 0))
				if err == nil {
					for rows.Next() { // the error behind the rows is what counts
					}
					err = errors.Join(rows.Err(), rows.Close())
				}
				var fault *plan.Error
				switch known := errors.As(err, &fault); {
				case !errors.Is(err, tt.err):
					t.Errorf("the cause is lost: %v", err)
				case known != (tt.want != nil), known && fault.Kind != *tt.want:
					t.Errorf("%#v, want the kind %v", fault, tt.want)
				}
			})
		}
	}
}

// TestEndOfTheContext holds that a request whose time is up is answered as such,
// whatever error the driver makes of it.
func TestEndOfTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := newThings(t, edm.Of(edm.String))
	_, err := s.reader(&database{queryErr: errors.New("use of closed connection")}).Open(ctx, s.page(0, 3, 0))
	var fault *plan.Error
	if !errors.As(err, &fault) || fault.Kind != plan.Unavailable {
		t.Errorf("got %v", err)
	}
}

// locked is the error of SQLite for a lock that another connection has.
type locked struct{}

func (locked) Code() int { return 5 }

func (locked) Error() string { return "database is locked" }
