package engine_test

import (
	"fmt"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// TestExactSums adds values of all storage classes, in groups and in windows.
func TestExactSums(t *testing.T) {
	values := func(list string) string { return "SELECT ves_sum(column1) FROM (VALUES " + list + ")" }
	tests := []struct{ name, query, want string }{
		{"integers", values("(1), (2), (-5)"), "-2"},
		{"reals", values("(0.1), (0.2), (12.34), (-0.01)"), "12.63"},
		{"both", values("(0.5), (2), (0.125)"), "2.625"},
		{"fine reals", values("(1e-7), (3e-20), (1e20)"), "100000000000000000000.00000010000000000003"},
		{"texts", values("('123456789012345678901234567890.5'), ('-0.25'), (0.25), (x'31')"), "123456789012345678901234567891.5"},
		{"no numbers", values("('soon'), (''), (9e999), (-9e999)"), "NULL"},
		{"some numbers", values("('soon'), (NULL), (7)"), "7"},
		{"nulls", values("(NULL), (NULL)"), "NULL"},
		{"nothing", "SELECT ves_sum(1) WHERE 0", "NULL"},
		{"beyond 64 bits", values("(9223372036854775807), (9223372036854775807), (1)"), "18446744073709551615"},
		{"the least integer", values("(-9223372036854775807 - 1), (-1)"), "-9223372036854775809"},
		{"long reals", values("(123456789012345.678), (0.001)"), "123456789012345.671"},
		{"fifteen digits", values("(9999999999999.25), (0.5)"), "9999999999999.75"},
		{"more digits than a real has", values("(999999999999.25), (99000000000000.5), (900000000000000)"), "999999999999999.75"},
		{"nothing left of reals", values("(0.25), (-0.25)"), "0"},
		{"a whole sum of reals", values("(0.25), (0.5), (-10.75)"), "-10"},
		{"two at once", "SELECT ves_sum(column1) || ' ' || ves_sum(column2) FROM (VALUES (1.5, 2), (2.5, 3))", "4 5"},
		{"groups", "SELECT group_concat(s, ' ') FROM (SELECT ves_sum(column2) AS s FROM (VALUES (1, 0.5), (2, 1), (1, 0.25), (3, NULL)) GROUP BY column1 ORDER BY column1)", "0.75 1"},
		{"all before", "SELECT group_concat(ifnull(s, '-'), ' ') FROM (SELECT ves_sum(column1) OVER (ORDER BY column1 ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS s FROM (VALUES (0.1), (0.2), (0.4)))", "- 0.1 0.3"},
		{"a moving window", "SELECT group_concat(s, ' ') FROM (SELECT ves_sum(column1) OVER (ORDER BY column1 ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM (VALUES (0.1), (0.2), (4), ('7.5')))", "0.1 0.3 4.2 11.5"},
		{"of partitions", "SELECT group_concat(s, ' ') FROM (SELECT ves_sum(column2) OVER (PARTITION BY column1) AS s FROM (VALUES (1, 0.5), (1, 0.25), (2, 3)))", "0.75 0.75 3"},
	}
	db := openEmpty(t, 1)
	ask := func(tx engine.Tx, query string) string {
		cur, err := tx.Query("SELECT ifnull(x, 'NULL') FROM (SELECT CAST(("+query+") AS TEXT) AS x)", nil)
		if err != nil {
			return err.Error()
		}
		defer func() { _ = cur.Close() }()
		cells := make([]engine.Cell, 1)
		if ok, err := cur.Next(); err != nil || !ok {
			return fmt.Sprint(ok, err)
		}
		_ = cur.Row(cells)
		return string(cells[0].Bytes)
	}
	tx := begin(t.Context(), t, db, engine.Need{})
	for _, c := range tests {
		if got := ask(tx, c.query); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if err := tx.Close(); err != nil {
		t.Fatal(err)
	}
}
