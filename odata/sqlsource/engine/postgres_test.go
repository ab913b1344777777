package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

func postgres(t testing.TB, parameters string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", dbtest.Postgres(t)+parameters)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// all reads the rows of a statement as text that tells each part of each cell.
func all(t testing.TB, db engine.DB, query string, columns int, args ...any) (rows []string) {
	t.Helper()
	tx, err := db.Begin(t.Context(), engine.Need{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tx.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	cur, err := tx.Query(query, args)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	cells := make([]engine.Cell, columns)
	for {
		ok, err := cur.Next()
		if err == nil && ok {
			err = cur.Row(cells)
		}
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		if !ok {
			break
		}
		var b strings.Builder
		for _, c := range cells {
			fmt.Fprintf(&b, "%d %d %x %q\n", c.Kind, c.Int, math.Float64bits(c.Float), c.Bytes)
		}
		rows = append(rows, b.String())
	}
	if err := cur.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// driven is what database/sql reads, where a day is an instant: its midnight is cut off,
// but only in the years 1 to 9999, where pgx has a fast way.
func driven(t *testing.T, db *sql.DB, query string, args ...any) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	types, err := rows.ColumnTypes()
	if err := errors.Join(err, rows.Err()); err != nil {
		t.Fatal(err)
	}
	list := scanned(t, rows, len(types))
	midnight := regexp.MustCompile(`"(\d{4}-\d\d-\d\d)T00:00:00Z"`)
	for i, row := range list {
		cells := strings.SplitAfter(row, "\n")
		for k, c := range types {
			if c.DatabaseTypeName() == "DATE" && !strings.Contains(cells[k], `"0000-`) {
				cells[k] = midnight.ReplaceAllString(cells[k], `"$1"`)
			}
		}
		list[i] = strings.Join(cells, "")
	}
	return list
}

// scanned is all for what database/sql gives.
func scanned(t *testing.T, rows *sql.Rows, columns int) (list []string) {
	t.Helper()
	values, into := make([]any, columns), make([]any, columns)
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, v := range values {
			var c engine.Cell
			switch v := v.(type) {
			case nil:
			case int64:
				c = engine.Cell{Kind: engine.Int, Int: v}
			case bool:
				c.Kind = engine.Int
				if v {
					c.Int = 1
				}
			case float64:
				c = engine.Cell{Kind: engine.Float, Float: v}
			case string:
				c = engine.Cell{Kind: engine.Text, Bytes: []byte(v)}
			case []byte:
				c = engine.Cell{Kind: engine.Text, Bytes: v}
			case time.Time:
				c = engine.Cell{Kind: engine.Text, Bytes: v.UTC().AppendFormat(nil, time.RFC3339Nano)}
			default:
				t.Fatalf("a column has type %T", v)
			}
			fmt.Fprintf(&b, "%d %d %x %q\n", c.Kind, c.Int, math.Float64bits(c.Float), c.Bytes)
		}
		list = append(list, b.String())
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// What is read below database/sql is what its driver gives.
func TestPostgresReadsWhatTheDriverReads(t *testing.T) {
	db := postgres(t, "")
	for _, tt := range []struct{ name, query string }{
		{"null", `SELECT NULL::int, NULL::text, NULL::numeric, NULL::timestamp`},
		{"integers", `SELECT n::smallint, n::int, n::bigint, (n + 40000)::oid FROM generate_series(-32768, 32767, 4369) n
			UNION ALL SELECT 1, 2147483647, 9223372036854775807, 4294967295 UNION ALL SELECT -1, -2147483648, -9223372036854775808, 0`},
		{"truth", `VALUES (true, false, true, NULL::boolean)`},
		{"doubles", `SELECT x::real, x::float8, -x, 'NaN'::real FROM unnest('{0,-0,0.1,1e-30,1e30,Infinity,-Infinity,NaN}'::float8[]) x`},
		{"numerics", `SELECT x, -x, x * 1e20, x / 3 FROM unnest('{0,0.0,0.000,1,10,100,1000,9999,10000,10001,12345.678,0.1,0.01,0.0001,0.00001,
			0.00010,99999999.99,10000000000,1234567890123456789012345678901234567890.1234567890,1e-30,NaN,Infinity,-Infinity}'::numeric[]) x`},
		{"scales", `SELECT (n * 0.1)::numeric(20, 0), (n * 0.01)::numeric(20, 1), (n * 0.001)::numeric(20, 5), (n * 123)::numeric(30, 10)
			FROM generate_series(-20000, 20000, 37) n`},
		{"days", `SELECT d::date, (d::date)::timestamp, (d::date + interval '1 day' - interval '1 microsecond')::timestamp, d::date - 1
			FROM generate_series(timestamp '0001-01-01', timestamp '2400-12-31', interval '97 days') d`},
		{"bounds of days", `SELECT x, x::timestamp, x + 1, x - 1 FROM unnest('{0001-01-01,0001-12-31,9999-12-31,10000-01-01,294275-12-31,
			0001-12-31 BC,0044-03-15 BC,4713-01-01 BC,2000-02-29,1900-02-28,1999-12-31,2000-01-01,2000-03-01}'::date[]) x`},
		{"no days", `VALUES ('infinity'::date, '-infinity'::date, 'infinity'::timestamp, '-infinity'::timestamptz)`},
		{"instants", `SELECT x, x::timestamptz, x + interval '1 microsecond', x - interval '1 microsecond' FROM unnest('{2024-02-29 23:59:59.999999,
			1999-12-31 23:59:59.5,2000-01-01 00:00:00,1969-12-31 23:59:59.999,0001-01-01 00:00:00,9999-12-31 23:59:59.999999}'::timestamp[]) x`},
		{"texts", `VALUES ('', 'ü"\'::varchar, 'x '::char(4), '"x"'::"char")`},
		{"other types", `SELECT '\x00ff'::bytea, '12:34:56.789'::time, '{"a": 1}'::jsonb, '0b6f8c1e-6d0a-4c8e-9d5e-2f1f0c3b7a99'::uuid`},
		{"types without a form", `SELECT interval '1 day 2 hours', '{1,2}'::int[], '10.0.0.1/8'::inet, 'a'::name`},
		{"xml and json", `SELECT '<a/>'::xml, '[1]'::json, 'a=>1'::text, '(1,2)'::point`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := driven(t, db, tt.query)
			if diff := cmp.Diff(want, all(t, engine.NewPostgres(db), tt.query, 4)); diff != "" {
				t.Errorf("- database/sql, + pgx:\n%s", diff)
			}
		})
	}
}

func TestPostgresSnapshot(t *testing.T) {
	db := postgres(t, "")
	if _, err := db.Exec(`CREATE TABLE things (id INT); INSERT INTO things VALUES (1)`); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		snapshot bool
		want     int64
	}{{"one state", true, 1}, {"each statement its own", false, 2}} {
		t.Run(tt.name, func(t *testing.T) {
			tx, err := engine.NewPostgres(db).Begin(t.Context(), engine.Need{Snapshot: tt.snapshot})
			if err != nil {
				t.Fatal(err)
			}
			count := func() int64 {
				cur, err := tx.Query(`SELECT COUNT(*) FROM things`, nil)
				if err != nil {
					t.Fatal(err)
				}
				cells := make([]engine.Cell, 1)
				if ok, err := cur.Next(); err != nil || !ok {
					t.Fatal(ok, err)
				}
				if err := cur.Row(cells); err != nil {
					t.Fatal(err)
				}
				if err := cur.Close(); err != nil {
					t.Fatal(err)
				}
				return cells[0].Int
			}
			before := count()
			if _, err := db.Exec(`INSERT INTO things VALUES (2)`); err != nil {
				t.Fatal(err)
			}
			if got := count() - before + 1; got != tt.want {
				t.Errorf("%d rows, want %d", got, tt.want)
			}
			if err := tx.Close(); err != nil {
				t.Fatal(err)
			}
			if err := tx.Close(); err != nil {
				t.Fatal("closed twice:", err)
			}
			if n := db.Stats().InUse; n != 0 {
				t.Errorf("%d connections are still taken", n)
			}
		})
	}
}

// A request whose time is up leaves neither a connection that is taken, nor one that still reads.
func TestPostgresGivesUpInTheMiddle(t *testing.T) {
	db := postgres(t, "")
	db.SetMaxOpenConns(1)
	ctx, end := context.WithCancel(t.Context())
	tx, err := engine.NewPostgres(db).Begin(ctx, engine.Need{Snapshot: true})
	if err != nil {
		t.Fatal(err)
	}
	cur, err := tx.Query(`SELECT n, repeat('x', 1000) FROM generate_series(1, 1000000) n`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := cur.Next(); err != nil || !ok {
		t.Fatal(ok, err)
	}
	end()
	for ok := true; ok && err == nil; {
		ok, err = cur.Next()
	}
	if err == nil {
		t.Error("all rows came")
	}
	_ = cur.Close()
	if err := tx.Close(); err != nil {
		t.Error(err)
	}
	if got := all(t, engine.NewPostgres(db), `SELECT 1`, 1); len(got) != 1 {
		t.Error("the pool has no connection left")
	}
}

// A connection that the server has ended is no use, and is not given out twice.
func TestPostgresLostConnection(t *testing.T) {
	db := postgres(t, "")
	tx, err := engine.NewPostgres(db).Begin(t.Context(), engine.Need{})
	if err != nil {
		t.Fatal(err)
	}
	cur, err := tx.Query(`SELECT pg_terminate_backend(pg_backend_pid())`, nil)
	for ok := true; ok && err == nil; { // the row may come before the end
		ok, err = cur.Next()
	}
	if !engine.IsLost(err) {
		t.Errorf("%v is no lost connection", err)
	}
	_ = tx.Close()
	if got := all(t, engine.NewPostgres(db), `SELECT 1`, 1); len(got) != 1 {
		t.Error("the pool has no connection left")
	}
}
