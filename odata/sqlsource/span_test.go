package sqlsource_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestDeepPagesBySpan holds that PostgreSQL finds a deep page by an index that has only the first item of the order, or its
// nulls at the other end, and that it is the page that OFFSET gives: among nulls, on both sides of them, among rows of one
// value, and behind the last row.
func TestDeepPagesBySpan(t *testing.T) {
	const rows = 300
	db := database(t, "postgres", deepDDL("postgres", rows))
	cfg := sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}}
	db.Deep = 1 << 40
	plain := open(t, db, cfg)
	db.Deep = 1
	s := open(t, db, cfg)
	for query, want := range map[string]bool{
		"d":                                 true,
		"d desc,c":                          true,
		"d,e":                               true,
		"c desc":                            true,
		"c desc,length(b),a":                true,
		"a desc":                            true,
		"a desc,b":                          true,
		"a desc&$filter=c gt 1":             true,
		"a desc&$filter=c gt 1 or id lt 9":  true,
		"a desc&$filter=e eq 1":             false,
		"b,e":                               true,
		"b desc":                            true,
		"e,length(b)":                       true,
		"c desc&$filter=e eq 3":             true,
		"c desc&$filter=a eq null":          false,
		"d&$compute=a mul 2 as z&$select=z": true,
		"f":                                 false,
		"length(b)":                         false,
		"c":                                 false, // an index has all of it
	} {
		for skip := 1; skip < rows+20; skip += 7 {
			target := fmt.Sprintf("things?$top=12&$skip=%d&$orderby=%s", skip, query)
			if got, want := s.get(target), plain.get(target); got != want || strings.Contains(got, "fault") {
				t.Errorf("%s\n got %s\nwant %s", target, got, want)
			}
		}
		e := s.explain(t, "things?$skip=5&$orderby="+query)
		if got := strings.HasPrefix(e.Statements[0].SQL, "WITH "); got != want {
			t.Errorf("%q by its span: %t, want %t\n%s", query, got, want, e.Statements[0].SQL)
		}
	}
}
