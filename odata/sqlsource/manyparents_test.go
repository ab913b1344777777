package sqlsource_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestManyParents expands 10,000 rows that are linked by seven columns: more values than a statement takes parameters, and than
// SQLite takes conditions.
func TestManyParents(t *testing.T) {
	t.Parallel()
	script := "CREATE TABLE digits (n int PRIMARY KEY);\nINSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);\n" +
		"CREATE TABLE roots (id int PRIMARY KEY);\nINSERT INTO roots VALUES (0);\n" +
		"CREATE TABLE nodes (a int, b varchar(20), c int, d int, e int, f int, g int, root int, PRIMARY KEY (a, b, c, d, e, f, g));\n" +
		"INSERT INTO nodes SELECT x.n, CASE WHEN y.n < 5 THEN 'low' ELSE 'high' END, 10 * y.n + z.n, u.n, 5, 6, 7, r.id FROM digits x, digits y, digits z, digits u, roots r;\n" +
		"CREATE TABLE leaves (id int PRIMARY KEY, a int, b varchar(20), c int, d int, e int, f int, g int);\n" +
		"INSERT INTO leaves SELECT 1000 * a + 10 * c + d, a, b, c, d, e, f, g FROM nodes WHERE d <> 7;\nCREATE INDEX leaf ON leaves (a, b, c, d, e, f, g);"
	on := map[string]string{"a": "a", "b": "b", "c": "c", "d": "d", "e": "e", "f": "f", "g": "g"}
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t, dialect, script), sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
				{Name: "Roots", Table: "roots", Navigations: []sqlsource.Navigation{{Name: "nodes", To: "Nodes", Many: true, On: map[string]string{"id": "root"}}}},
				{Name: "Nodes", Table: "nodes", Navigations: []sqlsource.Navigation{{Name: "leaves", To: "Leaves", Many: true, On: on}}},
				{Name: "Leaves", Table: "leaves", Navigations: []sqlsource.Navigation{{Name: "node", To: "Nodes", On: on}}},
			}})
			s.limits = plan.Limits{MaxPageSize: 50_000, PageSize: 50_000}
			got := s.get("Roots?$select=id&$expand=nodes($top=10000;$select=a;$expand=leaves($select=id;$expand=node($select=a,d)))")
			leaves, empty := strings.Count(got, " {["), strings.Count(got, " {}")
			if leaves != 9000+9000+1 || empty != 1000 {
				t.Errorf("%d nodes and leaves have something below them, and %d nothing: %.300s", leaves, empty, got)
			}
			if !strings.Contains(got, "[9 {[9999 {[9,9]}]}]") {
				t.Errorf("the last leaf is not where it belongs: %s", got[max(0, len(got)-300):])
			}
		})
	}
}
