package engine_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"zombiezen.com/go/sqlite"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// TestCells holds that cells of all kinds are read as they were written, long texts among short ones too, and that an update
// of the driver is noticed which makes the way below it impossible.
func TestCells(t *testing.T) {
	tx := begin(t.Context(), t, openEmpty(t, 1), engine.Need{})
	t.Cleanup(func() { _ = tx.Close() })
	long := strings.Repeat("ä\x00", 5000)
	cur, err := tx.Query(`SELECT 1, NULL, -9223372036854775808, 0.5, 9e999, 'text', '', x'00ff', x'', ?, 'after', zeroblob(3), ? || 'x'
		UNION ALL SELECT 2, 'b', NULL, 'c', 1, x'01', 2.0, NULL, 'd', 'e', ?, 'f', 3`, []any{long, long, long})
	if err != nil {
		t.Fatal(err)
	}
	if !engine.HasHandle(cur) {
		t.Error("the driver's statement has no handle any more")
	}
	text := func(s string) engine.Cell { return engine.Cell{Kind: engine.Text, Bytes: []byte(s)} }
	blob := func(b ...byte) engine.Cell { return engine.Cell{Kind: engine.Blob, Bytes: append([]byte{}, b...)} }
	number := func(n int64) engine.Cell { return engine.Cell{Kind: engine.Int, Int: n} }
	cells, inf := make([]engine.Cell, 13), engine.Cell{Kind: engine.Float, Float: math.Inf(1)}
	for _, want := range [][]engine.Cell{
		{
			number(1),
			{},
			number(-1 << 63),
			{Kind: engine.Float, Float: 0.5},
			inf, text("text"), text(""), blob(0, 255), blob(),
			text(long), text("after"), blob(0, 0, 0), text(long + "x"),
		},
		{
			number(2), text("b"),
			{},
			text("c"), number(1), blob(1),
			{Kind: engine.Float, Float: 2},
			{},
			text("d"),
			text("e"), text(long), text("f"), number(3),
		},
	} {
		ok, err := cur.Next()
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if err := cur.Row(cells); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, cells); diff != "" {
			t.Error(diff)
		}
	}
}

// TestHandlesOfKeptStatements holds that a connection forgets the handle of a statement with the statement: it is memory of
// SQLite's, which another one may have by then.
func TestHandlesOfKeptStatements(t *testing.T) {
	db := openEmpty(t, 1)
	for i := range 300 {
		tx := begin(t.Context(), t, db, engine.Need{})
		if n := number(t, tx, fmt.Sprintf("SELECT %d", i)); n != int64(i) {
			t.Errorf("statement %d gives %d", i, n)
		}
		if err := tx.Close(); err != nil {
			t.Fatal(err)
		}
	}
	tx := begin(t.Context(), t, db, engine.Need{})
	if statements, handles := engine.Kept(tx); statements != handles || statements == 0 || statements >= 300 {
		t.Errorf("a connection keeps %d statements and %d handles", statements, handles)
	}
	if err := tx.Close(); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkCells reads a row of ten columns. The baseline is the driver's.
func BenchmarkCells(b *testing.B) {
	const query = `SELECT 1, 'SKU-00000001', 'Product number 1', 'A plain description of some length', 2, 9.95, 3, 4.5, 0, '2024-01-01 00:01:00'`
	file := filepath.Join(b.TempDir(), "app.db")
	c, err := sqlite.OpenConn(file)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	db, err := engine.OpenSQLite(file, 1)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	for name, driver := range map[string]bool{"ours": false, "baseline": true} {
		b.Run(name, func(b *testing.B) {
			tx, err := db.Begin(b.Context(), engine.Need{})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = tx.Close() }()
			cur, err := tx.Query(query, nil)
			if err != nil {
				b.Fatal(err)
			}
			if ok, err := cur.Next(); err != nil || !ok {
				b.Fatal(ok, err)
			}
			if driver {
				engine.ForgetHandle(cur)
			}
			cells := make([]engine.Cell, 10)
			b.ReportAllocs()
			for b.Loop() {
				if err := cur.Row(cells); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
