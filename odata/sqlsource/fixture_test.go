package sqlsource_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite" // driver "sqlite", to fill the databases

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// dialects are the databases that every answer must be the same on.
func dialects() []string { return []string{"sqlite", "postgres", "mysql"} }

// shopDDL is the shop of these tests; types in braces differ between databases.
const shopDDL = `
CREATE TABLE users (id {BIG} PRIMARY KEY, email {STR}, password {STR});
CREATE TABLE vestibule_sessions (id {BIG} PRIMARY KEY, secret {STR});
CREATE TABLE categories (id {BIG} PRIMARY KEY, name {STR} NOT NULL, parent_id {BIG} REFERENCES categories (id), owner {BIG});
CREATE TABLE products (
	id {BIG} PRIMARY KEY, name {STR} NOT NULL, sku {STR} NOT NULL UNIQUE, price {DEC}, weight {DBL}, stock {INT} NOT NULL,
	active {BOOL} NOT NULL, status {INT}, released {TS}, day {DATE}, opens {TIME}, uid {UUID}, data {BIN}, note {STR},
	category_id {BIG}, cost {DEC}, tenant {BIG} NOT NULL, ship_street {STR}, ship_city {STR},
	FOREIGN KEY (category_id) REFERENCES categories (id));
CREATE TABLE tags (id {BIG} PRIMARY KEY, label {STR} NOT NULL);
CREATE TABLE product_tags (product_id {BIG} NOT NULL, tag_id {BIG} NOT NULL);
CREATE TABLE "Order Details" (
	"order no" {BIG} NOT NULL, line {BIG} NOT NULL, product_id {BIG} NOT NULL, "unit price" {DEC} NOT NULL, "2nd" {STR},
	PRIMARY KEY ("order no", line), FOREIGN KEY (product_id) REFERENCES products (id));
CREATE VIEW cheap AS SELECT id, name, price FROM products WHERE price < 10;
CREATE TABLE company (id {BIG} PRIMARY KEY, name {STR});
INSERT INTO users VALUES (1, 'a@b.c', 'secret');
INSERT INTO vestibule_sessions VALUES (1, 'secret');
INSERT INTO company VALUES (1, 'Vestibule');
INSERT INTO categories VALUES (1, 'Tools', NULL, 1), (2, 'Hammers', 1, 1), (3, 'tools', NULL, 2), (4, 'Empty', 1, NULL);
INSERT INTO products VALUES
(1, 'Hammer', 'A1', 10.50, 1.5, 5, {T}, 1, '2024-01-15 10:30:00{Z}', '2024-01-15', '08:00:00', '0a0b0c0d-0000-0000-0000-000000000001', {X}'00ff', 'heavy', 2, 4.10, 1, 'Main St', 'Bern'),
(2, 'hammer', 'a1x', 9.99, 0.1, 0, {F}, 3, '2024-02-29 23:59:59{Z}', '2024-02-29', '23:59:59', '0A0B0C0D-0000-0000-0000-00000000000F', NULL, NULL, 2, 3.00, 1, NULL, 'bern'),
(3, 'Äpfel 100%', 'B_1', 0.30, 2.5, 7, {T}, 4, NULL, NULL, NULL, NULL, NULL, ' pad ', 1, NULL, 2, NULL, NULL),
(4, 'Saw_Blade', 'B%1', NULL, NULL, -3, {T}, NULL, '1999-12-31 00:00:00{Z}', '1999-12-31', '00:00:00', NULL, NULL, '', NULL, NULL, 2, 'Elm', 'Ulm'),
(5, 'Ham', 'C', 100.00, 1e20, 100, {F}, 0, '2024-01-15 10:30:01{Z}', '2024-01-16', '12:30:45', 'ffffffff-ffff-ffff-ffff-ffffffffffff', NULL, 'O''Neil', 3, 50.00, 1, NULL, NULL),
(6, '𝄞 clef', 'D', 5.00, 0.5, 2, {T}, 2, '2024-01-15 10:30:00{Z}', '2024-01-15', '08:00:01', NULL, NULL, 'Straße', 1, NULL, 1, NULL, NULL),
(7, '｡half', 'E', 5.00, -0.5, 2, {T}, 1, NULL, NULL, NULL, NULL, NULL, 'a', 1, NULL, 1, NULL, NULL);
INSERT INTO tags VALUES (1, 'red'), (2, 'blue'), (3, 'unused');
INSERT INTO product_tags VALUES (1, 1), (1, 2), (2, 1), (1, 1);
INSERT INTO "Order Details" VALUES (1, 1, 1, 10.00, 'x'), (1, 2, 2, 9.00, NULL), (2, 1, 1, 11.25, 'y');
`

func ddl(dialect string) string { return ddlOf(dialect, shopDDL) }

// ddlOf spells the types of a script for a dialect.
func ddlOf(dialect, script string) string {
	types := map[string][]string{
		"sqlite": {
			"{BIG}", "INTEGER", "{INT}", "INTEGER", "{STR}", "VARCHAR(80)", "{DEC}", "DECIMAL(10,2)", "{DBL}", "REAL", "{BOOL}", "BOOLEAN",
			"{TS}", "DATETIME", "{DATE}", "DATE", "{TIME}", "TIME", "{UUID}", "UUID", "{BIN}", "BLOB", "{T}", "1", "{F}", "0", "{Z}", "", "{X}", "X",
		},
		"postgres": {
			"{BIG}", "bigint", "{INT}", "integer", "{STR}", "varchar(80)", "{DEC}", "numeric(10,2)", "{DBL}", "double precision", "{BOOL}", "boolean",
			"{TS}", "timestamptz", "{DATE}", "date", "{TIME}", "time", "{UUID}", "uuid", "{BIN}", "bytea", "{T}", "true", "{F}", "false", "{Z}", "+00", "{X}'", `'\x`,
		},
		"mysql": {
			"{BIG}", "BIGINT", "{INT}", "INT", "{STR}", "VARCHAR(80)", "{DEC}", "DECIMAL(10,2)", "{DBL}", "DOUBLE", "{BOOL}", "BOOLEAN",
			"{TS}", "DATETIME(6)", "{DATE}", "DATE", "{TIME}", "TIME(6)", "{UUID}", "UUID", "{BIN}", "BLOB", "{T}", "1", "{F}", "0", "{Z}", "", "{X}", "X", `"`, "`",
		},
	}
	return strings.NewReplacer(types[dialect]...).Replace(script)
}

// database makes a filled database of a dialect.
func database(t testing.TB, dialect, script string) sqlsource.Database {
	t.Helper()
	return databaseWith(t, dialect, "", script)
}

// databaseWith is database with further parameters for the driver.
func databaseWith(t testing.TB, dialect, parameters, script string) sqlsource.Database {
	t.Helper()
	var driver, dsn string
	switch dialect {
	case "sqlite":
		driver, dsn = "sqlite", filepath.Join(t.TempDir(), "shop.db")
	case "postgres":
		driver, dsn = "pgx", dbtest.Postgres(t)
	case "mysql":
		driver, dsn = "mysql", dbtest.MySQL(t)
	}
	dsn += parameters
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	fill(t, db, script)
	return sqlsource.Database{Dialect: dialect, DSN: dsn, DB: sqlx.NewDb(db, driver)}
}

// fill runs the statements of a script.
func fill(t testing.TB, db *sql.DB, script string) {
	t.Helper()
	for _, statement := range strings.Split(script, ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// shopConfig exposes the shop with every option of a mapping.
func shopConfig() sqlsource.Config {
	ten := 10
	return sqlsource.Config{
		Namespace: "Shop", Protected: reserved.Table, Guard: edm.GuardNone, Discover: []string{"tags", "users", "Order Details"},
		EntitySets: []sqlsource.EntitySet{
			{Name: "Categories", Table: "categories", Hide: []string{"owner"}, Navigations: []sqlsource.Navigation{
				{Name: "products", To: "Products", Many: true, On: map[string]string{"id": "category_id"}},
			}},
			{
				Name: "Products", Table: "products", Type: "Product", Hide: []string{"cost", "tenant"}, Search: []string{"name", "note"},
				Properties: []sqlsource.Property{
					{Column: "status", Name: "Status", Type: "Status"},
					{Column: "price", Precision: &ten},
				},
				Complexes: []sqlsource.Complex{{Type: "Address", Name: "ship", Prefix: "ship_"}},
				Navigations: []sqlsource.Navigation{
					{Name: "category", To: "Categories", On: map[string]string{"category_id": "id"}},
					{Name: "tags", To: "tags", Many: true, Via: "product_tags", FromKey: "product_id", ToKey: "tag_id"},
				},
			},
			{Name: "Mine", Table: "products", Hide: []string{"tenant"}, Guard: "session", Filter: "tenant eq @user_partner_id", Navigations: []sqlsource.Navigation{
				{Name: "group", To: "Owned", On: map[string]string{"category_id": "id"}},
			}},
			{Name: "Owned", Table: "categories", Hide: []string{"owner"}, Guard: "session", Filter: "owner eq @user_partner_id", Navigations: []sqlsource.Navigation{
				{Name: "items", To: "Mine", Many: true, On: map[string]string{"id": "category_id"}},
			}},
			{Name: "Cheap", Table: "cheap", Key: []string{"id"}},
		},
		Enums:      []sqlsource.Enum{{Name: "Status", Flags: true, Members: map[string]int64{"None": 0, "InStock": 1, "OnSale": 2, "Old": 4}}},
		Singletons: []sqlsource.EntitySet{{Name: "Company", Table: "company"}},
	}
}

// shop is a source with what plans need.
type shop struct {
	*sqlsource.Source
	binder  *bind.Binder
	caller  plan.Caller
	limits  plan.Limits
	dialect string
}

func open(t testing.TB, db sqlsource.Database, cfg sqlsource.Config) *shop {
	t.Helper()
	src, err := sqlsource.New(context.Background(), db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	})
	p, err := bind.New(src.Model())
	if err != nil {
		t.Fatal(err)
	}
	return &shop{Source: src, binder: p, dialect: db.Dialect}
}

func openShop(t testing.TB, dialect string) *shop {
	t.Helper()
	return open(t, database(t, dialect, ddl(dialect)), shopConfig())
}

// plan binds a target that is written without percent-encoding.
func (s *shop) plan(target string, prefer int64) (*plan.Plan, error) {
	path, query, _ := strings.Cut(target, "?")
	escape := strings.NewReplacer("%", "%25", " ", "%20", "+", "%2B", "#", "%23")
	target = escape.Replace(path)
	if query != "" {
		target += "?" + escape.Replace(query)
	}
	req, err := syntax.Parse(target, syntax.Options{Functions: function.Arity})
	if err != nil {
		return nil, err
	}
	return s.binder.Plan(req, bind.Options{
		Limits: s.limits, Prefer: prefer, Caller: s.caller, Now: time.Date(2024, 6, 1, 12, 0, 0, 0, time.UTC),
	})
}

// explain runs a request and tells how the database goes about it.
func (s *shop) explain(t *testing.T, target string) plan.Explanation {
	t.Helper()
	p, err := s.plan(target, 0)
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	e, err := s.Explain(t.Context(), p, io.Discard)
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	return e
}

// get answers a target in a short notation: rows in brackets, values parted by commas, expanded rows in braces, "+"
// where a next link is due, "#n" for a total, and a fault as its kind.
func (s *shop) get(target string) string {
	p, err := s.plan(target, 0)
	if err != nil {
		return faultOf(err)
	}
	rows, err := s.Open(context.Background(), p)
	if err != nil {
		return faultOf(err)
	}
	defer func() { _ = rows.Close() }()
	out := render(rows, p.Top)
	if p.Kind == plan.RawCount {
		out = fmt.Sprint(rows.Count())
	}
	if err := rows.Err(); err != nil {
		return faultOf(err)
	}
	return out
}

func faultOf(err error) string {
	var p *plan.Error
	var s *syntax.Error
	switch {
	case errors.As(err, &p):
		return [...]string{"400", "404", "401", "403", "501", "503", "400"}[p.Kind]
	case errors.As(err, &s) && s.NotImplemented():
		return "501"
	case errors.As(err, &s):
		return "400"
	}
	return "fault: " + err.Error()
}

func render(rows plan.Rows, n *plan.Node) string {
	var b strings.Builder
	for rows.Next() {
		b.WriteByte('[')
		row := rows.Row()
		if n.Ref {
			for i, c := range n.Key {
				sep(&b, i)
				b.WriteString(value(row[c], n.Columns[c].T))
			}
		}
		fields(&b, n.Fields, row)
		for i, x := range n.Expand {
			b.WriteString(" {" + render(rows.Expand(i), x) + "}")
		}
		b.WriteByte(']')
	}
	if rows.More() {
		b.WriteByte('+')
	}
	if n.Count {
		fmt.Fprintf(&b, "#%d", rows.Count())
	}
	return b.String()
}

func sep(b *strings.Builder, i int) {
	if i > 0 {
		b.WriteByte(',')
	}
}

func fields(b *strings.Builder, list []plan.Field, row []plan.Value) {
	for i, f := range list {
		sep(b, i)
		if f.Column < 0 {
			b.WriteByte('(')
			fields(b, f.Fields, row)
			b.WriteByte(')')
			continue
		}
		b.WriteString(value(row[f.Column], f.T))
	}
}

func value(v plan.Value, t edm.Type) string {
	switch k := t.Kind; {
	case v.Null:
		return "null"
	case k == edm.Double || k == edm.Single:
		return fmt.Sprint(v.Float)
	case k == edm.Binary:
		return fmt.Sprintf("%x", v.Bytes)
	case k.Integer() || k == edm.Boolean || k == edm.Enum:
		return fmt.Sprint(v.Int)
	}
	return string(v.Bytes)
}
