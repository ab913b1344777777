package sqlsource_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// deepDDL is a table with nulls and ties, and indexes of many kinds.
func deepDDL(dialect string, rows int) string {
	script := `CREATE TABLE things (id {BIG} PRIMARY KEY, a {BIG}, b {STR}, c {DEC} NOT NULL, d {TS}, e {BIG} NOT NULL, f {BIG} NOT NULL);
CREATE UNIQUE INDEX things_ef ON things (e, f);
CREATE INDEX things_c ON things (c, id);
CREATE INDEX things_eca ON things (e, c, id);
CREATE INDEX things_d ON things (d DESC, id)`
	switch dialect {
	case "postgres":
		script += `;
CREATE INDEX things_a ON things (a NULLS FIRST, id) INCLUDE (c);
CREATE INDEX things_b ON things (b COLLATE "C" NULLS FIRST, id);
CREATE INDEX things_linguistic ON things (b NULLS FIRST, e, id);
CREATE INDEX things_last ON things (d, e, id);
CREATE INDEX things_some ON things (f, id) WHERE a > 1;
CREATE INDEX things_sum ON things ((e + f), id);
CREATE INDEX things_broken ON things (d NULLS FIRST, c, id);
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'things_broken'::regclass`
	case "mysql":
		script += `;
CREATE INDEX things_a ON things (a, c);
CREATE INDEX things_b ON things (b(1))`
	}
	r := rand.New(rand.NewPCG(1, 1))
	null := func(format string, args ...any) string {
		if r.IntN(4) == 0 {
			return "NULL"
		}
		return fmt.Sprintf(format, args...)
	}
	for i := range rows {
		sep := ", "
		if i%500 == 0 {
			sep = ";\nINSERT INTO things VALUES "
		}
		script += sep + fmt.Sprintf("(%d, %s, %s, %d.%02d, %s, %d, %d)", i*7919%rows, null("%d", r.IntN(5)), null("'%c'", "aAbBZz"[r.IntN(6)]),
			r.IntN(3), r.IntN(100), null("'2024-01-%02d 00:00:00{Z}'", 1+r.IntN(9)), i%7, i)
	}
	return ddlOf(dialect, script)
}

// deepPages tells of orders and filters whether an index has all that decides on the rows, on PostgreSQL and MariaDB.
func deepPages() []struct {
	query           string
	postgres, mysql bool
} {
	return []struct {
		query           string
		postgres, mysql bool
	}{
		{"", true, true},
		{"$orderby=c", true, true},
		{"$orderby=c desc,id desc", true, true},
		{"$orderby=c desc", false, false}, // id goes the other way
		{"$orderby=a", true, false},       // that of MariaDB has c before id
		{"$orderby=a desc,id desc", true, false},
		{"$orderby=a,c", false, true},
		{"$orderby=a,c&$select=a&$filter=c gt 1", false, true},
		{"$orderby=a&$filter=c gt 1.5", true, false},
		{"$orderby=a&$filter=e eq 1", false, false}, // the index does not have e
		{"$orderby=b", true, false},                 // by code points
		{"$orderby=b desc,id desc", true, false},
		{"$orderby=b,e", false, false}, // that index is in a linguistic order
		{"$orderby=d", false, false},   // nulls come first
		{"$orderby=d,e", false, false},
		{"$orderby=d,c", false, false}, // an index that is not valid
		{"$orderby=d desc", false, true},
		{"$orderby=f", false, false}, // half of the rows have no entry
		{"$orderby=e add f", false, false},
		{"$orderby=e,f&$select=id", false, true}, // the key of the rows is elsewhere on PostgreSQL
		{"$orderby=c&$filter=e eq 3", true, true},
		{"$orderby=c&$filter=e eq 3 and c lt 2.5", true, true},
		{"$orderby=c&$filter=e gt 3", false, false},
		{"$orderby=c&$compute=a mul 2 as twice&$select=id,twice", true, true},
		{"$orderby=c&$filter=a add 1 eq 2", false, false},
	}
}

// TestDeepPages holds that a page far behind the first is found by an index alone where one has all it takes, and that it
// is the page that OFFSET gives.
func TestDeepPages(t *testing.T) {
	const rows = 700
	for _, d := range []string{"postgres", "mysql"} {
		t.Run(d, func(t *testing.T) {
			db := database(t, d, deepDDL(d, rows))
			cfg := sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}}
			db.Deep = 1 << 40
			plain := open(t, db, cfg)
			db.Deep = 1
			s := open(t, db, cfg)
			for _, c := range deepPages() {
				for _, skip := range []int{1, 37, 350, rows - 1, rows + 5} {
					target := fmt.Sprintf("things?$top=20&$skip=%d&%s", skip, c.query)
					if got, want := s.get(target), plain.get(target); got != want || strings.Contains(got, "fault") {
						t.Errorf("%s\n got %s\nwant %s", target, got, want)
					}
				}
				want := map[string]bool{"postgres": c.postgres, "mysql": c.mysql}[d]
				if got := s.deferred(t, "things?$skip=5&"+c.query); got != want {
					t.Errorf("%q by an index alone: %t, want %t", c.query, got, want)
				}
			}
		})
	}
}

// deferred tells whether a request looks for its rows before it reads them.
func (s *shop) deferred(t *testing.T, target string) bool {
	t.Helper()
	e := s.explain(t, target)
	return strings.Contains(e.Statements[len(e.Statements)-1].SQL, "AS d ON")
}

// TestDeepPagesKeepPolicies holds that a row policy decides on the rows of a deep page, whether an index has its columns
// or not, and that a key that the configuration alone calls one is not relied on.
func TestDeepPagesKeepPolicies(t *testing.T) {
	for _, d := range []string{"postgres", "mysql"} {
		t.Run(d, func(t *testing.T) {
			db := database(t, d, deepDDL(d, 200))
			sets := []sqlsource.EntitySet{
				{Name: "Covered", Table: "things", Type: "Covered", Filter: "e eq 3"},
				{Name: "Elsewhere", Table: "things", Type: "Elsewhere", Filter: "b eq 'a'"},
				{Name: "Claimed", Table: "things", Type: "Claimed", Key: []string{"c"}},
			}
			db.Deep = 1 << 40
			plain := open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: sets})
			db.Deep = 1
			s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: sets})
			for set, want := range map[string]bool{"Covered": true, "Elsewhere": false, "Claimed": false} {
				target := set + "?$select=c&$orderby=c&$top=9&$skip=7"
				if got, want := s.get(target), plain.get(target); got != want || !strings.Contains(got, "[") {
					t.Errorf("%s\n got %s\nwant %s", target, got, want)
				}
				if got := s.deferred(t, target); got != want {
					t.Errorf("%s by an index alone: %t, want %t", set, got, want)
				}
			}
		})
	}
}
