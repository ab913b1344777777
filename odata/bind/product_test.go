package bind_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// TestNestedTopsMultiply holds that the $top of nested collections are kept or refused: those of all levels promise no more
// rows than the limit, and a page at the top leaves them enough. Nested pages of the service have their size: where they end
// is decided when the rows are there.
func TestNestedTopsMultiply(t *testing.T) {
	cases := []struct {
		name, target string
		rows, prefer int64
		want         []int64 // rows of the pages from the top down; nil is refused
	}{
		{"pages of the service", "Books?$expand=Sequels($expand=Sequels($expand=Sequels($expand=Sequels)))", 0, 0, []int64{200, 200, 200, 200, 200}},
		{"from one entity", "Books(1)?$expand=Sequels($expand=Sequels)", 0, 0, []int64{1, 200, 200}},
		{"through one entity", "Books?$expand=Prequel($expand=Sequels)", 1000, 0, []int64{200, 1, 200}},
		{"levels", "Books?$expand=Sequels($levels=3)", 80_000, 0, []int64{200, 200, 200, 200}},
		{"a preference", "Books?$expand=Sequels", 10_000, 5000, []int64{5000, 5000}},
		{"a preference alone", "Books", 1000, 5000, []int64{5000}},
		{"top, and a page below", "Books?$top=1000&$expand=Sequels", 10_000, 0, []int64{1000, 200}},
		{"a page, and top below", "Books?$expand=Sequels($top=500)", 10_000, 0, []int64{19, 500}},
		{"a page, and tops below", "Books?$expand=Sequels($top=10;$expand=Sequels($top=50))", 10_000, 0, []int64{19, 10, 50}},
		{"a page, and top two levels below", "Books?$expand=Sequels($expand=Sequels($top=500))", 10_000, 0, []int64{19, 200, 500}},
		{"a page, and top in levels", "Books?$expand=Sequels($top=10;$levels=3)", 10_000, 0, []int64{9, 10, 10, 10}},
		{"a page, and top of nothing", "Books?$expand=Sequels($top=0)", 10_000, 0, []int64{200, 0}},
		{"tops that fit", "Books?$top=100&$expand=Sequels($top=99)", 10_000, 0, []int64{100, 99}},
		{"tops that do not", "Books?$top=100&$expand=Sequels($top=100)", 10_000, 0, nil},
		{"tops beside each other", "Books?$top=100&$expand=Sequels($top=60),Loans($top=60)", 10_000, 0, nil},
		{"tops with a page between", "Books?$top=100&$expand=Sequels($expand=Sequels($top=10))", 10_000, 0, []int64{100, 200, 10}},
		{"tops in levels", "Books?$top=100&$expand=Sequels($top=100;$levels=3)", 100_000, 0, nil},
		{"one top that is large by itself", "Books?$top=9000000000000000000&$expand=Sequels", 0, 0, []int64{9_000_000_000_000_000_000, 200}},
		{"no limit", "Books?$top=100000&$expand=Sequels($top=100000)", plan.Unlimited, 0, []int64{100_000, 100_000}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, err := build(t, c.target, bind.Options{Caller: reader(), Limits: plan.Limits{Rows: c.rows}, Prefer: c.prefer})
			var fault *plan.Error
			if c.want == nil {
				if !errors.As(err, &fault) || fault.Kind != plan.TooLarge || !strings.Contains(fault.Message, "leave the nested $top out") || !strings.Contains(fault.Message, "odata.limits.rows is") {
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
