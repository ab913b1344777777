package bind_test

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// A plan with other numbers is the plan of a target that has these.
func TestPlansWithOtherNumbers(t *testing.T) {
	t.Parallel()
	binder := newBinder(t)
	plans := func(target string) *plan.Plan {
		t.Helper()
		req, err := syntax.Parse(strings.ReplaceAll(target, " ", "%20"), syntax.Options{Functions: function.Arity})
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		p, err := binder.Plan(req, bind.Options{Caller: reader()})
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		return p
	}
	for _, target := range []string{ // # stands for a number that can be another one
		"Books?$filter=Id eq #",
		"Books?$filter=Id gt # and Price le #&$orderby=Price",
		"Books?$filter=(Id lt # or not (Id ge #)) and Title eq 'a eq 1' and Price ne #&$top=3",
		"Books?$filter=Id gt # and Id gt # or Id lt #",
		"Books?$filter=Prequel/Id eq # and Price ne 1.5&$skip=4",
		"Books?$count=true&$filter=Id eq # and Price gt -3&$expand=Author",
		"Books/$count?$filter=Id eq #",
		"Books?$filter=Id add 1 eq 2 and Id eq #",
		"Books?$filter=Id in (1,2) and Loans/$count gt 1 and Id ne #",
		"Books?$filter=Sequels/any(d:d/Id eq 1) and Id ne #",
		"Books?$filter=1 eq 1 and Id eq #",
		"Books?$filter=Id eq 0 or Id eq 1000000000 or Id eq 4 add 5",
		"Books?$filter=Size/Width gt # and Size/Height le # or 5 eq Id or Id eq null or Id eq -5",
		"Books?$filter=true or Id eq #",
		"Books?$compute=Id add 1 as More&$filter=More eq 5 and Id eq 5",
		"Books?$apply=filter(Id eq #)&$filter=Id eq #", "Books?$apply=groupby((Id))&$filter=Id eq 5",
		"Books(1)",
		"$metadata",
	} {
		count := strings.Count(target, "#")
		with := func(first int64) (numbers []int64, places []int, filled string) {
			filled = target
			for i := range count {
				n := min(first+int64(i)*3, 999_999_999)
				before, _, _ := strings.Cut(filled, "#")
				numbers = append(numbers, n)
				places = append(places, len(strings.ReplaceAll(before, " ", "%20"))+1)
				filled = strings.Replace(filled, "#", strconv.FormatInt(n, 10), 1)
			}
			return numbers, places, filled
		}
		_, places, first := with(42)
		from := plans(first)
		if got := from.Numbers(); !reflect.DeepEqual(got, places) {
			t.Errorf("%s has numbers at %v, want %v", first, got, places)
			continue
		}
		for _, n := range []int64{1, 10, 100, 65536, 123456789, 999_999_999} {
			numbers, _, other := with(n)
			if count == 0 {
				continue
			}
			got, want := from.With(numbers), plans(other)
			forget(got)
			forget(want)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s from %s:\n%s\nwant\n%s", other, first, got, want)
			}
		}
	}
}

// forget drops the places of numbers, which are those of the target that a plan was made for.
func forget(p *plan.Plan) {
	plan.Walk(p.Top.Query.Filter, func(e plan.Expr) bool {
		if l, ok := e.(*plan.Literal); ok {
			l.At = 0
		}
		return true
	})
}
