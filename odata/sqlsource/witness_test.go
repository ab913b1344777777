package sqlsource_test

import (
	"strings"
	"testing"
)

// TestWitnesses holds which pages can be read together with a row of another table: those of one statement for rows. That
// they are the same pages, and that there are none without that row, is what get holds.
func TestWitnesses(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := openShop(t, d)
			for target, want := range map[string]bool{
				"Products":                                       true,
				"Products?$filter=id eq 1 or stock gt 1":         true,
				"Products?$orderby=price desc&$skip=2&$top=3":    true,
				"Products?$count=true&$top=2":                    true,
				"Products?$expand=category,tags($count=true)":    true,
				"Products?$count=true&$expand=tags&$top=1":       true,
				"Products?$search=ham":                           true,
				"Products(1)":                                    true,
				"Products(1)/name":                               true,
				"Categories(2)/products?$orderby=id desc":        true,
				"Products(1)/category":                           true,
				"Company":                                        true,
				"Products/$count":                                false,
				"Products?$top=0&$count=true":                    false,
				"Products?$apply=groupby((category/name))":       false,
				"Products?$apply=aggregate(stock with sum as s)": false,
				"Products?$compute=stock sub stock as a,a add a as b,b add b as c,c add c as e,e add e as f,f add f as g,g add g as h,h add h as i,i add i as j&$select=id,j": d == "postgres",
			} {
				p, err := s.plan(target, 0)
				if err != nil {
					t.Fatal(target, err)
				}
				if got := s.Witnesses(p); got != (want && d != "sqlite") {
					t.Errorf("%s: %t", target, got)
				}
				if got := s.get(target); strings.Contains(got, "witness") || strings.Contains(got, "fault") {
					t.Errorf("%s: %s", target, got)
				}
			}
		})
	}
}

// TestServersKeepPlans holds that a statement without other parameters says how many rows it reads: PostgreSQL plans one
// with a parameter there anew each time, and does so still where there are others, since what suits one value may not suit
// the next.
func TestServersKeepPlans(t *testing.T) {
	for _, d := range []string{"postgres", "mysql"} {
		s := openShop(t, d)
		for target, want := range map[string]bool{
			"Products?$top=2":                      true,
			"Products?$top=3":                      true,
			"Products?$top=2&$orderby=price":       true,
			"Products?$top=2&$filter=stock gt 1":   false,
			"Products?$top=2&$skip=1":              false,
			"Products?$top=2&$count=true":          true,
			"Products?$top=2&$filter=note eq null": true,
		} {
			e := s.explain(t, target)
			sql := e.Statements[len(e.Statements)-1].SQL
			_, limit, ok := strings.Cut(sql, "LIMIT ")
			if got := ok && strings.Trim(limit, "0123456789") == ""; got != want {
				t.Errorf("%s: %s: %s", d, target, sql)
			}
		}
	}
}
