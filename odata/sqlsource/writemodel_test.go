package sqlsource_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// ordersDDL are tables of every rule that a write can break; types in braces are those of ddlOf, and {ID} is a key that the
// database counts.
const ordersDDL = `
CREATE TABLE customers (id {BIG} PRIMARY KEY, tenant {BIG} NOT NULL, name {STR} NOT NULL);
CREATE TABLE orders (
	id {ID}, tenant {BIG} NOT NULL, code {STR} NOT NULL, slot {INT}, total {DEC}, at {TS}, note VARCHAR(2000) DEFAULT 'new', customer_id {BIG}, ver {INT},
	ship_city {STR}, half {DEC} GENERATED ALWAYS AS (total / 2) STORED,
	CONSTRAINT positive CHECK (total >= 0), CONSTRAINT one_code UNIQUE (tenant, code), CONSTRAINT one_slot UNIQUE (slot),
	CONSTRAINT of_customer FOREIGN KEY (customer_id) REFERENCES customers (id));
CREATE TABLE parts (order_id {BIG} NOT NULL, line {INT} NOT NULL, text {STR}, PRIMARY KEY (order_id, line), FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE);
CREATE TABLE marks (id {BIG} PRIMARY KEY, order_id {BIG}, CONSTRAINT of_order FOREIGN KEY (order_id) REFERENCES orders (id));
CREATE TABLE loose (a {BIG}, b {BIG});
CREATE VIEW many AS SELECT id, tenant, total FROM orders;
INSERT INTO customers VALUES (1, 1, 'Ada'), (2, 2, 'Bob');
INSERT INTO orders (id, tenant, code, slot, total, ver) VALUES (1, 1, 'a', 1, 10.00, 1), (2, 1, 'b', 2, 20.00, 1), (3, 2, 'a', 3, 30.00, NULL);
INSERT INTO marks VALUES (1, 1);
INSERT INTO parts VALUES (2, 1, 'x');
`

// orders makes a filled database of a dialect.
func orders(t testing.TB, dialect string) sqlsource.Database {
	t.Helper()
	return database(t, dialect, ordersScript(dialect))
}

func ordersScript(dialect string) string {
	counted := map[string]string{"sqlite": "INTEGER PRIMARY KEY", "postgres": "bigserial PRIMARY KEY", "mysql": "BIGINT PRIMARY KEY AUTO_INCREMENT"}
	script := strings.ReplaceAll(ddlOf(dialect, ordersDDL), "{ID}", counted[dialect])
	if dialect == "postgres" {
		script += ";\nSELECT setval('orders_id_seq', 3)"
	}
	return script
}

// ordersConfig exposes the orders of a tenant.
func ordersConfig(change func(*sqlsource.EntitySet)) sqlsource.Config {
	s := sqlsource.EntitySet{
		Name: "Orders", Table: "orders", Hide: []string{"tenant"}, Filter: "tenant eq @user_tenant",
		Complexes: []sqlsource.Complex{{Type: "Address", Name: "ship", Prefix: "ship_"}},
		Write: &sqlsource.Write{
			Create: true, Update: true, Delete: true, Set: map[string]string{"tenant": "@user_tenant"}, Touch: map[string]string{"at": "@now"},
			Fixed: []string{"ship_city"}, Version: "ver",
		},
	}
	if change != nil {
		change(&s)
	}
	return sqlsource.Config{EntitySets: []sqlsource.EntitySet{s, {Name: "Customers", Table: "customers", Hide: []string{"tenant"}, Filter: "tenant eq @user_tenant"}}}
}

func TestModelSaysWhatMayBeWritten(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			src := open(t, orders(t, dialect), ordersConfig(nil)).Source
			set := src.Model().Set("Orders")
			access := map[string]edm.Access{}
			for _, p := range set.Type.Properties {
				if p.Type.Kind == edm.Complex {
					access[p.Name+"/city"] = set.Access(p, p.Type.Complex.Property("city"))
					continue
				}
				access[p.Name] = set.Access(p)
			}
			want := map[string]edm.Access{
				"id": edm.Computed, "code": edm.Free, "slot": edm.Free, "total": edm.Free, "at": edm.Computed, "note": edm.Free, "customer_id": edm.Free,
				"ver": edm.Computed, "ship/city": edm.Immutable, "half": edm.Computed,
			}
			if diff := cmp.Diff(want, access); diff != "" {
				t.Error(diff)
			}
			if !set.Type.Property("note").Defaulted || set.Type.Property("code").Defaulted || set.Write.Version != set.Type.Property("ver") {
				t.Error("a default or the version is wrong")
			}
			if diff := cmp.Diff([]sqlsource.Cascade{{Set: "Orders", Table: "parts", Effect: "deletes"}}, src.Cascades()); diff != "" {
				t.Error(diff)
			}
			columns, err := src.PolicyColumns()
			if err != nil || len(columns) != 3 || columns[1].Path[2] != "write" || columns[1].Column != "tenant" {
				t.Errorf("%v, %v", columns, err)
			}
		})
	}
}

func TestWhatCannotBeWrittenIsFound(t *testing.T) {
	write := func(change func(*sqlsource.Write)) sqlsource.Config {
		return ordersConfig(func(s *sqlsource.EntitySet) { change(s.Write) })
	}
	table := func(name string) sqlsource.Config {
		return ordersConfig(func(s *sqlsource.EntitySet) {
			*s = sqlsource.EntitySet{Name: "Orders", Table: name, Key: s.Key, Write: &sqlsource.Write{Update: true}}
		})
	}
	loose := table("loose")
	loose.EntitySets[0].Key = []string{"a"}
	view := table("many")
	view.EntitySets[0].Key = []string{"id"}
	for name, c := range map[string]struct {
		cfg  sqlsource.Config
		want string
	}{
		"view":            {view, `entity_set.Orders.write: "many" is a view, and views cannot be written`},
		"key":             {loose, `entity_set.Orders.write: the database does not keep the key of "loose" unique`},
		"no key":          {table("loose"), `entity_set.Orders.key: "loose" has no primary key`},
		"singleton":       {sqlsource.Config{Singletons: []sqlsource.EntitySet{{Name: "One", Table: "customers", Write: &sqlsource.Write{}}}}, `singleton.One.write: a singleton cannot be written`},
		"set":             {write(func(w *sqlsource.Write) { w.Set = map[string]string{"tenent": "1"} }), `entity_set.Orders.write.set.tenent: no column "tenent": did you mean "tenant"?`},
		"computed":        {write(func(w *sqlsource.Write) { w.Touch = map[string]string{"half": "1"} }), `entity_set.Orders.write.touch.half: the database computes the column "half" itself`},
		"value":           {write(func(w *sqlsource.Write) { w.Touch = map[string]string{"at": "never"} }), `entity_set.Orders.write: the value "never" of "at" is no Edm.DateTimeOffset`},
		"value too long":  {write(func(w *sqlsource.Write) { w.Touch = map[string]string{"note": strings.Repeat("x", 2001)} }), `of "note" has more than 2000 characters`},
		"value too exact": {write(func(w *sqlsource.Write) { w.Touch = map[string]string{"total": "1.005"} }), `entity_set.Orders.write: the value "1.005" of "total" has more than 2 digits behind the point`},
		"key touched":     {write(func(w *sqlsource.Write) { w.Touch = map[string]string{"id": "5"} }), `entity_set.Orders.write.touch.id: the column "id" belongs to the key, which never changes`},
		"no row":          {write(func(w *sqlsource.Write) { w.Filter = "1 eq 2 and id gt 0" }), `entity_set.Orders.write: the filter holds for no row`},
		"no row, null":    {write(func(w *sqlsource.Write) { w.Filter = "null" }), `entity_set.Orders.write: the filter holds for no row`},
		"filter":          {write(func(w *sqlsource.Write) { w.Filter = "nope eq 1" }), `entity_set.Orders.write: `},
		"fixed":           {write(func(w *sqlsource.Write) { w.Fixed = []string{"nope"} }), `entity_set.Orders.write.fixed: no column "nope"`},
		"version":         {write(func(w *sqlsource.Write) { w.Version = "note" }), `entity_set.Orders.write.version: the column "note" is no integer`},
		"key as version":  {write(func(w *sqlsource.Write) { w.Version = "id" }), `entity_set.Orders.write.version: the column "id" has another value already`},
		"part as version": {write(func(w *sqlsource.Write) { w.Version = "ship_city" }), `entity_set.Orders.write.version: the column "ship_city" is no integer`},
		"never given":     {write(func(w *sqlsource.Write) { w.Set = nil }), `entity_set.Orders.write.create: the column "tenant" needs a value, and a client cannot give it one`},
	} {
		t.Run(name, func(t *testing.T) {
			src, err := sqlsource.New(t.Context(), orders(t, "sqlite"), c.cfg)
			var invalid *sqlsource.Invalid
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if err == nil {
				_ = src.Close()
			}
		})
	}
}

// A database that takes no writes is found, and so is a right that is missing.
func TestDatabaseThatTakesNoWrites(t *testing.T) {
	for _, c := range []struct{ name, dialect, setup, undo, want string }{
		{"file", "sqlite", "", "", `entity_set.Orders.write: the database takes no writes`},
		{"session", "postgres", "DO $do$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET default_transaction_read_only = on'; END $do$", "", `entity_set.Orders.write: the database takes no writes`},
		{"right", "postgres", "CREATE ROLE reader_of_orders;\nGRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO reader_of_orders;\nGRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO reader_of_orders", "DROP OWNED BY reader_of_orders;\nDROP ROLE reader_of_orders", `entity_set.Orders.write.delete: the user of the database may not DELETE rows of "orders"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := orders(t, c.dialect)
			owner := db.DB.DB
			fill(t, owner, c.setup)
			t.Cleanup(func() { fill(t, owner, c.undo) })
			switch c.name {
			case "file":
				if err := os.Chmod(db.DSN, 0o400); err != nil {
					t.Fatal(err)
				}
				if os.Getuid() == 0 {
					t.Skip("root writes files that may only be read")
				}
			default:
				dsn := db.DSN
				if c.name == "right" {
					dsn += "&role=reader_of_orders"
				}
				again, err := sqlx.Open("pgx", dsn)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = again.Close() })
				db.DB = again
			}
			src, err := sqlsource.New(t.Context(), db, ordersConfig(nil))
			if err == nil {
				_ = src.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
