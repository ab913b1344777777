package engine_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	_ "modernc.org/sqlite"
)

// TestNothingIsMapped holds that no fault of a memory map can end the process.
func TestNothingIsMapped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.db")
	db, err := sqlx.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	db.MustExec("CREATE TABLE things (id INTEGER PRIMARY KEY)")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, parameters := range []string{"", "?_pragma=mmap_size(1048576)"} {
		db, err := engine.OpenSQLite(file+parameters, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		if got := mapped(t, db, engine.Need{Snapshot: true}); got != 0 {
			t.Errorf("%q maps %d bytes", parameters, got)
		}
	}
}

func mapped(t *testing.T, db *engine.SQLite, need engine.Need) int64 {
	t.Helper()
	tx, err := db.Begin(t.Context(), need)
	if err != nil {
		t.Fatal(err)
	}
	cur, err := tx.Query("PRAGMA mmap_size", nil)
	if err != nil {
		t.Fatal(err)
	}
	cells := make([]engine.Cell, 1)
	ok, err := cur.Next()
	if err == nil && ok {
		err = cur.Row(cells)
	}
	if err := errors.Join(err, cur.Close(), tx.Close()); err != nil || !ok {
		t.Fatal(ok, err)
	}
	return cells[0].Int
}
