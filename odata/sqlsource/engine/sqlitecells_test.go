package engine_test

import (
	"database/sql"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// TestCells holds that cells of all kinds are read as they were written, long texts among short ones too.
func TestCells(t *testing.T) {
	tx := begin(t.Context(), t, openEmpty(t, 1), engine.Need{})
	t.Cleanup(func() { _ = tx.Close() })
	long := strings.Repeat("ä\x00", 5000)
	cur, err := tx.Query(`SELECT 1, NULL, -9223372036854775808, 0.5, 9e999, 'text', '', x'00ff', x'', ?, 'after', zeroblob(3), ? || 'x'
		UNION ALL SELECT 2, 'b', NULL, 'c', 1, x'01', 2.0, NULL, 'd', 'e', ?, 'f', 3`, []any{long, long, long})
	if err != nil {
		t.Fatal(err)
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

// BenchmarkCells reads 200 rows of ten columns. The baseline is database/sql.
func BenchmarkCells(b *testing.B) {
	const query = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
		SELECT i, 'SKU-00000001', 'Product number 1', 'A plain description of some length', 2, 9.95, 3, 4.5, 0, '2024-01-01 00:01:00' FROM n`
	db, writer, _ := openNamed(b, "wal")
	b.Run("ours", func(b *testing.B) {
		tx := begin(b.Context(), b, db, engine.Need{})
		defer func() { _ = tx.Close() }()
		cells := make([]engine.Cell, 10)
		b.ReportAllocs()
		for b.Loop() {
			cur, err := tx.Query(query, nil)
			if err != nil {
				b.Fatal(err)
			}
			for ok, err := cur.Next(); ok || err != nil; ok, err = cur.Next() {
				if err := errors.Join(err, cur.Row(cells)); err != nil {
					b.Fatal(err)
				}
			}
			_ = cur.Close()
		}
	})
	b.Run("baseline", func(b *testing.B) {
		stmt, err := writer.Prepare(query)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = stmt.Close() }()
		values, into := make([]any, 10), make([]any, 10)
		for i := range values {
			into[i] = &values[i]
		}
		b.ReportAllocs()
		for b.Loop() {
			if err := scanAll(stmt, into); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func scanAll(stmt *sql.Stmt, into []any) (err error) {
	rows, err := stmt.Query()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
	}
	return rows.Err()
}
