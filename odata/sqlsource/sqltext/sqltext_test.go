package sqltext_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// warehouse is a model with its mapping: parts with a supplier, one table each.
type warehouse struct {
	model   *edm.Model
	mapping *sqltext.Mapping
}

func newWarehouse(policy string) warehouse {
	id := &edm.Property{Name: "id", Type: edm.Of(edm.Int64)}
	name := &edm.Property{Name: "name", Type: edm.Of(edm.String)}
	note := &edm.Property{Name: "note", Type: edm.Of(edm.String), Nullable: true}
	stock := &edm.Property{Name: "stock", Type: edm.Of(edm.Int64), Nullable: true}
	odd := &edm.Property{Name: "odd", Type: edm.Of(edm.Int64)}
	bought := &edm.Property{Name: "bought", Type: edm.Of(edm.DateTimeOffset), Nullable: true}
	part := &edm.EntityType{Name: "Part", Key: []*edm.Property{id}, Properties: []*edm.Property{id, name, note, stock, odd, bought}}
	supplier := &edm.EntityType{Name: "Supplier", Key: []*edm.Property{id}, Properties: []*edm.Property{id, name}}
	parts := &edm.EntitySet{Name: "Parts", Type: part, Guard: edm.GuardNone}
	suppliers := &edm.EntitySet{Name: "Suppliers", Type: supplier, Guard: edm.GuardNone, Policy: policy}
	one := &edm.Navigation{Name: "supplier", Target: suppliers, Nullable: true}
	many := &edm.Navigation{Name: "parts", Target: parts, Collection: true}
	part.Navigation, supplier.Navigation = []*edm.Navigation{one}, []*edm.Navigation{many}

	column := func(name, typ string, nullable bool) *sqltext.Column {
		return &sqltext.Column{Name: name, Type: typ, Nullable: nullable}
	}
	times := column("bought", "timestamp without time zone", true)
	times.Layout = scalar.LayoutSpace
	ids, supplierID := column("id", "bigint", false), column("supplier_id", "bigint", true)
	return warehouse{
		model: &edm.Model{
			Namespace: "W", Container: "C", Sets: []*edm.EntitySet{parts, suppliers}, Types: []*edm.EntityType{part, supplier},
		},
		mapping: &sqltext.Mapping{
			CaseCollation: "C.utf8",
			Tables: map[*edm.EntitySet]*sqltext.Table{
				parts: {Name: []string{"parts"}, Indexes: [][]string{{"id"}, {"supplier_id"}}, Columns: map[*edm.Property]*sqltext.Column{
					id: ids, name: column("name", "text", false), note: column("note", "text", true), stock: column("stock", "bigint", true),
					odd: column("o$1\"`d", "bigint", false), bought: times,
				}},
				suppliers: {Name: []string{"main", "suppliers"}, Columns: map[*edm.Property]*sqltext.Column{
					id: ids, name: column("name", "text", false),
				}},
			},
			Links: map[*edm.Navigation]*sqltext.Link{
				one:  {From: []*sqltext.Column{supplierID}, To: []*sqltext.Column{ids}},
				many: {From: []*sqltext.Column{ids}, To: []*sqltext.Column{supplierID}},
			},
		},
	}
}

func (w warehouse) node(t *testing.T, target string) *plan.Node {
	t.Helper()
	path, query, _ := strings.Cut(target, "?")
	req, err := syntax.Parse(path+"?"+url.PathEscape(query), syntax.Options{Functions: function.Arity})
	if err != nil {
		t.Fatal(err)
	}
	binder, err := bind.New(w.model)
	if err != nil {
		t.Fatal(err)
	}
	p, err := binder.Plan(req, bind.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p.Top
}

func (w warehouse) generator(t *testing.T, dialect string) *sqltext.Generator {
	t.Helper()
	g, err := sqltext.New(dialect, w.mapping)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestConditions holds how the logic of OData is written for databases that have another.
func TestConditions(t *testing.T) {
	cases := []struct {
		name, target string
		want         map[string]string // behind SELECT COUNT(*) FROM
	}{
		{
			`equal, where only truth counts`, `Parts?$filter=stock eq 1`,
			map[string]string{
				"sqlite":   `"parts" AS t0 WHERE t0."stock" = ?`,
				"postgres": `"parts" AS t0 WHERE t0."stock" = $1::bigint`,
				"mysql":    "`parts` AS t0 WHERE t0.`stock` = CAST(? AS SIGNED)",
			},
		},
		{
			`equal to null`, `Parts?$filter=stock eq null`,
			map[string]string{
				"sqlite":   `"parts" AS t0 WHERE t0."stock" IS NULL`,
				"postgres": `"parts" AS t0 WHERE t0."stock" IS NULL`,
				"mysql":    "`parts` AS t0 WHERE t0.`stock` IS NULL",
			},
		},
		{
			`not equal is true of null`, `Parts?$filter=stock ne 1`,
			map[string]string{
				"sqlite":   `"parts" AS t0 WHERE t0."stock" IS NOT ?`,
				"postgres": `"parts" AS t0 WHERE t0."stock" IS DISTINCT FROM $1::bigint`,
				"mysql":    "`parts` AS t0 WHERE NOT (t0.`stock` <=> CAST(? AS SIGNED))",
			},
		},
		{
			`a negated comparison is true of null`, `Parts?$filter=not (stock gt 1)`,
			map[string]string{
				"sqlite":   `"parts" AS t0 WHERE (NOT (COALESCE(t0."stock" > ?, ?)))`,
				"postgres": `"parts" AS t0 WHERE (NOT (COALESCE(t0."stock" > $1::bigint, $2::boolean)))`,
				"mysql":    "`parts` AS t0 WHERE (NOT (COALESCE(t0.`stock` > CAST(? AS SIGNED), CAST(? AS SIGNED))))",
			},
		},
		{
			`two nulls are equal`, `Parts?$filter=note eq note`,
			map[string]string{
				"sqlite":   `"parts" AS t0 WHERE t0."note" COLLATE BINARY IS t0."note" COLLATE BINARY`,
				"postgres": `"parts" AS t0 WHERE t0."note" IS NOT DISTINCT FROM t0."note"`,
				"mysql":    "`parts` AS t0 WHERE CAST(CONVERT(t0.`note` USING utf8mb4) COLLATE utf8mb4_bin AS BINARY) <=> CAST(CONVERT(t0.`note` USING utf8mb4) COLLATE utf8mb4_bin AS BINARY)",
			},
		},
		{
			`a beginning narrowed for an index`, `Parts?$filter=startswith(name,'a%')`,
			map[string]string{
				"sqlite":   `"parts" AS t0 WHERE (t0."name" COLLATE BINARY >= ? AND t0."name" COLLATE BINARY < ? AND (substr(t0."name" COLLATE BINARY, 1, length(?)) = ?))`,
				"postgres": `"parts" AS t0 WHERE starts_with(t0."name", $1::text)`,
				"mysql":    "`parts` AS t0 WHERE (t0.`name` LIKE ? ESCAPE '|' AND (LOCATE(CONVERT(? USING utf8mb4) COLLATE utf8mb4_bin, CONVERT(t0.`name` USING utf8mb4) COLLATE utf8mb4_bin) = 1))",
			},
		},
		{
			`nothing is narrowed below not`, `Parts?$filter=not startswith(name,'a%')`,
			map[string]string{
				"sqlite":   `"parts" AS t0 WHERE (NOT ((substr(t0."name" COLLATE BINARY, 1, length(?)) = ?)))`,
				"postgres": `"parts" AS t0 WHERE (NOT (starts_with(t0."name", $1::text)))`,
				"mysql":    "`parts` AS t0 WHERE (NOT ((LOCATE(CONVERT(? USING utf8mb4) COLLATE utf8mb4_bin, CONVERT(t0.`name` USING utf8mb4) COLLATE utf8mb4_bin) = 1)))",
			},
		},
		{
			`an instant as it is stored`, `Parts?$filter=bought lt 2024-01-01T00:00:00Z`,
			map[string]string{
				"sqlite":   `"parts" AS t0 WHERE t0."bought" < ?`,
				"postgres": `"parts" AS t0 WHERE t0."bought" < ($1::timestamptz AT TIME ZONE 'UTC')`,
				"mysql":    "`parts` AS t0 WHERE CAST(REPLACE(REPLACE(t0.`bought`, 'T', ' '), 'Z', '') AS DATETIME(6)) < CAST(? AS DATETIME(6))",
			},
		},
		{
			`a name with quotes and a place`, `Parts?$filter=odd eq 1`,
			map[string]string{
				"sqlite":   "\"parts\" AS t0 WHERE t0.\"o$1\"\"`d\" = ?",
				"postgres": "\"parts\" AS t0 WHERE t0.\"o$1\"\"`d\" = $1::bigint",
				"mysql":    "`parts` AS t0 WHERE t0.`o$1\"``d` = CAST(? AS SIGNED)",
			},
		},
		{
			`to-one navigation is a join`, `Parts?$filter=supplier/name eq 'x'`,
			map[string]string{
				"sqlite":   `"parts" AS t0 LEFT JOIN "main"."suppliers" AS t1 ON t1."id" = t0."supplier_id" WHERE t1."name" COLLATE BINARY = ?`,
				"postgres": `"parts" AS t0 LEFT JOIN "main"."suppliers" AS t1 ON t1."id" = t0."supplier_id" WHERE t1."name" = $1::text`,
				"mysql":    "`parts` AS t0 LEFT JOIN `main`.`suppliers` AS t1 ON t1.`id` = t0.`supplier_id` WHERE (t1.`name` = ? AND CAST(CONVERT(t1.`name` USING utf8mb4) COLLATE utf8mb4_bin AS BINARY) = CAST(CONVERT(? USING utf8mb4) COLLATE utf8mb4_bin AS BINARY))",
			},
		},
		{
			`in with null`, `Parts?$filter=stock in (1,null)`,
			map[string]string{
				"sqlite":   `"parts" AS t0 WHERE (t0."stock" = ? OR t0."stock" IS NULL)`,
				"postgres": `"parts" AS t0 WHERE (t0."stock" = $1::bigint OR t0."stock" IS NULL)`,
				"mysql":    "`parts` AS t0 WHERE (t0.`stock` = CAST(? AS SIGNED) OR t0.`stock` IS NULL)",
			},
		},
		{
			`all must be true, and not merely not false`, `Suppliers?$filter=parts/all(p:p/stock gt 1)`,
			map[string]string{
				"sqlite":   `"main"."suppliers" AS t0 WHERE NOT EXISTS (SELECT 1 FROM "parts" AS t1 WHERE t1."supplier_id" = t0."id" AND (t1."stock" > ?) IS NOT TRUE)`,
				"postgres": `"main"."suppliers" AS t0 WHERE NOT EXISTS (SELECT 1 FROM "parts" AS t1 WHERE t1."supplier_id" = t0."id" AND (t1."stock" > $1::bigint) IS NOT TRUE)`,
				"mysql":    "`main`.`suppliers` AS t0 WHERE NOT EXISTS (SELECT 1 FROM `parts` AS t1 WHERE t1.`supplier_id` = t0.`id` AND (t1.`stock` > CAST(? AS SIGNED)) IS NOT TRUE)",
			},
		},
		{
			`a function from the catalogue`, `Parts?$filter=tolower(name) eq 'x'`,
			map[string]string{
				"sqlite":   `"parts" AS t0 WHERE ves_lower(t0."name" COLLATE BINARY) = ?`,
				"postgres": `"parts" AS t0 WHERE (lower(t0."name" COLLATE "C.utf8") COLLATE "C") = $1::text`,
				"mysql":    "`parts` AS t0 WHERE CAST((LOWER(CONVERT(t0.`name` USING utf8mb4) COLLATE utf8mb4_bin COLLATE C.utf8) COLLATE utf8mb4_bin) AS BINARY) = CAST(CONVERT(? USING utf8mb4) COLLATE utf8mb4_bin AS BINARY)",
			},
		},
	}
	w := newWarehouse("")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for dialect, want := range c.want {
				got := w.generator(t, dialect).Count(w.node(t, c.target))
				if text := strings.TrimPrefix(got.SQL, "SELECT COUNT(*) FROM "); text != want {
					t.Errorf("%s\n got %s\nwant %s", dialect, text, want)
				}
				places := strings.Count(got.SQL, "?")
				if dialect == "postgres" {
					places = strings.Count(got.SQL, "$") - strings.Count(got.SQL, `"o$1`)
				}
				if len(got.Args) != places {
					t.Errorf("%s: %d arguments for %d places in %s", dialect, len(got.Args), places, got.SQL)
				}
			}
		})
	}
}

// TestPolicyIsPartOfEveryWay holds that a set is never read around its row policy.
func TestPolicyIsPartOfEveryWay(t *testing.T) {
	w := newWarehouse("name eq 'mine'")
	for _, target := range []string{
		"Suppliers", "Suppliers(1)", "Suppliers?$filter=id eq 1 or id eq 2", "Parts(1)/supplier", "Suppliers(1)/parts",
		"Parts?$filter=supplier/id eq 1", "Parts?$orderby=supplier/id", "Suppliers/$count",
	} {
		got := w.generator(t, "sqlite").Page(w.node(t, target), false).Rows(1, 0, nil)
		found := false
		for _, a := range got.Args {
			found = found || a == "mine"
		}
		if !found {
			t.Errorf("%s is read without the policy: %s", target, got.SQL)
		}
	}
}

// TestSeek holds the condition that rows come after a key, which SQLite is asked with.
func TestSeek(t *testing.T) {
	cases := []struct {
		name, order string
		after       []any
		want        string // between WHERE 1 = 1 and ORDER BY
	}{
		{"from the start", "stock", nil, ""},
		{"ascending", "stock", []any{int64(1), int64(2)}, `AND (t0."stock", t0."id") > (+?, +?) `},
		{"ascending behind nulls", "stock", []any{nil, int64(2)}, `AND ((t0."stock" IS NOT NULL OR (t0."id" >= +? AND (t0."id" > +? OR (1 = 0))))) `},
		{"descending before nulls", "stock desc", []any{int64(1), int64(2)}, `AND ((t0."stock" < +? OR t0."stock" IS NULL OR t0."stock" = +? AND (t0."id" >= +? AND (t0."id" > +? OR (1 = 0))))) `},
		{"descending among nulls", "stock desc", []any{nil, int64(2)}, `AND (t0."stock" IS NULL AND (t0."id" >= +? AND (t0."id" > +? OR (1 = 0)))) `},
		{"descending before nulls, all of it", "stock desc,id desc", []any{int64(1), int64(2)}, `AND ((t0."stock" < +? OR t0."stock" IS NULL OR t0."stock" = +? AND (t0."id" <= +? AND (t0."id" < +? OR (1 = 0))))) `},
		{"descending without nulls", "odd desc,id desc", []any{int64(1), int64(2)}, `AND (t0."o$1""` + "`" + `d", t0."id") < (+?, +?) `},
	}
	w := newWarehouse("")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			page := w.generator(t, "sqlite").Page(w.node(t, "Parts?$select=id&$orderby="+c.order), true)
			got := page.Rows(11, 5, c.after).SQL
			_, rest, _ := strings.Cut(got, " WHERE 1 = 1 ")
			if text, _, ok := strings.Cut(rest, "ORDER BY"); !ok || text != c.want {
				t.Errorf("got %s\nwant %s", text, c.want)
			}
			if len(page.Key) != 2 || page.Width != 2 {
				t.Errorf("the keys are in columns %v of %d", page.Key, page.Width)
			}
		})
	}
}

// A page and its total are one statement where the database counts once for it.
func TestCountedTogether(t *testing.T) {
	cases := []struct {
		dialect, filter string
		want            bool
	}{
		{"sqlite", "stock gt 1", false}, // nothing is saved by it
		{"postgres", "stock gt 1", true},
		{"postgres", "(stock mul 1e0 add 1e0) mul 2e0 gt 0", true},
		{"mysql", "stock gt 1", true},
		{"mysql", "(stock mul 1e0 add 1e0) mul 2e0 gt 0", false}, // it sets a variable: MariaDB would count once for each row
	}
	w := newWarehouse("")
	for _, c := range cases {
		page := w.generator(t, c.dialect).Page(w.node(t, "Parts?$count=true&$top=5&$filter="+c.filter), true)
		if got := page.Together(); got != c.want {
			t.Errorf("%s, %s: %v", c.dialect, c.filter, got)
		}
	}
}

func TestAdvise(t *testing.T) {
	cases := map[string]string{
		"Parts":                     "",
		"Parts?$orderby=stock desc": `CREATE INDEX "parts_stock" ON "parts" ("stock" DESC)`,
		"Parts?$filter=note eq 'x' and stock gt 1": `CREATE INDEX "parts_note_stock" ON "parts" ("note", "stock")`,
		"Parts?$filter=note eq 'x'&$orderby=stock": `CREATE INDEX "parts_note_stock" ON "parts" ("note", "stock")`,
		"Parts?$filter=note eq 'x' or stock gt 1":  "",
		"Parts?$filter=not (note eq 'x')":          "",
		"Parts?$filter=odd eq 1":                   `CREATE INDEX "parts_o$1""` + "`" + `d" ON "parts" ("o$1""` + "`" + `d")`,
	}
	w := newWarehouse("")
	for target, want := range cases {
		if got := strings.Join(w.generator(t, "sqlite").Advise(w.node(t, target)), "; "); got != want {
			t.Errorf("%s\n got %s\nwant %s", target, got, want)
		}
	}
}

func TestUnknownDialect(t *testing.T) {
	if _, err := sqltext.New("oracle", &sqltext.Mapping{}); err == nil || !strings.Contains(err.Error(), `"oracle"`) {
		t.Errorf("got %v", err)
	}
}
