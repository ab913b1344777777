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
