package bind_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// TestNestedPagesMultiply holds that the pages along a path of $expand multiply to no more than the limit of rows: those of
// the service shrink, those that clients name are refused.
func TestNestedPagesMultiply(t *testing.T) {
	cases := []struct {
		name, target string
		rows, prefer int64
		want         []int64 // rows of the pages from the top down; nil is refused
	}{
		{"pages of the service", "Books?$expand=Sequels($expand=Sequels($expand=Sequels($expand=Sequels)))", 0, 0, []int64{200, 200, 125, 1, 1}},
		{"from one entity", "Books(1)?$expand=Sequels($expand=Sequels)", 0, 0, []int64{1, 200, 200}},
		{"through one entity", "Books?$expand=Prequel($expand=Sequels)", 1000, 0, []int64{200, 1, 5}},
		{"levels", "Books?$expand=Sequels($levels=3)", 80_000, 0, []int64{200, 200, 2, 1}},
		{"a preference", "Books?$expand=Sequels", 10_000, 5000, []int64{5000, 2}},
		{"a preference alone", "Books", 1000, 5000, []int64{5000}},
		{"top, and a page below", "Books?$top=1000&$expand=Sequels", 10_000, 0, []int64{1000, 10}},
		{"a page, and top below", "Books?$expand=Sequels($top=500)", 10_000, 0, []int64{20, 500}},
		{"tops that fit", "Books?$top=100&$expand=Sequels($top=100)", 10_000, 0, []int64{100, 100}},
		{"tops that do not", "Books?$top=100&$expand=Sequels($top=101)", 10_000, 0, nil},
		{"tops with a page between", "Books?$top=100&$expand=Sequels($expand=Sequels($top=10))", 10_000, 0, []int64{100, 10, 10}},
		{"tops in levels", "Books?$top=100&$expand=Sequels($top=100;$levels=3)", 100_000, 0, nil},
		{"one top that is large by itself", "Books?$top=9000000000000000000&$expand=Sequels", 0, 0, []int64{9_000_000_000_000_000_000, 1}},
		{"no limit", "Books?$top=100000&$expand=Sequels($top=100000)", plan.Unlimited, 0, []int64{100_000, 100_000}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, err := build(t, c.target, bind.Options{Caller: reader(), Limits: plan.Limits{Rows: c.rows}, Prefer: c.prefer})
			var fault *plan.Error
			if c.want == nil {
				if !errors.As(err, &fault) || fault.Kind != plan.TooLarge || !strings.Contains(fault.Message, "odata.limits.rows is") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for n := p.Top; n != nil; {
				got = append(got, n.Page.Rows)
				if len(n.Expand) == 0 {
					break
				}
				n = n.Expand[0]
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("pages of %v, want %v", got, c.want)
			}
		})
	}
}
