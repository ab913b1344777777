package sqlsource_test

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestSharedParents expands the targets of to-one navigation in no order, with more rows below it than are held at a time:
// each statement reads what is written next and little more.
func TestSharedParents(t *testing.T) {
	t.Parallel()
	const each, top = 150, 200
	file := filepath.Join(t.TempDir(), "app.db")
	db := sqlx.MustOpen("sqlite", file)
	db.MustExec("CREATE TABLE categories (id INTEGER PRIMARY KEY)")
	db.MustExec("CREATE TABLE products (id INTEGER PRIMARY KEY, category_id INTEGER NOT NULL REFERENCES categories(id))")
	db.MustExec("CREATE INDEX of_category ON products (category_id)")
	const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
	db.MustExec(numbers+"INSERT INTO categories SELECT i FROM n", 300)
	db.MustExec(numbers+"INSERT INTO products SELECT i, i * 7 % 300 + 1 FROM n", 300*each)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, sqlsource.Database{Dialect: "sqlite", DSN: file}, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"categories", "products"}})
	p, err := s.plan("products?$top=200&$expand=category($expand=products)", 0)
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Explain(t.Context(), p, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, st := range e.Statements {
		read += st.Rows
	}
	if len(e.Statements) > top+5 || read > 2*top*each {
		t.Errorf("%d statements read %d rows for %d", len(e.Statements), read, top*each)
	}
	rows, err := s.Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	written := 0
	for rows.Next() {
		want := rows.Row()[1].Int
		category := rows.Expand(0)
		if !category.Next() || category.Row()[0].Int != want {
			t.Fatalf("no category %d", want)
		}
		for products := category.Expand(0); products.Next(); written++ {
			if got := products.Row()[1].Int; got != want {
				t.Fatalf("a product of category %d below %d", got, want)
			}
		}
	}
	if err := rows.Err(); err != nil || written != top*each {
		t.Errorf("%d products, want %d: %v", written, top*each, err)
	}
}

// TestManyRowsOfTextKeys expands parents with many children whose keys are texts.
func TestManyRowsOfTextKeys(t *testing.T) {
	t.Parallel()
	const parents, each = 20, 150
	file := filepath.Join(t.TempDir(), "app.db")
	db := sqlx.MustOpen("sqlite", file)
	db.MustExec("CREATE TABLE categories (code TEXT PRIMARY KEY)")
	db.MustExec("CREATE TABLE products (id INTEGER PRIMARY KEY, code TEXT NOT NULL REFERENCES categories(code))")
	const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
	db.MustExec(numbers+"INSERT INTO categories SELECT CASE WHEN i % 2 THEN 'key' ELSE 'KEY' END || (i / 2) FROM n", parents)
	db.MustExec("INSERT INTO products WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT NULL, code FROM n, categories", each)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, sqlsource.Database{Dialect: "sqlite", DSN: file}, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"categories", "products"}})
	for _, options := range []string{"", "($top=149)", "($skip=1)", "($skip=1;$top=3)", "($top=0)"} {
		p, err := s.plan("categories?$expand=products"+options, 0)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := s.Open(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		written := int64(0)
		for rows.Next() {
			want := string(rows.Row()[0].Bytes)
			for products := rows.Expand(0); products.Next(); written++ {
				if got := string(products.Row()[1].Bytes); got != want {
					t.Fatalf("%s: a product of %s below %s", options, got, want)
				}
			}
		}
		page := p.Top.Expand[0].Page
		if want := parents * min(each-page.Skip, page.Rows); written != want {
			t.Errorf("%s: %d products, want %d: %v", options, written, want, rows.Err())
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}
}
