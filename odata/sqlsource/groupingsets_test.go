package sqlsource_test

import (
	"strings"
	"testing"
)

// TestGroupingSets holds that PostgreSQL makes the groups of a rollup in one pass over the rows, and what it answers.
func TestGroupingSets(t *testing.T) {
	t.Parallel()
	s := openShop(t, "postgres")
	for _, c := range []struct {
		apply    string
		together bool
	}{
		{"groupby((rollup(category_id,name)),aggregate(price with sum as total,$count as n))", true},
		{"groupby((rollup(category_id,name)))", true},
		{"groupby((rollup(category/name,name),rollup(stock,id)),aggregate(price with average as a,name with countdistinct as d))", true},
		{"filter(price gt 1)/groupby((rollup(category/parent_Categories/name,category/name)),aggregate(price with max as m))/filter(m gt 2)", true},
		{"groupby((rollup(category_id,name)),aggregate(price with sum as a,price with sum as b))", true},
		{"filter(data ne binary'AA==')/groupby((rollup(category_id,name)))", true},
		{"groupby((rollup(category_id,name)),topcount(1,price))", false},
		{"groupby((category_id,name),aggregate(price with sum as s))/groupby((rollup(category_id,name)),aggregate(s with sum as s))", false},
		{"groupby((rollup(category_id,name)),aggregate(category/id with sum as s))", false},
		{"concat(groupby((category_id,name)),groupby((category_id)))", false},
		{"groupby((rollup(category_id,name),name),aggregate(price with sum as total))", false},
		{"groupby((rollup(category_id,name)),groupby((stock),aggregate(price with sum as total)))", true},
		{"groupby((rollup(category_id,name)),aggregate(price with sum as total)/filter(total gt 1))", false},
		{"groupby((stock),groupby((rollup(category_id,name)),aggregate(price with sum as total)))", false},
		{"groupby((category_id,name),aggregate(price with sum as total))", false},
	} {
		sql := s.explain(t, "Products?$apply="+c.apply).Statements[0].SQL
		if got := strings.Contains(sql, "GROUPING SETS"); got != c.together || got && strings.Count(sql, `FROM "products"`) != 1 {
			t.Errorf("%s: together %v: %s", c.apply, got, sql)
		}
	}
}
