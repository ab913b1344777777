package engine_test

import (
	"path/filepath"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// TestOutOfRange computes on SQLite what leaves its range, and what does not.
func TestOutOfRange(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "app.db")
	created, err := sqlx.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	created.MustExec("CREATE TABLE things (id INTEGER PRIMARY KEY)")
	if err := created.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := engine.OpenSQLite(file, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	tests := []struct{ name, query, want string }{
		{"sum of integers", "SELECT ves_whole(9223372036854775807 + 1)", ""},
		{"integer", "SELECT ves_whole(9223372036854775806 + 1)", "9223372036854775807"},
		{"date behind 9999", "SELECT ves_shift('9999-12-31', 86400000000, '+')", ""},
		{"last date", "SELECT ves_shift('9999-12-30', 86400000000, '+')", "9999-12-31"},
		{"date before 1", "SELECT ves_shift('0001-01-01', 1, '-')", ""},
		{"instant behind 9999", "SELECT ves_shift('9999-12-31 23:59:59.000000000', 1000000, '+')", ""},
		{"instant by more than all years", "SELECT ves_shift('2024-01-15 00:00:00.000000000', 9223372036854775807, '+')", ""},
		{"time of day goes round", "SELECT ves_shift('23:59:59.000000000', 2000001, '+')", "00:00:01.000001000"},
		{"time of day by many days", "SELECT ves_shift('00:00:00.000000000', 8640000000000000000, '-')", "00:00:00.000000000"},
		{"text that is no date", "SELECT ves_shift('soon', 1, '+')", ""},
		{"long difference", "SELECT ves_between('0001-01-01', '9999-12-31 23:59:59.999999000')", "315537897599999999"},
		{"stored seconds", "SELECT ves_micros(1.5)", "1500000"},
		{"stored text", "SELECT ves_micros('-P1DT0.000001S')", "-86400000001"},
		{"stored seconds, too many", "SELECT ves_micros(9223372036855)", ""},
		{"half of a microsecond", "SELECT ves_compute('div:Duration:Duration,Int64', -1, 2)", "-1"},
		{"product out of range", "SELECT ves_compute('mul:Duration:Duration,Double', 9223372036854775807, 1.5)", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tx, err := db.Begin(t.Context(), engine.Need{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Close() }()
			cur, err := tx.Query("SELECT CAST(x AS TEXT) FROM ("+tt.query+" AS x)", nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = cur.Next(); err != nil {
				t.Fatalf("error %v", err)
			}
			cells := make([]engine.Cell, 1)
			if err := cur.Row(cells); err != nil || string(cells[0].Bytes) != tt.want {
				t.Errorf("got %s, want %s; %v", cells[0].Bytes, tt.want, err)
			}
		})
	}
}
