package sqlite3_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // driver "sqlite", to make the file

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
)

// file makes an empty database.
func file(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "app.db")
	db, err := sql.Open("sqlite", name)
	if err == nil {
		_, err = db.Exec("PRAGMA journal_mode=wal; CREATE TABLE things (n INTEGER)")
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

func open(t *testing.T, name string) *sqlite3.Conn {
	t.Helper()
	c, err := sqlite3.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// ask returns the first row of a query, a text for each value.
func ask(t *testing.T, c *sqlite3.Conn, query string, args ...any) (row []string, err error) {
	t.Helper()
	s, err := c.Prepare(query)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for i, a := range args {
		if err := s.Bind(i+1, a); err != nil {
			return nil, err
		}
	}
	if _, err := s.Step(); err != nil {
		return nil, err
	}
	for i := range s.Columns() {
		v := s.Value(i)
		row = append(row, fmt.Sprintf("%d %s", v.Kind(), v.Text()))
	}
	return row, nil
}

func TestValues(t *testing.T) {
	long := strings.Repeat("ä\x00", 5000)
	tests := []struct {
		name, query string
		args        []any
		want        []string
	}{
		{
			"each class", "SELECT NULL, 7, -9223372036854775808, 0.5, 9e999, 'a', '', x'00ff', x''", nil,
			[]string{"0 ", "1 7", "1 -9223372036854775808", "2 0.5", "2 Inf", "3 a", "3 ", "4 \x00\xff", "4 "},
		},
		{
			"classes told otherwise", "SELECT zeroblob(3), CAST(7 AS TEXT), 1 + 0.0, typeof(?), ? || 'x'",
			[]any{long, long},
			[]string{"4 \x00\x00\x00", "3 7", "2 1.0", "3 text", "3 " + long + "x"},
		},
		{
			"parameters", "SELECT ?, ?, ?, ?, ?, ?, ?",
			[]any{nil, true, int64(math.MinInt64), 2.5, "", []byte{}, []byte(nil)},
			[]string{"0 ", "1 1", "1 -9223372036854775808", "2 2.5", "3 ", "4 ", "4 "},
		},
		{"no row", "SELECT 1 WHERE 0", nil, nil},
	}
	c := open(t, file(t))
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := ask(t, c, test.query, test.args...)
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
	s, err := c.Prepare("SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if v := s.Value(0); v.Kind() != sqlite3.KindNull {
		t.Error("there is a value before the first row")
	}
	if err := s.Bind(1, "x"); err == nil {
		t.Error("a parameter that the statement lacks was bound")
	}
	if err := s.Bind(1, struct{}{}); err == nil {
		t.Error("a struct was bound")
	}
}

func TestErrors(t *testing.T) {
	name := file(t)
	c := open(t, name)
	for query, want := range map[string]string{
		"SELECT nope":                      "no such column",
		`SELECT "nope"`:                    "no such column", // and not a text
		"SELECT abs(-9223372036854775808)": "integer overflow",
		"SELEC":                            "syntax error",
	} {
		if _, err := ask(t, c, query); err == nil || !strings.Contains(err.Error(), want) || sqlite3.PrimaryCode(err) != sqlite3.CodeError {
			t.Errorf("%s: %v", query, err)
		}
	}
	if _, err := sqlite3.Open(filepath.Join(t.TempDir(), "none.db")); err == nil {
		t.Error("a file that does not exist was opened")
	}
	uri := url.URL{Scheme: "file", Path: name, RawQuery: "mode=ro"}
	if err := open(t, uri.String()).Exec("INSERT INTO things VALUES (1)"); sqlite3.PrimaryCode(err) != sqlite3.CodeReadOnly {
		t.Errorf("a read-only connection wrote: %v", err)
	}
	writer := open(t, name)
	if err := errors.Join(c.Exec("BEGIN IMMEDIATE"), writer.Exec("SELECT 1")); err != nil {
		t.Fatal(err)
	}
	writer.SetBusyTimeout(time.Millisecond)
	if err := writer.Exec("BEGIN IMMEDIATE"); sqlite3.PrimaryCode(err) != sqlite3.CodeBusy {
		t.Errorf("two connections write: %v", err)
	}
	if c.Autocommit() || !writer.Autocommit() {
		t.Error("a connection is mistaken about its transaction")
	}
	if err := c.Exec("ROLLBACK"); err != nil {
		t.Error(err)
	}
}

// A statement that is in use is prepared once more, and the cache drops the statement that was not used for longest.
func TestStatements(t *testing.T) {
	c := open(t, file(t))
	const query = "WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
	var both [2]*sqlite3.Stmt
	for i := range both {
		s, err := c.Prepare(query)
		if err == nil {
			err = s.Bind(1, int64(10*i))
		}
		if err != nil {
			t.Fatal(err)
		}
		both[i] = s
	}
	for row := range 3 {
		for i, s := range both {
			if ok, err := s.Step(); !ok || err != nil || s.Value(0).Int() != int64(10*i+row) {
				t.Fatalf("statement %d, row %d: %d, %v", i, row, s.Value(0).Int(), err)
			}
		}
	}
	both[0].Close()
	both[1].Close()
	if all, idle := c.Cached(); all != 1 || idle != 1 {
		t.Errorf("%d statements, %d idle, want one", all, idle)
	}
	if got, err := ask(t, c, "SELECT ?"); err != nil || got[0] != "0 " {
		t.Error(got, err)
	}
	for i := range 300 {
		if got, err := ask(t, c, fmt.Sprintf("SELECT %d", i)); err != nil || got[0] != fmt.Sprintf("1 %d", i) {
			t.Fatal(got, err)
		}
		if got, err := ask(t, c, "SELECT ?", "kept"); err != nil || got[0] != "3 kept" {
			t.Fatal(got, err)
		}
	}
	if all, idle := c.Cached(); all > 128 || all != idle {
		t.Errorf("%d statements, %d idle", all, idle)
	}
}

func TestInterrupt(t *testing.T) {
	c := open(t, file(t))
	time.AfterFunc(20*time.Millisecond, c.Interrupt)
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
	if _, err := ask(t, c, endless); sqlite3.PrimaryCode(err) != 9 {
		t.Errorf("the statement was not interrupted: %v", err)
	}
	if _, err := ask(t, c, "SELECT 1"); sqlite3.PrimaryCode(err) != 9 {
		t.Errorf("a statement runs before Resume: %v", err)
	}
	c.Resume()
	if got, err := ask(t, c, "SELECT 1"); err != nil || got[0] != "1 1" {
		t.Error(got, err)
	}
}

// joined is an aggregate of texts. Its state must not be that of another aggregate.
type joined struct{ list []string }

func (j *joined) Step(v sqlite3.Value) error {
	if v.Text() == "bad" {
		return errors.New("a bad value")
	}
	j.list = append(j.list, v.Text())
	return nil
}

func (j *joined) Inverse(sqlite3.Value) error {
	j.list = j.list[1:]
	return nil
}

func (j *joined) Value() (sqlite3.Value, error) {
	return sqlite3.Text(strings.Join(j.list, "+")), nil
}

func TestFunctions(t *testing.T) {
	c := open(t, file(t))
	err := errors.Join(
		c.Aggregate("joined", func() sqlite3.Aggregate { return &joined{} }),
		c.Function("same", 1, func(args []sqlite3.Value) (sqlite3.Value, error) { return args[0], nil }),
		c.Function("made", 1, func(args []sqlite3.Value) (sqlite3.Value, error) {
			made := []sqlite3.Value{sqlite3.Null(), sqlite3.Int(-1), sqlite3.Float(0.5), sqlite3.Float(math.NaN()), sqlite3.Text("t\x00")}
			if n := args[0].Int(); n < int64(len(made)) {
				return made[n], nil
			}
			return sqlite3.Null(), errors.New("there is none")
		}),
		c.Function("number", -1, func(args []sqlite3.Value) (sqlite3.Value, error) { return sqlite3.Int(int64(len(args))), nil }),
	)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ query, want, failure string }{
		{"SELECT same(NULL), same(7), same(0.5), same('x'), same(x'00')", "[0  1 7 2 0.5 3 x 4 \x00]", ""},
		{"SELECT made(0), made(1), made(2), made(3), made(4)", "[0  1 -1 2 0.5 0  3 t\x00]", ""},
		{"SELECT made(9)", "", "there is none"},
		{"SELECT number(), number(1, 2, 3, 4, 5, 6, 7)", "[1 0 1 7]", ""},
		{"SELECT joined(column1), joined(column2) FROM (VALUES ('a', 1), ('b', 2))", "[3 a+b 3 1+2]", ""},
		{"SELECT joined(1) WHERE 0", "[3 ]", ""},
		{"SELECT group_concat(j, ' ') FROM (SELECT joined(column1) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) j FROM (VALUES (1), (2), (3)))", "[3 1 1+2 2+3]", ""},
		{"SELECT joined(column1) FROM (VALUES ('a'), ('bad'))", "", "a bad value"},
	}
	for range 2 { // states are used again
		for _, test := range tests {
			got, err := ask(t, c, test.query)
			if test.failure != "" {
				if err == nil || !strings.Contains(err.Error(), test.failure) {
					t.Errorf("%s: %v", test.query, err)
				}
				continue
			}
			if fmt.Sprint(got) != test.want || err != nil {
				t.Errorf("%s: %q, %v, want %q", test.query, fmt.Sprint(got), err, test.want)
			}
		}
	}
}

// TestStatementsWithinBytes holds that a connection keeps no more statements than MaxBytes, and the last one in any case.
func TestStatementsWithinBytes(t *testing.T) {
	c := open(t, file(t))
	c.MaxBytes = 64 << 10
	for i := range 100 {
		run(t, c, fmt.Sprintf("SELECT 1 WHERE %d IN (%s0)", i, strings.Repeat("random(), ", 40)))
	}
	few, _ := c.Cached()
	if few < 1 || few > 50 {
		t.Errorf("it keeps %d statements in 64 KiB", few)
	}
	c.MaxBytes = 1
	run(t, c, "SELECT 2")
	if n, _ := c.Cached(); n != 1 {
		t.Errorf("it keeps %d statements in one byte", n)
	}
	run(t, c, "SELECT 2")
}
