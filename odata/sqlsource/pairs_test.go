package sqlsource_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestExtremesDecide holds that any over the collection of a shared target computes the greatest or the least value of each
// target once, if the condition has one comparison with the row around, and which rows that keeps.
func TestExtremesDecide(t *testing.T) {
	each := regexp.MustCompile(`(MIN|MAX|ves_max|ves_min)\(.* GROUP BY `)
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := openShop(t, d)
			for _, c := range []struct {
				filter, want string
				once         bool
			}{
				{"category/products/any(p:p/price gt $it/price)", "[2][3]", true},
				{"category/products/any(p:p/price gt $it/price add 4)", "[3]", true},
				{"category/products/any(p:$it/price lt p/price)", "[2][3]", true},
				{"category/products/any(p:p/price ge $it/price)", "[1][2][3][5][6][7]", true},
				{"category/products/any(p:p/price lt price)", "[1][6][7]", true},
				{"category/products/any(p:p/stock le $it/price)", "[1][2][5][6][7]", true},
				{"category/products/any(p:p/price mul 2 gt $it/price add 9)", "[1][2][3][5]", true},
				{"category/products/any(p:p/name ne 'hammer' and p/price gt $it/price)", "[2][3]", true},
				{"category/products/any(p:p/price gt $it/price and p/category/name eq 'Hammers')", "[2]", true},
				{"category/products/any(p:p/tags/any(t:t/label eq 'blue') and p/price gt $it/price)", "[2]", true},
				{"category/products/any(p:p/day gt $it/day)", "[1]", true},
				{"category/products/any(p:p/released lt $it/released)", "[2]", true},
				{"not category/products/any(p:p/price gt $it/price)", "[1][4][5][6][7]", true},
				{"category/products/any(p:p/price gt $it/price) or id eq 4", "[2][3][4]", true},
				{"category/products/any(p:p/category/products/any(q:q/price gt $it/price))", "[2][3]", true},
				{"category/products/any(p:p/weight gt $it/weight)", "[2][6][7]", true},
				{"category/products/any(p:p/name gt $it/name)", "[1][3][7]", false}, // a text
				{"category/products/any(p:p/price gt $it/price and p/stock lt $it/stock)", "[3]", false},
				{"category/products/any(p:p/price gt $it/price or p/id eq 1)", "[1][2][3]", false},
				{"category/products/all(p:p/price ge $it/price)", "[2][3][4][5]", false},
			} {
				target := "Products?$select=id&$filter=" + c.filter
				if got := s.get(target); got != c.want {
					t.Errorf("%s: %s, want %s", c.filter, got, c.want)
				}
				statements := s.explain(t, target).Statements
				if sql := statements[len(statements)-1].SQL; each.MatchString(sql) != c.once {
					t.Errorf("%s: want once: %t\n%s", c.filter, c.once, sql)
				}
			}
		})
	}
}

// pairsDDL has 6,000 items, of which 5,999 are of one kind, and three kinds with labels.
const pairsDDL = `CREATE TABLE digits (n {BIG} PRIMARY KEY);
INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
CREATE TABLE kinds (id {BIG} PRIMARY KEY);
CREATE TABLE labels (id {BIG} PRIMARY KEY, grade {INT} NOT NULL);
CREATE TABLE kind_labels (kind_id {BIG} NOT NULL, label_id {BIG} NOT NULL);
CREATE TABLE items (id {BIG} PRIMARY KEY, kind_id {BIG}, price {INT} NOT NULL, stock {INT} NOT NULL, FOREIGN KEY (kind_id) REFERENCES kinds (id));
CREATE INDEX items_kind ON items (kind_id);
INSERT INTO kinds VALUES (1), (2), (3);
INSERT INTO labels VALUES (1, 5), (2, 7), (3, 9);
INSERT INTO kind_labels VALUES (1, 1), (1, 2), (1, 1), (2, 3), (2, 3), (2, 3), (9, 3);
INSERT INTO items SELECT 1000 * a.n + 100 * b.n + 10 * c.n + d.n, 1, a.n, b.n FROM digits a, digits b, digits c, digits d WHERE a.n < 6;
UPDATE items SET kind_id = 2 WHERE id = 7;
UPDATE items SET kind_id = 3 WHERE id = 8;
UPDATE items SET kind_id = NULL WHERE id = 9`

// pairsShop opens these tables; further are statements behind them, such as for indexes.
func pairsShop(t *testing.T, dialect, further string) *shop {
	t.Helper()
	return open(t, database(t, dialect, ddlOf(dialect, pairsDDL+further)), sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
		{Name: "kinds", Table: "kinds", Navigations: []sqlsource.Navigation{
			{Name: "items", To: "items", Many: true, On: map[string]string{"id": "kind_id"}},
			{Name: "labels", To: "labels", Many: true, Via: "kind_labels", FromKey: "kind_id", ToKey: "label_id"},
		}},
		{Name: "labels", Table: "labels", Navigations: []sqlsource.Navigation{
			{Name: "kinds", To: "kinds", Many: true, Via: "kind_labels", FromKey: "label_id", ToKey: "kind_id"},
		}},
		{Name: "items", Table: "items", Navigations: []sqlsource.Navigation{{Name: "kind", To: "kinds", On: map[string]string{"kind_id": "id"}}}},
	}})
}

// TestPairsAreBounded holds on each database that a condition that would compare too many pairs of rows is refused, with what
// to ask instead, and that it is not where few rows are left, or where the database looks at each row once.
func TestPairsAreBounded(t *testing.T) {
	const both = "kind/items/any(i:i/price gt $it/price and i/stock gt $it/stock)"
	const nested = "kind/labels/any(l:l/kinds/any(k:k/items/any(i:i/price gt $it/price and i/stock gt $it/stock)))"
	plain := strings.ReplaceAll(both, "$it/", "")
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := pairsShop(t, d, "")
			for query, refused := range map[string]bool{
				"$filter=" + both:                         true,
				"$filter=not " + both + " and price ge 0": true,
				"$filter=kind/items/all(i:i/price lt $it/price or i/stock lt $it/stock)":     true,
				"$filter=kind/items/$count($filter=price gt $it/price) gt 5":                 true,
				"$orderby=kind/items/$count($filter=price gt $it/price)":                     true,
				"$compute=kind/items/$count($filter=price gt $it/price) as n&$filter=n gt 5": true,
				"$compute=kind/items/$count($filter=price gt $it/price) as n&$select=id,n":   false, // of three rows
				"$apply=filter(" + plain + ")/aggregate($count as n)":                        true,
				"$apply=filter(" + plain + ")/groupby((price),aggregate($count as n))":       true,
				"$filter=" + nested:                                                              true,
				"$filter=" + nested + " and id lt 50":                                            false,
				"$filter=" + both + " and id lt 700":                                             false,
				"$filter=id eq 5 and kind/items/$count($filter=price gt $it/price) gt 5":         false,
				"$filter=kind/items/any(i:i/price gt $it/price)":                                 false,
				"$filter=kind/items/$count($filter=price gt 3) gt 5":                             false,
				"$filter=kind/labels/any(l:l/grade gt $it/price and l/id gt $it/stock)":          false,
				"$filter=kind/items/any(i:i/id eq $it/id and i/price gt $it/price)&$expand=kind": d == "sqlite",
			} {
				p, err := s.plan("items?$top=3&"+query, 0)
				if err != nil {
					t.Fatalf("%s: %v", query, err)
				}
				rows, err := s.Open(t.Context(), p)
				if err == nil {
					err = rows.Close()
				}
				fault, _ := errors.AsType[*plan.Error](err)
				said := fault != nil && fault.Kind == plan.TooLarge && strings.Contains(fault.Message, "filter by something else first")
				if said != refused || !refused && err != nil {
					t.Errorf("%s: %v, want refused: %t", query, err, refused)
				}
			}
		})
	}
}

// TestCountsOverATableBetween holds that no database counts over a table in between for each row around, and that a pair that
// the table has several times counts once.
func TestCountsOverATableBetween(t *testing.T) {
	each := regexp.MustCompile(`\(SELECT COUNT\(\*\) FROM`)
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := pairsShop(t, d, "")
			for _, c := range []struct{ query, want string }{
				{"$filter=kind/labels/$count eq 1", "[7]"},
				{"$filter=kind/labels/$count eq 2&$top=2", "[0][1]"},
				{"$filter=kind/labels/$count eq 0", "[8][9]"},
				{"$filter=kind/labels/$count($filter=grade gt 6) eq 1&$top=2&$skip=6", "[6][7]"},
				{"$orderby=kind/labels/$count,id desc&$top=4", "[9][8][7][5999]"},
				{"$compute=kind/labels/$count as n&$filter=n eq 1", "[7]"},
				{"$filter=kind/labels/any(l:l/grade gt $it/id)", "[0][1][2][3][4][5][6][7]"},
			} {
				target := "items?$select=id&" + c.query
				if got := strings.TrimSuffix(s.get(target), "+"); got != c.want {
					t.Errorf("%s: %s, want %s", c.query, got, c.want)
				}
				if sql := s.explain(t, target).Statements[0].SQL; each.MatchString(sql) {
					t.Errorf("%s counts for each row: %s", c.query, sql)
				}
			}
		})
	}
}

// TestCollectionsAreReadOnce holds on each database that collections within collections, and those that no index finds, are read once for all
// rows around them, and that this changes no answer.
func TestCollectionsAreReadOnce(t *testing.T) {
	const indexes = ";\nCREATE INDEX kind_labels_kind ON kind_labels (kind_id);\nCREATE INDEX kind_labels_label ON kind_labels (label_id)"
	each := regexp.MustCompile(`\(SELECT COUNT\(\*\) FROM`)
	for _, d := range dialects() {
		for _, further := range []string{"", indexes, strings.ReplaceAll(indexes, "_id)", "_id, label_id)")} {
			further = strings.ReplaceAll(further, "(label_id, label_id)", "(label_id, kind_id)")
			t.Run(d, func(t *testing.T) {
				s := pairsShop(t, d, further)
				for _, c := range []struct{ query, want string }{
					{"kinds?$filter=labels/$count eq 2", "[1]"},
					{"kinds?$filter=labels/$count eq 1", "[2]"},
					{"kinds?$filter=labels/$count eq 0", "[3]"},
					{"kinds?$filter=labels/$count($filter=grade gt 6) eq 1", "[1][2]"},
					{"kinds?$orderby=labels/$count desc,id", "[1][2][3]"},
					{"kinds?$compute=labels/$count as n&$filter=n add n gt 2", "[1]"},
					{"kinds?$apply=filter(labels/$count gt 0)/concat(filter(labels/$count eq 1),identity)", "[2][1][2]"},
					{"kinds?$filter=labels/any(l:l/grade gt 8)", "[2]"},
					{"kinds?$filter=not labels/any(l:l/grade gt 8)", "[1][3]"},
					{"kinds?$filter=labels/all(l:l/grade gt 6)", "[2][3]"},
					{"kinds?$filter=labels/any(l:l/grade gt $it/id add 6)", "[2]"},
					{"kinds?$filter=labels/all(l:l/grade gt $it/id add 6)", "[2][3]"},
					{"kinds?$filter=items/$count gt 1", "[1]"},
					{"kinds?$filter=labels/any(l:l/kinds/any(k:k/id eq 2))", "[2]"},
					{"kinds?$filter=labels/any(l:l/kinds/$count gt 0)", "[1][2]"},
					{"kinds?$filter=labels/any(l:l/kinds/$count gt 1)", ""},
					{"kinds?$filter=labels/all(l:l/kinds/all(k:k/id eq 1))", "[1][3]"},
					{"kinds?$filter=labels/any(l:l/kinds/any(k:k/id ge $it/id))", "[1][2]"},
					{"kinds?$filter=labels/any(l:l/kinds/any(k:k/id gt $it/id))", ""},
					{"kinds?$filter=labels/any(l:l/kinds/all(k:k/items/$count gt 5))", "[1]"},
					{"kinds?$filter=labels/any(l:l/kinds/all(k:not (k/items/$count gt 5)))", "[2]"},
					{"kinds(1)/labels?$filter=kinds/$count eq 1", "[1][2]"},
					{"labels?$filter=kinds/any(k:k/items/any(i:i/price eq 5))", "[1][2]"},
					{"items?$filter=kind/labels/any(l:l/kinds/any(k:k/id eq 2))", "[7]"},
					{"items?$filter=kind/labels/all(l:l/kinds/any(k:k/id eq 2))", "[7][8][9]"},
				} {
					target := c.query + "&$select=id"
					if got := s.get(target); got != c.want {
						t.Errorf("%s: %s, want %s", target, got, c.want)
					}
					list := s.explain(t, target).Statements
					sql := list[len(list)-1].SQL
					unindexed := further == "" && strings.Contains(c.query, "labels/$count")
					if each.MatchString(sql) && (unindexed || strings.Contains(c.query, "l/kinds/$count")) {
						t.Errorf("%s counts for each row: %s", target, sql)
					}
					if d == "mysql" && further != "" && strings.HasPrefix(c.query, "kinds?$filter=labels/$count") && !strings.Contains(sql, "STRAIGHT_JOIN") {
						t.Errorf("%s leaves the order of its joins to MariaDB: %s", target, sql)
					}
				}
			})
		}
	}
}
