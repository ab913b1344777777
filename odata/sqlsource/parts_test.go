package sqlsource_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// manyOfOne is how many children one parent has; in memory they take 75 MB.
const manyOfOne = 22_000

// TestManyRowsOfOneParent reads the children of one parent, which once were all held in memory.
func TestManyRowsOfOneParent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.db")
	db := sqlx.MustOpen("sqlite", file)
	db.MustExec("CREATE TABLE parents (id INTEGER PRIMARY KEY)")
	db.MustExec("CREATE TABLE things (id INTEGER PRIMARY KEY, parent_id INTEGER NOT NULL REFERENCES parents(id), word TEXT NOT NULL)")
	db.MustExec("CREATE INDEX of_parent ON things (parent_id, id)")
	db.MustExec("INSERT INTO parents VALUES (1), (2), (3)")
	db.MustExec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO things SELECT i, 2, hex(zeroblob(1600)) FROM n`, manyOfOne)
	db.MustExec("INSERT INTO things VALUES (?, 3, 'last')", manyOfOne+1)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, sqlsource.Database{Dialect: "sqlite", DSN: file}, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"parents", "things"}})
	for _, test := range []struct {
		options     string
		first, rows int64
		more        bool
	}{
		{"$top=1000000;$count=true", 1, manyOfOne, false},
		{"$top=15000;$skip=1", 2, 15_000, false},
		{"$skip=3", 4, 18_000, true}, // a page
	} {
		t.Run(test.options, func(t *testing.T) {
			s.limits = plan.Limits{PageSize: 18_000, Rows: plan.Unlimited}
			p, err := s.plan(fmt.Sprintf("parents?$expand=things(%s;$expand=parent)", test.options), 0)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := s.Open(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = rows.Close() }()
			for id := int64(1); rows.Next(); id++ {
				children := rows.Expand(0)
				n := readMany(t, children, test.first)
				want := map[int64]int64{2: test.rows}[id]
				if id == 3 && test.first == 1 {
					want = 1
				}
				if n != want || children.More() != (id == 2 && test.more) || children.Err() != nil {
					t.Errorf("parent %d has %d rows, want %d; more is %t: %v", id, n, want, children.More(), children.Err())
				}
				if p.Top.Expand[0].Count && id == 2 && children.Count() != manyOfOne {
					t.Errorf("the total is %d", children.Count())
				}
			}
			if err := rows.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// readMany counts rows, and holds that their ids follow each other and that few of them are in memory at the end.
func readMany(t *testing.T, children plan.Rows, first int64) (n int64) {
	t.Helper()
	for ; children.Next(); n++ {
		if got := children.Row()[0].Int; got != first+n && got != manyOfOne+1 {
			t.Fatalf("row %d has the id %d", n, got)
		}
		if n%1000 == 0 {
			if parent := children.Expand(0); !parent.Next() {
				t.Fatalf("row %d has no parent", n)
			}
		}
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 60<<20 {
		t.Errorf("%d MiB are held behind %d rows", m.HeapAlloc>>20, n)
	}
	return n
}
