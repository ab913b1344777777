package odatatest_test

import (
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestStoredNaN filters and orders by a column of PostgreSQL that holds what it alone can store: NaN, which it takes for
// greater than everything and equal to itself, and the infinities.
func TestStoredNaN(t *testing.T) {
	t.Parallel()
	dsn := dbtest.Postgres(t)
	db := sqlx.MustOpen("pgx", dsn)
	t.Cleanup(func() { _ = db.Close() })
	db.MustExec("CREATE TABLE floats (id int PRIMARY KEY, f double precision, r real)")
	db.MustExec("INSERT INTO floats VALUES (1, 'NaN', 'NaN'), (2, 'Infinity', 'Infinity'), (3, '-Infinity', '-Infinity'), (4, 1.5, 0.1), (5, NULL, NULL), (6, '-0', 16777218)")
	source, err := sqlsource.New(t.Context(), sqlsource.Database{Dialect: "postgres", DB: db}, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"floats"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = source.Close() })
	asked := engine{"postgres", service(t, source.Model(), source)}
	for query, want := range map[string]string{
		"$filter=f gt 1": "2 4", "$filter=not (f gt 1)": "1 3 5 6", "$filter=f lt 1": "3 6", "$filter=f ge f": "2 3 4 6", "$filter=f eq f": "2 3 4 5 6",
		"$filter=f ne f": "1", "$filter=1 lt f": "2 4", "$filter=f add 1 gt 1": "2 4", "$filter=f eq INF": "2", "$filter=f eq NaN": "", "$filter=r gt 1": "2 6",
		"$filter=f eq r": "2 3 5", "$filter=f sub f eq 0": "4 6", "$filter=1 div f gt 0": "4 6", "$orderby=f": "5 3 6 4 2 1", "$orderby=f mul 2 desc": "1 2 4 6 3 5",
		"$filter=cast(r,Edm.String) eq '0.1'": "4", "$filter=cast(r,Edm.String) eq '16777218'": "6", "$filter=cast(f,Edm.String) eq '-INF'": "3", "$filter=f mod 1 eq 0.5": "4",
	} {
		_, list, _ := strings.Cut(asked.ask("floats?$select=id&"+query), `"value":[`)
		if got := strings.NewReplacer(`{"id":`, "", "},", " ", "}", "", "]", "").Replace(list); got != want {
			t.Errorf("%s gives %s, want %s", query, got, want)
		}
	}
}
