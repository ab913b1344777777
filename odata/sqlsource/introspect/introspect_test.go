package introspect_test

import (
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	_ "modernc.org/sqlite"             // driver "sqlite", to fill the database

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
)

// TestSQLite reads types from the pragmas of SQLite, and from stored values where these tell nothing.
func TestSQLite(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "app.db")
	fill(t, "sqlite", file, `
CREATE TABLE Orders (no INTEGER, line INTEGER, sku VARCHAR(20) NOT NULL, ref TEXT, PRIMARY KEY (line, no));
CREATE UNIQUE INDEX by_sku ON orders (sku);
CREATE UNIQUE INDEX by_ref ON orders (ref);
CREATE UNIQUE INDEX by_part ON orders (no) WHERE line = 1;
CREATE UNIQUE INDEX by_expr ON orders (lower(sku));
CREATE TABLE lines (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, up INTEGER REFERENCES LINES, total DECIMAL(10, 2) AS (a * b),
	FOREIGN KEY (a, b) REFERENCES orders (LINE, NO));
CREATE TABLE days (id INTEGER PRIMARY KEY, z DATETIME, t DATETIME, unix TIMESTAMP, mixed DATETIME, none DATETIME, d DATE, u UUID, raw UUID);
INSERT INTO days VALUES (1, '2024-01-15T10:30:00Z', '2024-01-15T10:30:00', 0, '2024-01-15 10:30:00', NULL, '2024-01-15',
	'0a0b0c0d-0000-0000-0000-000000000001', X'000102030405060708090a0b0c0d0e0f');
INSERT INTO days VALUES (2, NULL, NULL, -5, 7, NULL, NULL, 'FFFFFFFF-0000-0000-0000-000000000001', NULL);
CREATE VIEW totals AS SELECT id, total * 1.5 AS price, a || '' AS word FROM lines;
INSERT INTO orders VALUES (1, 1, 'x', NULL);
INSERT INTO lines (id, a, b) VALUES (1, 1, 1);
CREATE VIRTUAL TABLE found USING fts5(sku, ref UNINDEXED, content='Orders')`)
	db, err := engine.OpenSQLite(file, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	check(t, db, "sqlite", `
Orders key(line, no) unique(sku) search(found: sku, ref)
  no integer null
  line integer null
  sku varchar(20)
  ref text null
days key(id)
  id integer
  z datetime null as z
  t datetime null as t
  unix timestamp null as unix
  mixed datetime null as mixed
  none datetime null as mixed
  d date null as text
  u uuid null as mixed
  raw uuid null as blob
lines key(id) (up)->lines(id) (a, b)->Orders(line, no)
  id integer
  a integer null
  b integer null
  up integer null
  total decimal(10,2) null generated
totals view
  id integer null
  price real null
  word text null
`)
	if _, err := introspect.Read(t.Context(), db, "oracle"); err == nil || !strings.Contains(err.Error(), `"oracle"`) {
		t.Errorf("an unknown dialect: %v", err)
	}
}

// A view may outlive its table. It is marked, and the others are read.
func TestABrokenViewIsMarked(t *testing.T) {
	t.Parallel()
	const script = `CREATE TABLE kept (id INTEGER PRIMARY KEY);
CREATE TABLE old (a INTEGER);
CREATE VIEW fine AS SELECT id FROM kept;
CREATE VIEW stale AS SELECT a FROM old;
DROP TABLE old`
	for _, dialect := range []string{"sqlite", "mysql"} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			var db engine.DB
			if dialect == "mysql" {
				my, err := engine.NewMySQL(t.Context(), fill(t, "mysql", dbtest.MySQL(t), script))
				if err != nil {
					t.Fatal(err)
				}
				db = my
			} else {
				file := filepath.Join(t.TempDir(), "app.db")
				fill(t, "sqlite", file, script)
				lite, err := engine.OpenSQLite(file, 0, 0)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = lite.Close() })
				db = lite
			}
			found, err := introspect.Read(t.Context(), db, dialect)
			if err != nil {
				t.Fatal(err)
			}
			broken := map[string]bool{}
			for _, table := range found.Tables {
				broken[table.Name] = table.Broken != nil && strings.Contains(table.Broken.Error(), "stale")
			}
			if want := (map[string]bool{"kept": false, "fine": false, "stale": true}); !maps.Equal(broken, want) {
				t.Errorf("got %v, want %v", broken, want)
			}
		})
	}
}

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	dsn := dbtest.Postgres(t)
	db := fill(t, "pgx", dsn, `
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE DOMAIN amount AS numeric(12, 3) NOT NULL;
CREATE TABLE orders (no bigint, line bigint, sku varchar(20) NOT NULL, ref text COLLATE "C", worth amount, feels mood,
	twice bigint GENERATED ALWAYS AS (no * 2) STORED, gone int, PRIMARY KEY (line, no));
ALTER TABLE orders DROP COLUMN gone;
COMMENT ON TABLE orders IS 'What was ordered';
COMMENT ON COLUMN orders.sku IS 'Article';
CREATE UNIQUE INDEX by_sku ON orders (sku);
CREATE UNIQUE INDEX by_ref ON orders (ref);
CREATE UNIQUE INDEX by_part ON orders (no) WHERE line = 1;
CREATE UNIQUE INDEX by_expr ON orders (lower(sku));
CREATE UNIQUE INDEX by_more ON orders (line, sku) INCLUDE (no);
CREATE SCHEMA other;
CREATE TABLE other.lines (id bigint PRIMARY KEY, a bigint, b bigint, FOREIGN KEY (a, b) REFERENCES orders (line, no));
CREATE TABLE parts (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (9);
CREATE VIEW totals AS SELECT no, count(*) AS n FROM orders GROUP BY no`)
	check(t, engine.NewPostgres(db), "postgres", `
orders "What was ordered" key(line, no) unique(sku)
  no bigint
  line bigint
  sku character varying(20) collate default "Article"
  ref text null collate C
  worth numeric(12,3)
  feels enum null
  twice bigint null generated
parts key(id)
  id bigint
totals view
  no bigint null
  n bigint null
other.lines key(id) (a, b)->orders(line, no)
  id bigint
  a bigint null
  b bigint null
`)
}

func TestMariaDB(t *testing.T) {
	t.Parallel()
	db := fill(t, "mysql", dbtest.MySQL(t), `
CREATE TABLE orders (no BIGINT, line BIGINT UNSIGNED, sku VARCHAR(20) COLLATE utf8mb4_bin NOT NULL COMMENT 'Article', ref VARCHAR(9) COLLATE utf8mb4_bin,
	flag TINYINT(1) NOT NULL, small TINYINT(3) UNSIGNED, worth DECIMAL(12,3), PRIMARY KEY (line, no), UNIQUE again (no, line), UNIQUE by_sku (sku), UNIQUE by_ref (ref),
	FULLTEXT words (sku, ref)) COMMENT 'What was ordered';
CREATE TABLE `+"`lines`"+` (id BIGINT PRIMARY KEY, a BIGINT UNSIGNED, b BIGINT, FOREIGN KEY (a, b) REFERENCES orders (line, no));
CREATE VIEW totals AS SELECT no FROM orders`)
	source, err := engine.NewMySQL(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	check(t, source, "mysql", `
lines key(id) (a, b)->orders(line, no)
  id bigint
  a bigint unsigned null
  b bigint null
orders "What was ordered" key(line, no) unique(sku) search(: sku, ref)
  no bigint
  line bigint unsigned
  sku varchar(20) collate utf8mb4_bin "Article"
  ref varchar(9) null collate utf8mb4_bin
  flag boolean
  small tinyint unsigned null
  worth decimal(12,3) null
totals view
  no bigint
`)
}

// fill runs a script, statement by statement.
func fill(t *testing.T, driver, dsn, script string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range strings.Split(script, ";\n") {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return db
}

func check(t *testing.T, db engine.DB, dialect, want string) {
	t.Helper()
	found, err := introspect.Read(t.Context(), db, dialect)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteByte('\n')
	for _, table := range found.Tables {
		describe(&b, table)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// describe writes a table in one line, and a line for each column.
func describe(b *strings.Builder, t *introspect.Table) {
	if t.Schema != "" {
		b.WriteString(t.Schema + ".")
	}
	b.WriteString(t.Name)
	if t.View {
		b.WriteString(" view")
	}
	if t.Comment != "" {
		fmt.Fprintf(b, " %q", t.Comment)
	}
	if t.Key != nil {
		fmt.Fprintf(b, " key(%s)", strings.Join(t.Key, ", "))
	}
	for _, u := range t.Unique {
		fmt.Fprintf(b, " unique(%s)", strings.Join(u, ", "))
	}
	for _, f := range t.Foreign {
		fmt.Fprintf(b, " (%s)->%s(%s)", strings.Join(f.Columns, ", "), f.Table, strings.Join(f.Referenced, ", "))
	}
	if t.Search != nil {
		fmt.Fprintf(b, " search(%s: %s)", t.Search.Table, strings.Join(t.Search.Columns, ", "))
	}
	b.WriteByte('\n')
	for _, c := range t.Columns {
		b.WriteString("  " + c.Name + " " + c.Type)
		switch {
		case strings.Contains(c.Type, "char"):
			fmt.Fprintf(b, "(%d)", c.Length)
		case strings.Contains(c.Type, "decimal"), c.Type == "numeric":
			fmt.Fprintf(b, "(%d,%d)", c.Precision, c.Scale)
		}
		for _, word := range []struct {
			text string
			on   bool
		}{{" null", c.Nullable}, {" generated", c.Generated}, {" as " + c.Stored, c.Stored != ""}, {" collate " + c.Collation, c.Collation != ""}} {
			if word.on {
				b.WriteString(word.text)
			}
		}
		if c.Comment != "" {
			fmt.Fprintf(b, " %q", c.Comment)
		}
		b.WriteByte('\n')
	}
}
