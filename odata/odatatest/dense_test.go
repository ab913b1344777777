package odatatest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// crowd is people of whom everybody knows everybody.
func crowd(n int) []odatatest.Table {
	people := odatatest.Table{Name: "people", Key: []string{"id"}, Columns: []string{"id big!", "name str!"}}
	knows := odatatest.Table{Name: "knows", Key: []string{"a", "b"}, Columns: []string{"a big!", "b big!"}}
	for i := range n {
		people.Rows = append(people.Rows, []any{i, fmt.Sprintf("Person %d", i)})
		for j := range n {
			knows.Rows = append(knows.Rows, []any{i, j})
		}
	}
	return []odatatest.Table{people, knows}
}

// heldMost is how much memory an expanded answer may hold, whatever it multiplies to.
const heldMost = 160 << 20

// TestDenseExpand holds that 74 bytes of $expand, four deep over a table in which everybody knows everybody, make an answer
// of about a hundred rows for each row at the top, and that nested $top, which are kept, make a long answer and not a large
// process.
func TestDenseExpand(t *testing.T) {
	const (
		target = "People?$expand=knows($expand=knows($expand=knows($expand=knows)))&$select=id"
		named  = "People?$top=60&$expand=knows($top=60;$expand=knows($top=60;$expand=knows($top=1)))&$select=id"
		all    = 60 + 60*60 + 2*60*60*60
	)
	for dialect, open := range map[string]func(testing.TB) (driver, dsn string){
		"sqlite":   func(t testing.TB) (string, string) { return "sqlite", filepath.Join(t.TempDir(), "crowd.db") },
		"postgres": func(t testing.TB) (string, string) { return "pgx", dbtest.Postgres(t) },
		"mysql":    func(t testing.TB) (string, string) { return "mysql", dbtest.MySQL(t) },
	} {
		t.Run(dialect, func(t *testing.T) {
			driver, dsn := open(t)
			db, err := sqlx.Open(driver, dsn)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			if db.SetMaxOpenConns(1); dialect == "sqlite" {
				db.MustExec("PRAGMA synchronous=OFF")
			}
			if err := odatatest.FillTables(db, dialect, crowd(60)); err != nil {
				t.Fatal(err)
			}
			db.SetMaxOpenConns(4)
			source, err := sqlsource.New(t.Context(), sqlsource.Database{Dialect: dialect, DB: db, DSN: dsn}, sqlsource.Config{
				Guard: edm.GuardNone,
				EntitySets: []sqlsource.EntitySet{{Name: "People", Table: "people", Navigations: []sqlsource.Navigation{
					{Name: "knows", To: "People", Many: true, Via: "knows", FromKey: "a", ToKey: "b"},
				}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = source.Close() })
			for _, c := range []struct {
				target      string
				limits      odata.Limits
				least, most int
			}{
				{target, odata.Limits{}, 10_000, 16_100},
				{target, odata.Limits{PageSize: 60}, 10_000, 16_100},
				{target, odata.Limits{Rows: 4000}, 2000, 2100},
				{named, odata.Limits{Rows: all}, all, all},
			} {
				var refused []string
				s, err := odata.New(source.Model(), source, odata.Options{
					Root: "/odata/", Limits: c.limits, Refused: func(_ odata.Caller, limit string, _ error) { refused = append(refused, limit) },
				})
				if err != nil {
					t.Fatal(err)
				}
				w := &heldWriter{header: http.Header{}}
				s.ServeHTTP(w, httptest.NewRequest("GET", "/odata/"+c.target, nil))
				// A block may end within what is counted.
				if w.status != http.StatusOK || w.rows < c.least*99/100 || w.rows > c.most || refused != nil {
					t.Errorf("%d, about %d rows, want %d to %d, refused: %q", w.status, w.rows, c.least, c.most, refused)
				}
				t.Logf("%d MiB held at most for %d rows", w.most>>20, w.rows)
				if w.most > heldMost {
					t.Errorf("%d bytes were held for %d rows", w.most, w.rows)
				}
			}
		})
	}
}

// heldWriter is a client that keeps nothing and looks at the memory in use from time to time.
type heldWriter struct {
	header              http.Header
	status, rows, calls int
	most                uint64
}

func (w *heldWriter) Header() http.Header    { return w.header }
func (w *heldWriter) WriteHeader(status int) { w.status = status }

func (w *heldWriter) Write(b []byte) (int, error) {
	w.rows += strings.Count(string(b), `"id":`)
	if w.calls++; w.calls%16 == 1 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		w.most = max(w.most, m.HeapInuse)
	}
	return len(b), nil
}
