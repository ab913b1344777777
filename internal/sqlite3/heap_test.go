package sqlite3_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
)

// TestLimitHeap reads a file of 20 MiB over four connections that could keep all of it each, and sorts it without an index. The
// limit is of the whole process and must come first: the test runs in a process of its own.
func TestLimitHeap(t *testing.T) {
	const limit = 6 << 20
	if os.Getenv("LIMIT_HEAP") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLimitHeap$", "-test.v")
		cmd.Env = append(os.Environ(), "LIMIT_HEAP=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	if err := sqlite3.LimitHeap(limit); err != nil {
		t.Fatal(err)
	}
	name := file(t)
	var conns []*sqlite3.Conn
	for range 4 {
		c := open(t, name)
		conns = append(conns, c)
		run(t, c, "PRAGMA cache_size=-100000")
		run(t, c, "PRAGMA synchronous=OFF")
	}
	run(t, conns[0], "CREATE TABLE t (n INTEGER PRIMARY KEY, x TEXT)")
	run(t, conns[0], `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c WHERE n < 10000)
		INSERT INTO t SELECT n, printf('%02000d', n * 7919 % 10000) FROM c`)
	for i, c := range conns {
		for _, query := range []string{"SELECT count(x) FROM t", "SELECT x FROM t ORDER BY x"} {
			run(t, c, query)
			if used := sqlite3.HeapUsed(); used > limit+limit/4 {
				t.Errorf("connection %d: SQLite has %d KiB after %s, and the limit is %d KiB", i, used>>10, query, limit>>10)
			}
		}
	}
}

func run(t *testing.T, c *sqlite3.Conn, query string) {
	t.Helper()
	if err := c.Exec(query); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", query, err))
	}
}

// TestLimitHeapTooLate holds that a limit that cannot hold is an error.
func TestLimitHeapTooLate(t *testing.T) {
	c := open(t, file(t))
	run(t, c, "SELECT 1")
	if os.Getenv("LIMIT_HEAP") != "" {
		return // which counts
	}
	if err := sqlite3.LimitHeap(1 << 30); !errors.Is(err, sqlite3.ErrUncounted) {
		t.Errorf("got %v", err)
	}
}
