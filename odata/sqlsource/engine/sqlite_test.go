package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

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
		db, err := engine.OpenSQLite(file+parameters, 0, 0)
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
	n := number(t, tx, "PRAGMA mmap_size")
	if err := tx.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

// number runs a statement that gives one number.
func number(t *testing.T, tx engine.Tx, query string) int64 {
	t.Helper()
	cur, err := tx.Query(query, nil)
	if err != nil {
		t.Fatal(err)
	}
	cells := make([]engine.Cell, 1)
	ok, err := cur.Next()
	if err == nil && ok {
		err = cur.Row(cells)
	}
	if err := errors.Join(err, cur.Close()); err != nil || !ok {
		t.Fatal(ok, err)
	}
	return cells[0].Int
}

// openEmpty opens a database without tables.
func openEmpty(t *testing.T, maxConns int) *engine.SQLite {
	t.Helper()
	file := filepath.Join(t.TempDir(), "app.db")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := engine.OpenSQLite(file, maxConns, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func begin(ctx context.Context, t testing.TB, db *engine.SQLite, need engine.Need) engine.Tx {
	t.Helper()
	tx, err := db.Begin(ctx, need)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// TestPagesThatConnectionsKeep asks each connection, in KiB, how much of the file it keeps.
func TestPagesThatConnectionsKeep(t *testing.T) {
	few, many := engine.Need{}, engine.Need{Rows: 1_000_000}
	for _, test := range []struct {
		name     string
		maxConns int
		needs    []engine.Need // at once
		want     []int64
	}{
		{"the first two keep more than the others", 4, []engine.Need{few, few, few, few}, []int64{131072, 16384, 4096, 4096}},
		{"one that reads many rows leaves them to others", 4, []engine.Need{many, few, few, few}, []int64{4096, 131072, 16384, 4096}},
		{"where there are no others, it takes one of them", 4, []engine.Need{many, many, many, few}, []int64{4096, 4096, 16384, 131072}},
		{"a single connection", 1, []engine.Need{many}, []int64{131072}},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := openEmpty(t, test.maxConns)
			for range 3 { // new connections, and those that came back
				var txs []engine.Tx
				for i, need := range test.needs {
					tx := begin(t.Context(), t, db, need)
					txs = append(txs, tx)
					if got := -number(t, tx, "PRAGMA cache_size"); got != test.want[i] {
						t.Errorf("connection %d keeps %d KiB, want %d", i, got, test.want[i])
					}
				}
				for _, tx := range txs {
					if err := tx.Close(); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// TestPagesWithinALimit holds that connections keep less where their memory is limited.
func TestPagesWithinALimit(t *testing.T) {
	for limit, want := range map[int64][3]int{
		0:         {131072, 16384, 4096},
		225 << 20: {115200, 14400, 4096},
		64 << 20:  {32768, 4096, 4096},
		9 << 20:   {4608, 576, 576},
	} {
		if got := engine.PagesWithin(limit); got != want {
			t.Errorf("with a limit of %d bytes they keep %v KiB, want %v", limit, got, want)
		}
	}
}

// TestAnInterruptEndsOneTransaction runs statements without an end on one connection, one after the other.
func TestAnInterruptEndsOneTransaction(t *testing.T) {
	db := openEmpty(t, 1)
	for i := range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		tx := begin(ctx, t, db, engine.Need{})
		cur, err := tx.Query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0", nil)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Duration(i)*time.Millisecond, cancel)
		if _, err := cur.Next(); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		if err := tx.Close(); err != nil {
			t.Fatal(err)
		}
		tx = begin(t.Context(), t, db, engine.Need{Snapshot: true})
		if got := number(t, tx, "SELECT 42"); got != 42 {
			t.Errorf("got %d", got)
		}
		if err := tx.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
