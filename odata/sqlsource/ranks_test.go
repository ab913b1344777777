package sqlsource_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestRanksReadKeys holds that ranks over the rows of a table are computed beside its key alone, once for each window that
// they need, and beside all columns if two rows may have one key.
func TestRanksReadKeys(t *testing.T) {
	ranked := regexp.MustCompile(`JOIN \(SELECT .*?\) AS wt\d+ ON`)
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := openShop(t, d)
			for apply, windows := range map[string]int{
				"topsum(10,price)":               1,
				"toppercent(50,price)":           1,
				"bottomcount(20000,price)":       1,
				"orderby(name)/skip(1)":          1,
				"topsum(10,price)/top(20000)":    2,
				"filter(id gt 1)/topsum(9,id)":   1,
				"topcount(3,price)/topsum(9,id)": 1,
			} {
				sql := s.explain(t, "Products?$apply="+apply).Statements[0].SQL
				parts := ranked.FindAllString(sql, -1)
				if len(parts) == 0 || strings.Contains(strings.Join(parts, ""), "note") && !strings.Contains(apply, "/top") {
					t.Errorf("%s reads all columns: %s", apply, sql)
				}
				if got := strings.Count(sql, " OVER ("); got != windows {
					t.Errorf("%s has %d windows, want %d: %s", apply, got, windows, sql)
				}
			}
			if sql := s.explain(t, "Cheap?$apply=topsum(10,price)").Statements[0].SQL; ranked.MatchString(sql) {
				t.Errorf("a view has no unique key: %s", sql)
			}
		})
	}
}

// TestRanksKeepRows holds which rows ranks keep, with what they show, compute and expand.
func TestRanksKeepRows(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			check(t, openShop(t, d), [][2]string{
				{"Products?$apply=topsum(105,price)&$select=id,name", "[1,Hammer][5,Ham]"},
				{"Products?$apply=toppercent(80,price)&$select=id,note", "[1,heavy][5,O'Neil]"},
				{"Products?$apply=toppercent(90,price)/bottompercent(15,price)&$select=id", "[1][2]"},
				{"Products?$apply=bottomsum(6,price)&$select=id", "[3][4][6][7]"},
				{"Products?$apply=topcount(20000,price)/bottomcount(20000,stock)/skip(5)&$select=id", "[6][7]"},
				{"Products?$apply=topsum(105,price)&$select=id&$expand=category($select=name)", "[1 {[Hammers]}][5 {[tools]}]"},
				{"Products?$apply=topsum(105,price)&$select=id&$orderby=category/name desc&$top=1", "[5]"},
				{"Products?$apply=topsum(105,price)&$select=id&$count=true&$top=1", "[1]#2"},
				{"Products?$apply=compute(price mul 2 as twice)/topsum(210,twice)&$select=id,twice", "[1,21][5,200]"},
				{"Products?$apply=topsum(105,price)/aggregate($count as n)", "[2]"},
				{"Products?$apply=groupby((category_id),topsum(1,price))&$select=id", "[1][4][5][6]"},
				{"Order Details?$apply=topsum(21,'unit price')", "400"},
				{"Categories(2)/products?$apply=topsum(5,price)&$select=id", "[1]"},
				{"Cheap?$apply=topsum(9,price)&$select=id", "[2]"},
			})
		})
	}
}

// TestPercentagesAreProducts holds that no database splits the decimals of a percentage into parts, since their types tell that
// the product has few enough digits: of a sum, of a sum of groups, and of rows that another percentage has left.
func TestPercentagesAreProducts(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := openShop(t, d)
			for _, apply := range []string{
				"toppercent(90,price)",
				"toppercent(90,price)/bottompercent(90,price)",
				"groupby((category_id),aggregate(price with sum as s))/toppercent(90,s)",
				"groupby((category_id),aggregate(price with max as m))/concat(toppercent(90,m),bottompercent(90,m))",
			} {
				for _, st := range s.explain(t, "Products?$apply="+apply).Statements {
					if strings.Contains(st.SQL, ":=") || strings.Contains(st.SQL, "GREATEST") {
						t.Errorf("%s: %s", apply, st.SQL)
					}
				}
			}
		})
	}
}

// TestAggregatesOfAllRows holds that $these of all rows of a table takes no window, and which rows it keeps, also beside
// computations of one form over the row and over the aggregate.
func TestAggregatesOfAllRows(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := openShop(t, d)
			for _, c := range []struct {
				apply, want string
				windows     bool
			}{
				{"filter(price gt $these/aggregate(price with average))", "[5]", false},
				{"filter(price lt $these/aggregate(price with average))", "[1][2][3][6][7]", false},
				{"filter(price mul 1.5 lt $these/aggregate(price with sum) mul 0.1)", "[3][6][7]", false},
				{"filter((price add 1.5) mul 2.5 lt ($these/aggregate(price with average) add 1.5) mul 2.5)", "[1][2][3][6][7]", false},
				{"filter(weight add 1.5 lt $these/aggregate(weight with min) add 2e0)", "[7]", false},
				{"filter((weight add 1.5) mul 2e0 lt ($these/aggregate(weight with min) add 2e0) mul 2e0)", "[7]", false},
				{"filter(id lt 5)/filter(price lt $these/aggregate(price with average))", "[3]", false},
				{"filter($these/$count eq 7)", "[1][2][3][4][5][6][7]", false},
				{"filter(price gt $these/aggregate(price with average))/filter($these/$count eq 1)", "[5]", true}, // of computed rows
				{"groupby((category_id),filter(price gt $these/aggregate(price with average)))", "[1][6][7]", true},
			} {
				if got := s.get("Products?$select=id&$apply=" + c.apply); got != c.want {
					t.Errorf("%s: %s, want %s", c.apply, got, c.want)
				}
				sql := s.explain(t, "Products?$select=id&$apply="+c.apply).Statements[0].SQL
				if strings.Contains(sql, " OVER (") != c.windows {
					t.Errorf("%s: windows: want %t: %s", c.apply, c.windows, sql)
				}
			}
		})
	}
}
