package engine_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	_ "modernc.org/sqlite"
)

// What is mapped into memory is set by the data source name, and nothing is while a table is swept; the next request on
// the connection has its map again.
func TestMappedFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.db")
	db, err := sqlx.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	db.MustExec("CREATE TABLE things (id INTEGER PRIMARY KEY)")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, parameters string
		want             int64
	}{
		{"by default", "", 256 << 20},
		{"other parameters", "?_pragma=synchronous(NORMAL)&mode=ro", 256 << 20},
		{"smaller", "?_pragma=mmap_size(1048576)", 1 << 20},
		{"not at all", "?_pragma=busy_timeout(1)&_pragma=mmap_size%3D0", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db, err := engine.OpenSQLite(file+tt.parameters, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			for _, need := range []engine.Need{{}, {Sweep: true}, {Snapshot: true}, {Sweep: true, Snapshot: true}, {}} {
				want := tt.want
				if need.Sweep {
					want = 0
				}
				if got := mapped(t, db, need); got != want {
					t.Errorf("%+v maps %d bytes, want %d", need, got, want)
				}
			}
		})
	}
}

func TestMalformedMapSize(t *testing.T) {
	for _, parameters := range []string{"?_pragma=mmap_size(much)", "?_pragma=mmap_size", "?%zz"} {
		if _, err := engine.OpenSQLite("app.db"+parameters, 0); err == nil {
			t.Errorf("%s is accepted", parameters)
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
