package sqlsource_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestTablesMadeAnew holds that what is remembered on SQLite shows nowhere although somebody makes tables and views anew
// under a running service, as migrations do there: pages have the rows with null of a column that allowed none, and
// nothing is kept of a view that changes by itself.
func TestTablesMadeAnew(t *testing.T) {
	t.Parallel()
	const table = "CREATE TABLE things (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, s TEXT)"
	const view = "CREATE VIEW shown AS SELECT id, n FROM things"
	again := func(table string, more ...string) []string {
		return append([]string{"DROP VIEW shown", strings.Replace(table, "things", "fresh", 1), "INSERT INTO fresh SELECT id, n, s FROM things", "DROP TABLE things", "ALTER TABLE fresh RENAME TO things", view}, more...)
	}
	for name, test := range map[string]struct {
		statements []string
		remembers  bool
	}{
		"nothing":          {nil, true},
		"an index":         {[]string{"CREATE INDEX by_n ON things (n)"}, true},
		"a unique index":   {[]string{"CREATE UNIQUE INDEX by_id ON things (id)"}, false},
		"emptied space":    {[]string{"VACUUM"}, true},
		"one more column":  {[]string{"ALTER TABLE things ADD extra TEXT"}, false},
		"the same":         {again(table), false},
		"another view":     {[]string{"DROP VIEW shown", "CREATE VIEW shown AS SELECT id, n FROM things WHERE id > 3"}, false},
		"a column of null": {again("CREATE TABLE things (id INTEGER PRIMARY KEY, n INTEGER, s TEXT)", "UPDATE things SET n = NULL WHERE id % 3 = 0"), false},
		"no key":           {again("CREATE TABLE things (id INTEGER, n INTEGER NOT NULL, s TEXT)", "INSERT INTO things SELECT * FROM things WHERE id < 9"), false},
		"a restless view":  {[]string{"DROP VIEW shown", "CREATE VIEW shown AS SELECT id, random() AS n FROM things"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database(t, "sqlite", table+";\n"+view+";\nINSERT INTO things SELECT value, value % 5, 'x' FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]')")
			s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Things", Table: "things", Key: []string{"id"}}, {Name: "Shown", Table: "shown", Key: []string{"id"}}}})
			for _, statement := range test.statements {
				alter(t, db, statement)
			}
			for _, order := range []string{"n", "n desc", "s desc,n desc"} {
				got := ""
				for skip := 0; skip < 30; skip += 2 {
					got += s.get(fmt.Sprintf("Things?$orderby=%s&$select=id&$top=2&$skip=%d", order, skip))
				}
				if want := s.get("Things?$select=id&$orderby=" + order); got != want {
					t.Errorf("%s: got %s, want %s", order, got, want)
				}
			}
			if got := s.Version(t.Context()) != ""; got != test.remembers {
				t.Errorf("remembers: %t", got)
			}
		})
	}
}
