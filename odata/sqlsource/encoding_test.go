package sqlsource_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// The bytes of texts in UTF-16 were sent as if they were UTF-8.
func TestOnlyUTF8IsRead(t *testing.T) {
	create := func(t *testing.T, file, encoding string) {
		db := sqlx.MustOpen("sqlite", file)
		db.SetMaxOpenConns(1)
		db.MustExec("PRAGMA encoding = '" + encoding + "'; CREATE TABLE things (id INTEGER PRIMARY KEY, word TEXT NOT NULL); INSERT INTO things VALUES (1, 'Größe')")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	cfg := sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}}
	for _, encoding := range []string{"UTF-16le", "UTF-16be"} {
		t.Run(encoding, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "app.db")
			create(t, file, encoding)
			source, err := sqlsource.New(t.Context(), sqlsource.Database{Dialect: "sqlite", DSN: file}, cfg)
			if err == nil {
				defer func() { _ = source.Close() }()
			}
			var invalid *sqlsource.Invalid
			if !errors.As(err, &invalid) || len(invalid.Findings) != 1 || !strings.Contains(invalid.Findings[0].Remedy, ".dump") {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("renamed over one of UTF-8", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "app.db")
		create(t, file, "UTF-8")
		s := open(t, sqlsource.Database{Dialect: "sqlite", DSN: file}, cfg)
		if got := s.get("things"); got != "[1,Größe]" {
			t.Fatalf("got %s", got)
		}
		create(t, file+".new", "UTF-16le")
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
		if got := s.get("things"); !strings.HasPrefix(got, "503") {
			t.Errorf("got %q", got)
		}
	})
}
