package odatatest_test

import (
	"math"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestStoredNaN filters and orders by a column of PostgreSQL that holds what it alone can store: NaN, which it takes for
// greater than everything and equal to itself, and the infinities. They compare as they are, and are null once computed with.
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
	asked := engine{name: "postgres", service: service(t, source.Model(), source)}
	for query, want := range map[string]string{
		"$filter=f gt 1": "2 4", "$filter=not (f gt 1)": "1 3 5 6", "$filter=f lt 1": "3 6", "$filter=f ge f": "2 3 4 6", "$filter=f eq f": "2 3 4 5 6",
		"$filter=f ne f": "1", "$filter=1 lt f": "2 4", "$filter=f add 1 gt 1": "4", "$filter=f eq INF": "2", "$filter=f eq NaN": "", "$filter=r gt 1": "2 6",
		"$filter=f eq r": "2 3 5", "$filter=f sub f eq 0": "4 6", "$filter=1 div f gt 0": "4", "$filter=-f eq null": "1 2 3 5", "$filter=f mul 0 eq 0": "4 6", "$orderby=f": "5 3 6 4 2 1", "$orderby=f mul 2 desc,id": "4 6 1 2 3 5",
		"$filter=cast(r,Edm.String) eq '0.1'": "4", "$filter=cast(r,Edm.String) eq '16777218'": "6", "$filter=cast(f,Edm.String) eq null": "1 2 3 5", "$filter=case(id gt 1:f) ge INF": "2", "$filter=case(true:r) add 1 gt 0 or case(true:f) gt INF": "4 6", "$filter=f mod 1 eq 0.5": "4",
	} {
		_, list, _ := strings.Cut(asked.ask("floats?$select=id&"+query), `"value":[`)
		if got := strings.NewReplacer(`{"id":`, "", "},", " ", "}", "", "]", "").Replace(list); got != want {
			t.Errorf("%s gives %s, want %s", query, got, want)
		}
	}
}

// TestStoredInfinities holds that the infinities that a column has are shown, compared, ordered and grouped by as they are, and
// are null once computed with, on every engine that stores them.
func TestStoredInfinities(t *testing.T) {
	t.Parallel()
	mapping := sqlsource.Config{Namespace: "Test", Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Floats", Table: "floats"}}}
	floats := func(low, high float64) []odatatest.Table {
		return []odatatest.Table{{Name: "floats", Key: []string{"id"}, Columns: []string{"id big!", "f dbl"}, Rows: [][]any{{1, high}, {2, low}, {3, 1.5}, {4, nil}, {5, high}}}}
	}
	all := preparedEngines(t, floats(-1, 1), mapping, func(db *sqlx.DB, dialect string) {
		switch dialect {
		case "sqlite":
			db.MustExec("UPDATE floats SET f = f * 9e999 WHERE f <> 1.5")
		case "postgres":
			db.MustExec("UPDATE floats SET f = f * 'Infinity'::float8 WHERE f <> 1.5")
		}
	})
	reference, err := memory.New(odatatest.MemoryOf(mapping, floats(math.Inf(-1), math.Inf(1))))
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"$select=id,f&$orderby=f,id":                                                                           `[{"id":4,"f":null},{"id":2,"f":"-INF"},{"id":3,"f":1.5},{"id":1,"f":"INF"},{"id":5,"f":"INF"}]`,
		"$select=id&$filter=f lt 0":                                                                            `[{"id":2}]`,
		"$select=id&$filter=not (f lt INF)":                                                                    `[{"id":1},{"id":4},{"id":5}]`,
		"$select=id&$filter=f in (INF,1.5)":                                                                    `[{"id":1},{"id":3},{"id":5}]`,
		"$select=id&$filter=f add 1 eq null":                                                                   `[{"id":1},{"id":2},{"id":4},{"id":5}]`,
		"$select=id&$filter=1 div f ge 0":                                                                      `[{"id":3}]`,
		"$select=id&$filter=7e0 mod f ge 0":                                                                    `[{"id":3}]`,
		"$select=id&$filter=-f ne null":                                                                        `[{"id":3}]`,
		"$select=id&$filter=round(f) ne null":                                                                  `[{"id":3}]`,
		"$select=id&$filter=cast(f,Edm.String) ne null":                                                        `[{"id":3}]`,
		"$select=id&$filter=duration'PT1S' mul f ne null":                                                      `[{"id":3}]`,
		"$select=id,z&$compute=case(id lt 3:f) as z":                                                           `[{"id":1,"z":"INF"},{"id":2,"z":"-INF"},{"id":3,"z":null},{"id":4,"z":null},{"id":5,"z":null}]`,
		"$select=id,z&$compute=case(id lt 3:f,true:2) sub 1 as z":                                              `[{"id":1,"z":null},{"id":2,"z":null},{"id":3,"z":1},{"id":4,"z":1},{"id":5,"z":1}]`,
		"$apply=aggregate(f with min as a,f with max as b)":                                                    `[{"a":"-INF","b":"INF"}]`,
		"$apply=aggregate(f with max as a)/compute(a add 1 as b,a as c)":                                       `[{"a":"INF","b":null,"c":"INF"}]`,
		"$apply=aggregate(f with sum as a,f with average as b)":                                                `[{"a":null,"b":null}]`,
		"$apply=filter(id le 3)/groupby((id),aggregate(f with sum as a))":                                      `[{"id":1,"a":null},{"id":2,"a":null},{"id":3,"a":1.5}]`,
		"$apply=groupby((f),aggregate($count as n))/orderby(f)/compute(f mul 0.5 as z)/concat(skip(2),top(2))": `[{"f":1.5,"n":1,"z":0.75},{"f":"INF","n":2,"z":null},{"f":null,"n":1,"z":null},{"f":"-INF","n":1,"z":null}]`,
	} {
		for _, e := range []engine{{name: "memory", service: service(t, reference.Model(), reference)}, all[1], all[2]} {
			got := strings.ReplaceAll(e.ask("Floats?"+query), `"n@odata.type":"#Decimal",`, "")
			if !strings.HasSuffix(got, `"value":`+want+"}") {
				t.Errorf("%s: %s is %s, want %s", e.name, query, got, want)
			}
		}
	}
}
