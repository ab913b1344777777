package plan_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// TestNested takes rows in the order of an answer until a page has to end.
func TestNested(t *testing.T) {
	t.Parallel()
	nav := &edm.Navigation{}
	page := plan.Page{Size: 200}
	top := &plan.Node{Many: true, Page: page}
	link := &plan.Node{Nav: nav}
	named := &plan.Node{Nav: nav, Many: true}
	first := &plan.Node{Nav: nav, Many: true, Page: page, Pages: 1}
	below := &plan.Node{Nav: nav, Pages: 1}
	second := &plan.Node{Nav: nav, Many: true, Page: page, Pages: 2}
	type taken struct {
		node *plan.Node
		rows int
	}
	for _, c := range []struct {
		name    string
		limits  plan.Limits
		taken   []taken
		node    *plan.Node
		written int64
		want    bool
	}{
		{"nothing", plan.Limits{}, nil, first, 0, false},
		{"one row less", plan.Limits{}, []taken{{top, 1}, {first, 10_099}}, first, 0, false},
		{"all of one row at the top", plan.Limits{}, []taken{{top, 1}, {first, 10_100}}, first, 0, true},
		{"a row more at the top", plan.Limits{}, []taken{{top, 2}, {first, 10_100}}, first, 0, false},
		{"a row of a nested top", plan.Limits{}, []taken{{top, 1}, {named, 1}, {first, 10_100}}, first, 0, false},
		{"a row that a link leads to", plan.Limits{}, []taken{{top, 1}, {link, 1}, {first, 10_100}}, first, 0, true},
		{"rows below a page", plan.Limits{}, []taken{{top, 1}, {first, 10_000}, {below, 100}}, first, 0, true},
		{"two pages deep", plan.Limits{}, []taken{{top, 1}, {second, 10_000}}, second, 0, true},
		{"one page deep behind that", plan.Limits{}, []taken{{top, 1}, {second, 10_000}}, first, 0, false},
		{"half of the rows", plan.Limits{Rows: 101}, []taken{{top, 25}, {first, 25}}, first, 0, true},
		{"less than half of the rows", plan.Limits{Rows: 101}, []taken{{top, 25}, {first, 24}}, first, 0, false},
		{"half of the bytes", plan.Limits{Bytes: 100}, nil, first, 50, true},
		{"no limits", plan.Limits{Rows: plan.Unlimited, Bytes: plan.Unlimited}, []taken{{top, 1}}, first, 1 << 60, false},
		{"the top", plan.Limits{Rows: 10}, []taken{{top, 9}}, top, 0, false},
		{"a nested top", plan.Limits{Rows: 10}, []taken{{top, 9}}, named, 0, false},
		{"what a link leads to", plan.Limits{Rows: 10}, []taken{{top, 9}}, below, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := (&plan.Plan{Limits: c.limits}).Nested()
			for _, each := range c.taken {
				for range each.rows {
					n.Take(each.node)
				}
			}
			if got := n.Ended(c.node, c.written); got != c.want {
				t.Errorf("ended: %t, want %t", got, c.want)
			}
		})
	}
}
