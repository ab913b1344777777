package sqlsource_test

import (
	"fmt"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestDeepPagesOfInheritedTables holds that a deep page of a table of PostgreSQL that another inherits from is that of
// OFFSET, although both have rows of one key.
func TestDeepPagesOfInheritedTables(t *testing.T) {
	t.Parallel()
	db := database(t, "postgres", "CREATE TABLE things (id bigint PRIMARY KEY, n bigint NOT NULL);\nCREATE TABLE more () INHERITS (things);\nCREATE INDEX ON things (n, id);\n"+
		"INSERT INTO things SELECT i, i % 5 FROM generate_series(1, 20) i;\nINSERT INTO more SELECT i, i % 5 FROM generate_series(10, 25) i")
	s := open(t, sqlsource.Database{Dialect: db.Dialect, DB: db.DB, Deep: 1}, thingsOnly())
	for _, order := range []string{"n", "n desc", "id"} {
		got := ""
		for skip := 0; skip < 36; skip += 3 {
			got += s.get(fmt.Sprintf("things?$select=id&$orderby=%s&$top=3&$skip=%d", order, skip))
		}
		if want := s.get("things?$select=id&$orderby=" + order); got != want {
			t.Errorf("%s: got %s, want %s", order, got, want)
		}
	}
}
