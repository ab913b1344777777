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

// TestDenseExpand holds that 74 bytes of $expand, four deep over a table in which everybody knows everybody, make a long
// answer and not a large process; and that the answer ends at the limit of rows.
func TestDenseExpand(t *testing.T) {
	const target = "People?$expand=knows($expand=knows($expand=knows($expand=knows)))&$select=id"
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
			limits := []odata.Limits{{Rows: 400_000}, {Rows: 400_000, PageSize: 60}}
			if dialect == "sqlite" {
				limits = append(limits, odata.Limits{}) // the defaults: 5,000,000 rows, or the time of the database
			}
			for _, limits := range limits {
				var refused []string
				s, err := odata.New(source.Model(), source, odata.Options{
					Root: "/odata/", Limits: limits, Refused: func(_ odata.Caller, limit string, _ error) { refused = append(refused, limit) },
				})
				if err != nil {
					t.Fatal(err)
				}
				w := &heldWriter{header: http.Header{}}
				func() {
					defer func() { _ = recover() }() // beyond the limit of rows the connection is broken
					s.ServeHTTP(w, httptest.NewRequest("GET", "/odata/"+target, nil))
				}()
				most := int(limits.WithDefaults().Rows) * 5 / 4
				if w.status != http.StatusOK || w.rows < 100_000 || w.rows > most {
					t.Errorf("%d, about %d rows", w.status, w.rows)
				}
				t.Logf("%d MiB held at most for %d rows, ended by %q", w.most>>20, w.rows, refused)
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
