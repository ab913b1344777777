package plan_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

func TestPagingRules(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	const most = int64(math.MaxInt64)
	cases := map[string]struct {
		window plan.Window
		limits plan.Limits
		want   plan.Page
	}{
		"nothing said: the default of 200": {
			plan.Window{},
			plan.Limits{},
			plan.Page{Size: 200, Applied: 200, Limit: 200, Read: 201, Rows: 200, Next: true, NextSkip: 200},
		},
		"a configured default": {
			plan.Window{},
			plan.Limits{PageSize: 50},
			plan.Page{Size: 50, Applied: 50, Limit: 50, Read: 51, Rows: 50, Next: true, NextSkip: 50},
		},
		"the preference goes above the default": {
			plan.Window{Prefer: 500},
			plan.Limits{PageSize: 200},
			plan.Page{Size: 500, Applied: 500, Limit: 500, Read: 501, Rows: 500, Next: true, NextSkip: 500},
		},
		"the preference goes below the default": {
			plan.Window{Prefer: 3},
			plan.Limits{},
			plan.Page{Size: 3, Applied: 3, Limit: 3, Read: 4, Rows: 3, Next: true, NextSkip: 3},
		},
		"the maximum clamps the preference": {
			plan.Window{Prefer: 500},
			plan.Limits{MaxPageSize: 300},
			plan.Page{Size: 300, Applied: 300, Limit: 300, Read: 301, Rows: 300, Next: true, NextSkip: 300},
		},
		"the maximum clamps the default": {
			plan.Window{},
			plan.Limits{MaxPageSize: 100},
			plan.Page{Size: 100, Applied: 100, Limit: 100, Read: 101, Rows: 100, Next: true, NextSkip: 100},
		},
		"the maximum raises nothing": {
			plan.Window{},
			plan.Limits{PageSize: 50, MaxPageSize: 100},
			plan.Page{Size: 50, Applied: 50, Limit: 50, Read: 51, Rows: 50, Next: true, NextSkip: 50},
		},
		"a preference of zero or less is none": {
			plan.Window{Prefer: -7},
			plan.Limits{},
			plan.Page{Size: 200, Applied: 200, Limit: 200, Read: 201, Rows: 200, Next: true, NextSkip: 200},
		},
		"skip alone: no limit in the plan, a page in SQL": {
			plan.Window{Skip: n(20)},
			plan.Limits{},
			plan.Page{Size: 200, Applied: 200, Skip: 20, Limit: most, Read: 201, Rows: 200, Next: true, NextSkip: 220},
		},
		"skip of zero is given all the same": {
			plan.Window{Skip: n(0)},
			plan.Limits{},
			plan.Page{Size: 200, Applied: 200, Limit: most, Read: 201, Rows: 200, Next: true, NextSkip: 200},
		},
		"top: no page size in effect, whatever is preferred": {
			plan.Window{Top: n(1000), Prefer: 5},
			plan.Limits{MaxPageSize: 10},
			plan.Page{Limit: 1000, Read: 1000, Rows: 1000},
		},
		"top and skip": {
			plan.Window{Top: n(10), Skip: n(20)},
			plan.Limits{},
			plan.Page{Skip: 20, Limit: 10, Read: 10, Rows: 10},
		},
		"top of zero": {
			plan.Window{Top: n(0)},
			plan.Limits{},
			plan.Page{},
		},
		"the largest top": {
			plan.Window{Top: n(most)},
			plan.Limits{},
			plan.Page{Limit: most, Read: most, Rows: most},
		},
		"the largest preference does not overflow": {
			plan.Window{Prefer: most},
			plan.Limits{},
			plan.Page{Size: most, Applied: most, Limit: most, Read: most, Rows: most, NextSkip: most},
		},
		"the largest skip has no next page": {
			plan.Window{Skip: n(most)},
			plan.Limits{},
			plan.Page{Size: 200, Applied: 200, Skip: most, Limit: most, Read: 201, Rows: 200, NextSkip: most},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.window.Page(c.limits)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
