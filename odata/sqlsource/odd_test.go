package sqlsource_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestOddTables opens databases in which one object cannot be read, because a module, a function or a collation of the
// application that made it is missing.
func TestOddTables(t *testing.T) {
	for _, test := range []struct {
		name  string
		ddl   []string
		wants string // what is named as broken; nothing where it need not be
	}{
		{"virtual table without its module", []string{
			"PRAGMA writable_schema=1",
			"INSERT INTO sqlite_schema VALUES ('table', 'odd', 'odd', 0, 'CREATE VIRTUAL TABLE odd USING nosuchmodule(a)')",
		}, "odd"},
		{"view over such a table", []string{
			"PRAGMA writable_schema=1",
			"INSERT INTO sqlite_schema VALUES ('table', 'hidden', 'hidden', 0, 'CREATE VIRTUAL TABLE hidden USING nosuchmodule(a)')",
			"CREATE VIEW odd AS SELECT * FROM hidden",
		}, "odd hidden"},
		{"view over a table that was dropped", []string{"CREATE VIEW odd AS SELECT * FROM gone"}, "odd"},
		{"views over each other", []string{"CREATE VIEW odd AS SELECT * FROM even", "CREATE VIEW even AS SELECT * FROM odd"}, "even odd"},
		{"column that a missing function generates", []string{
			"CREATE TABLE odd (id INTEGER PRIMARY KEY, a, b AS (abs(a)))", "INSERT INTO odd (a) VALUES (1)",
			"PRAGMA writable_schema=1",
			"UPDATE sqlite_schema SET sql = replace(sql, 'abs', 'nosuchfunction') WHERE name = 'odd'",
		}, "odd"},
		{"missing collation", []string{
			"CREATE TABLE odd (id INTEGER PRIMARY KEY, a TEXT COLLATE nocase UNIQUE)", "INSERT INTO odd VALUES (1, 'x')",
			"PRAGMA writable_schema=1",
			"UPDATE sqlite_schema SET sql = replace(sql, 'nocase', 'nosuchcollation') WHERE name = 'odd'",
		}, ""},
		{"index with a missing function", []string{
			"CREATE TABLE odd (id INTEGER PRIMARY KEY, a)", "INSERT INTO odd VALUES (1, 1)", "CREATE INDEX oddly ON odd (abs(a))",
			"PRAGMA writable_schema=1",
			"UPDATE sqlite_schema SET sql = replace(sql, 'abs', 'nosuchfunction') WHERE name = 'oddly'",
		}, ""},
		{"foreign key to a table that is not there", []string{"CREATE TABLE odd (id INTEGER PRIMARY KEY, a REFERENCES gone(x))"}, ""},
		{"table without rows and types", []string{"CREATE TABLE odd (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID"}, ""},
		{"full-text and R-tree", []string{"CREATE VIRTUAL TABLE odd USING fts5(a)", "CREATE VIRTUAL TABLE even USING rtree(id, x, y)"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "app.db")
			db := sqlx.MustOpen("sqlite", file)
			db.SetMaxOpenConns(1)
			db.MustExec("CREATE TABLE things (id INTEGER PRIMARY KEY, word TEXT)")
			db.MustExec("INSERT INTO things VALUES (1, 'fine')")
			for _, ddl := range test.ddl {
				db.MustExec(ddl)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			s := open(t, sqlsource.Database{Dialect: "sqlite", DSN: file}, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"*"}})
			if got := s.get("things"); got != "[1,fine]" {
				t.Errorf("got %s", got)
			}
			var broken []string
			for _, v := range s.Broken() {
				broken = append(broken, v.Name)
				if v.Cause == nil {
					t.Errorf("%s has no cause", v.Name)
				}
			}
			if got := strings.Join(broken, " "); got != test.wants {
				t.Errorf("broken are %q, want %q", got, test.wants)
			}
		})
	}
}
