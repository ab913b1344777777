package sqlsource_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestWideSchemas holds that opening a database takes memory in proportion to its tables: what is read and compared of each
// table does not grow with the others.
func TestWideSchemas(t *testing.T) {
	took := func(tables int) uint64 {
		file := filepath.Join(t.TempDir(), "wide.db")
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		for i := range tables {
			statement := fmt.Sprintf(`CREATE TABLE entity_%d (id INTEGER PRIMARY KEY, name TEXT NOT NULL CHECK (length(name) < 80), price DECIMAL(12,2),
				parent_id INTEGER REFERENCES entity_%d(id), made DATE)`, i, (i*7+1)%tables)
			if _, err := tx.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		source, err := sqlsource.New(t.Context(), sqlsource.Database{Dialect: "sqlite", DSN: file}, sqlsource.Config{Discover: []string{"*"}})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(source.Model().Sets); n != tables {
			t.Errorf("%d sets of %d tables", n, tables)
		}
		if err := source.Close(); err != nil {
			t.Fatal(err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := took(100), took(800)
	if many > 12*few {
		t.Errorf("800 tables take %d bytes, and 100 take %d", many, few)
	}
	t.Logf("100 tables: %d bytes, 800: %d", few, many)
}
