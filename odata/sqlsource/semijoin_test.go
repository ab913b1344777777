package sqlsource_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestSharedTargetsAreReadOnce holds that SQLite reads the collection of a shared target once, and not once for each row
// around it, and that it does read it for each row if the condition depends on that row.
func TestSharedTargetsAreReadOnce(t *testing.T) {
	s := openShop(t, "sqlite")
	set := regexp.MustCompile(`t\d+\."id" IN \(SELECT t\d+\."category_id" `)
	for filter, once := range map[string]bool{
		"category/products/any(p:p/name eq 'zz')":                                                true,
		"not category/products/any(p:p/name eq 'zz')":                                            true,
		"category/products/all(p:p/active)":                                                      true,
		"category/products/any(p:p/category/products/any(q:q/name eq 'zz'))":                     true,
		"category/products/any(p:p/category/name eq 'Tools' and p/price gt 1)":                   true,
		"$root/Products(1)/category/products/any(p:p/name eq 'zz')":                              true,
		"category/products/any(p:p/price gt price)":                                              false,
		"category/products/any(p:p/category/products/any(q:q/price gt price))":                   false,
		"category/products/any(p:p/tags/any(t:t/label eq 'red')) and category/name eq 'Hammers'": true,
		"tags/any(t:t/label eq 'red')":                                                           false, // of the row itself
	} {
		e := s.explain(t, "Products?$select=id&$filter="+filter)
		if got := e.Statements[0]; set.MatchString(got.SQL) != once {
			t.Errorf("%s: want once: %t\n%s\n%s", filter, once, got.SQL, strings.Join(got.QueryPlan, "\n"))
		}
	}
}

// TestSharedTargetsAreCountedOnce holds that no database counts the collection of a shared target, and one that no index
// finds, in a subquery of each row around it, and that each does if the condition of the count depends on that row.
func TestSharedTargetsAreCountedOnce(t *testing.T) {
	each := regexp.MustCompile(`\(SELECT COUNT\(\*\) FROM`)
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := openShop(t, d)
			for query, once := range map[string]bool{
				"$filter=category/products/$count gt 1":                                 true,
				"$orderby=category/products/$count desc":                                true,
				"$compute=category/products/$count as n&$filter=n gt 1":                 true,
				"$apply=filter(category/products/$count gt 1)":                          true,
				"$filter=category/products/$count($filter=name eq 'Ham') gt 1":          true,
				"$filter=category/products/$count($filter=price gt $it/price) gt 1":     false,
				"$filter=tags/$count gt 1":                                              true, // without an index
				"$filter=tags/any(t:category/products/$count gt 1)":                     true,
				"$filter=tags/any(t:category/products/$count($filter=id eq t/id) gt 1)": false,
			} {
				e := s.explain(t, "Products?$select=id&"+query)
				if sql := e.Statements[0].SQL; each.MatchString(sql) == once {
					t.Errorf("%s: want once: %t\n%s\n%s", query, once, sql, strings.Join(e.Statements[0].QueryPlan, "\n"))
				}
			}
		})
	}
}

// TestSharedTargetsKeepPolicies holds that row policies and hidden columns are in force within any and all over the
// collection of a shared target: of the target, and of the collection.
func TestSharedTargetsKeepPolicies(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := openShop(t, d)
			s.caller = plan.Caller{SignedIn: true, User: map[string]any{"partner_id": int64(1)}}
			check(t, s, [][2]string{
				{"Mine?$select=id&$filter=group/items/any(i:i/name eq 'hammer')", "[1][2]"},
				{"Mine?$select=id&$filter=group/items/any(i:i/name eq 'Äpfel 100%')", ""}, // of another tenant
				{"Mine?$select=id&$filter=group/items/any(i:i/name eq 'Ham')", ""},        // in a category of another owner
				{"Mine?$select=id&$filter=not group/items/any()", "[5]"},
				{"Mine?$select=id&$filter=group/items/all(i:i/name eq 'hammer')", "[5]"},
				{"Mine?$select=id&$filter=group/items/all(i:i/id ge 6)", "[5][6][7]"}, // 3 is of another tenant
				{"Mine?$select=id&$filter=group/items/$count eq 2", "[1][2][6][7]"},
				{"Mine?$select=id&$filter=group/items/$count($filter=name eq 'Äpfel 100%') gt 0", ""},
				{"Mine?$select=id&$filter=group/items/$count eq 0", "[5]"},
				{"Mine?$select=id&$orderby=group/items/$count,id desc", "[5][7][6][2][1]"},
				{"Mine?$select=id&$filter=group/items/any(i:i/tenant eq 1)", "400"},
				{"Products?$select=id&$filter=category/products/any(p:p/cost gt 1)", "400"},
				{"Mine?$select=id&$filter=$root/Mine(1)/group/items/any(i:i/name eq 'hammer')", "[1][2][5][6][7]"},
				{"Mine?$select=id&$filter=$root/Mine(1)/group/items/any(i:i/id eq 3)", ""},
			})
		})
	}
}

// TestCollectionsOfTwoColumns holds that collections whose links compare two columns, of which one may be null, have the same answers with an
// index and without one.
func TestCollectionsOfTwoColumns(t *testing.T) {
	const script = `CREATE TABLE parents (a {BIG} NOT NULL, b {STR} NOT NULL, PRIMARY KEY (a, b));
CREATE TABLE kids (id {BIG} PRIMARY KEY, pa {BIG}, pb {STR}, v {INT});
INSERT INTO parents VALUES (1, 'x'), (1, 'X'), (2, 'x'), (3, 'y');
INSERT INTO kids VALUES (1, 1, 'x', 1), (2, 1, 'x', 2), (3, 1, 'X', 3), (4, 2, NULL, 4), (5, NULL, 'x', 5), (6, 2, 'x', NULL), (7, 9, 'x', 7)`
	for _, d := range dialects() {
		for _, index := range []string{"", ";\nCREATE INDEX kids_parent ON kids (pa, pb)"} {
			t.Run(d, func(t *testing.T) {
				ddl := ddlOf(d, script+index)
				if d == "mysql" {
					ddl = strings.ReplaceAll(ddl, "VARCHAR(80)", "VARCHAR(80) COLLATE utf8mb4_bin")
				}
				s := open(t, database(t, d, ddl), sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
					{Name: "parents", Table: "parents", Navigations: []sqlsource.Navigation{{Name: "kids", To: "kids", Many: true, On: map[string]string{"a": "pa", "b": "pb"}}}},
					{Name: "kids", Table: "kids", Navigations: []sqlsource.Navigation{{Name: "parent", To: "parents", On: map[string]string{"pa": "a", "pb": "b"}}}},
				}})
				check(t, s, [][2]string{
					{"parents?$filter=kids/any(k:k/v gt 1)&$orderby=a,b desc", "[1,x][1,X]"},
					{"parents?$filter=not kids/any(k:k/v gt 1)&$orderby=a,b desc", "[2,x][3,y]"},
					{"parents?$filter=kids/all(k:k/v gt 1)&$orderby=a,b desc", "[1,X][3,y]"},
					{"parents?$filter=kids/$count eq 0", "[3,y]"},
					{"parents?$filter=kids/$count eq 1&$orderby=a,b", "[1,X][2,x]"},
					{"parents?$orderby=kids/$count desc,a,b desc", "[1,x][1,X][2,x][3,y]"},
					{"parents?$filter=kids/any(k:k/v gt $it/a)", "[1,X][1,x]"},
					{"kids?$select=id&$filter=parent/kids/any(k:k/v eq 1)", "[1][2]"},
					{"kids?$select=id&$filter=parent/kids/all(k:k/v gt 1)", "[3][4][5][7]"},
					{"kids?$select=id&$filter=parent/kids/$count eq 0", "[4][5][7]"},
				})
			})
		}
	}
}
