package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
)

// keeping opens a pool of connections that keep their statements.
func keeping(t *testing.T, connections int) *sqlx.DB {
	t.Helper()
	file := filepath.Join(t.TempDir(), "app.db")
	pool, err := pool(nil, "file:"+file+"?"+settings, connections)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	pool.MustExec("CREATE TABLE t (n INTEGER)")
	return pool
}

// keptBy calls f with the kept statements of a connection.
func keptBy(t *testing.T, pool *sqlx.DB, f func(map[string]*statement)) {
	t.Helper()
	conn, err := pool.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = conn.Raw(func(driven any) error {
		f(driven.(*keeper).kept) //nolint:forcetypeassert // a panic fails the test
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestKeptStatements runs statements in and outside of transactions. They are prepared once, survive a change of the table, and
// wrong ones are not kept.
func TestKeptStatements(t *testing.T) {
	pool := keeping(t, 1)
	const insert, all, wrong = "INSERT INTO t (n) VALUES (?)", "SELECT * FROM t", "SELECT nothing FROM nowhere"
	first := map[string]*statement{}
	for round := range 3 {
		tx := pool.MustBegin()
		for range 2 {
			tx.MustExec(insert, round)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if n := rowsOf(t, pool, all, round+1); n != 2*round+2 {
			t.Errorf("round %d: %d rows", round, n)
		}
		if _, err := pool.Exec(wrong); err == nil {
			t.Error("a wrong statement ran")
		}
		keptBy(t, pool, func(kept map[string]*statement) {
			for _, query := range []string{insert, all} {
				if s := kept[query]; s == nil || s.busy || first[query] != nil && s != first[query] {
					t.Errorf("round %d: %q is kept as %v", round, query, s)
				}
				first[query] = kept[query]
			}
			if kept[wrong] != nil {
				t.Error("a wrong statement is kept")
			}
		})
		pool.MustExec(fmt.Sprintf("ALTER TABLE t ADD COLUMN more%d TEXT", round))
	}
}

// rowsOf returns the number of rows of a query. Each has so many columns.
func rowsOf(t *testing.T, pool *sqlx.DB, query string, columns int) (n int) {
	t.Helper()
	rows, err := pool.Queryx(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for ; rows.Next(); n++ {
		if row, err := rows.SliceScan(); err != nil || len(row) != columns {
			t.Fatalf("%v, %v; want %d columns", row, err, columns)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestBusyStatement reads the rows of a query while the same query runs again on the connection.
func TestBusyStatement(t *testing.T) {
	pool := keeping(t, 1)
	const query = "SELECT n FROM t WHERE n >= ? ORDER BY n"
	pool.MustExec("INSERT INTO t (n) VALUES (1), (2), (3)")
	tx := pool.MustBegin()
	defer tx.Rollback()
	outer, err := tx.Query(query, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer outer.Close()
	for want := 1; outer.Next(); want++ {
		var n, first int
		if err := outer.Scan(&n); err != nil || n != want {
			t.Fatalf("%d, %v; want %d", n, err, want)
		}
		if err := tx.Get(&first, query, n); err != nil || first != n {
			t.Fatalf("within: %d, %v; want %d", first, err, n)
		}
	}
	if err := outer.Err(); err != nil {
		t.Error(err)
	}
}

// TestKeptStatementsAreBounded runs more queries than a connection keeps, and settings, which take effect each time.
func TestKeptStatementsAreBounded(t *testing.T) {
	pool := keeping(t, 1)
	for i := range maxKept + 50 {
		var n int
		if err := pool.Get(&n, fmt.Sprintf("SELECT %d", i)); err != nil || n != i {
			t.Fatal(n, err)
		}
	}
	for i := range 4 {
		pool.MustExec(fmt.Sprintf("PRAGMA query_only = %d", i%2))
		if _, err := pool.Exec("INSERT INTO t (n) VALUES (1)"); (err == nil) != (i%2 == 0) {
			t.Errorf("query_only is %d: %v", i%2, err)
		}
	}
	keptBy(t, pool, func(kept map[string]*statement) {
		if len(kept) != maxKept || kept["PRAGMA query_only = 1"] != nil {
			t.Errorf("%d statements are kept", len(kept))
		}
	})
}

// TestKeptStatementsInParallel shares connections. The race detector finds one that two goroutines use at once.
func TestKeptStatementsInParallel(t *testing.T) {
	pool := keeping(t, 3)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for k := range 50 {
				var n sql.NullInt64
				if err := pool.GetContext(t.Context(), &n, "SELECT ?", 100*i+k); err != nil || n.Int64 != int64(100*i+k) {
					t.Error(n, err)
				}
			}
		})
	}
	all.Wait()
}
