package sqlsource_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestStorageClassesOfKeys expands rows whose keys are of one column and, as SQLite allows, of several storage classes. What
// only some of the keys are decides how all of them reach the database.
func TestStorageClassesOfKeys(t *testing.T) {
	for _, test := range []struct {
		name   string
		values string
	}{
		{"a blob behind a text", "'a' x'61' x'00ff'"},
		{"a blob behind a number", "5 0.1 x'35'"},
		{"a text behind a blob", "x'61' 'a'"},
		{"a text that is no UTF-8", "'a' CAST(x'ff41'-AS-TEXT) char(65533)||'A'"},
		{"a text with a NUL", "'a' 'a'||char(0)||'b' 'a'||char(0)"},
		{"texts and numbers", "'5' 5 5.5 '5.5' 9007199254740993 '' '\"'"},
	} {
		for name, on := range map[string]map[string]string{"one column": {"b": "b"}, "two columns": {"a": "a", "b": "b"}} {
			t.Run(test.name+", "+name, func(t *testing.T) {
				db := database(t, "sqlite", "CREATE TABLE parents (id INTEGER PRIMARY KEY, a TEXT, b BLOB);\nCREATE TABLE children (id INTEGER PRIMARY KEY, a TEXT, b BLOB)")
				var want strings.Builder
				for i, v := range strings.Fields(test.values) {
					v = strings.ReplaceAll(v, "-", " ")
					db.DB.MustExec(fmt.Sprintf("INSERT INTO parents VALUES (%d, 'x', %s)", i, v))
					db.DB.MustExec(fmt.Sprintf("INSERT INTO children VALUES (%d, 'x', %s)", i, v))
					fmt.Fprintf(&want, "[%d {[%d]#1}]", i, i)
				}
				s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
					{Name: "Parents", Table: "parents", Navigations: []sqlsource.Navigation{{Name: "children", To: "Children", Many: true, On: on}}},
					{Name: "Children", Table: "children"},
				}})
				for _, options := range []string{"$count=true", "$count=true;$top=1;$orderby=id desc"} {
					if got := s.get("Parents?$select=id&$expand=children($select=id;" + options + ")"); got != want.String() {
						t.Errorf("%s: %s\nwant %s", options, got, &want)
					}
				}
			})
		}
	}
}
