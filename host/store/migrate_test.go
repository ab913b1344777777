package store_test

import (
	"path/filepath"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
)

func open(t *testing.T) *store.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "app.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

// Two hosts see the same migration pending, and one of them is faster: the other
// finds it applied once its own transaction has begun, and does nothing.
func TestMigrationOfTheFasterHost(t *testing.T) {
	db := open(t)
	if _, err := db.AddUser(t.Context(), "ada@example.com", "Ada", "x"); err != nil {
		t.Fatal(err)
	}
	for version := range int64(6) {
		tx, err := db.Writer().Begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := db.ApplyMigration(t.Context(), tx, version+1); err != nil {
			t.Errorf("migration %d again: %v", version+1, err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}
