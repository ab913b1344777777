package plan_test

import (
	"math"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

func number(n int64) *plan.Literal {
	return &plan.Literal{T: edm.Of(edm.Int64), Value: plan.Value{Int: n}}
}

func call(name string, args ...plan.Expr) *plan.Call {
	return &plan.Call{Name: name, Args: args, T: edm.Of(edm.Int64)}
}

func TestWalk(t *testing.T) {
	sub := &plan.Sub{Op: "value", Value: call("value"), Query: &plan.Query{
		Key: call("key"), Filter: call("filter", call("inner")), Order: []plan.Order{{Expr: call("order")}},
	}}
	e := call("add", call("mul", number(1)), sub)
	names := func(prune string) string {
		var list []string
		plan.Walk(e, func(e plan.Expr) bool {
			switch e := e.(type) {
			case *plan.Call:
				list = append(list, e.Name)
				return e.Name != prune
			case *plan.Literal:
				list = append(list, "literal")
			case *plan.Sub:
				list = append(list, "sub")
			}
			return true
		})
		return strings.Join(list, " ")
	}
	if got, want := names(""), "add mul literal sub key filter inner order value"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := names("filter"), "add mul literal sub key filter order value"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSame(t *testing.T) {
	here, there := &plan.Range{}, &plan.Range{}
	name, price := &edm.Property{Name: "name"}, &edm.Property{Name: "price"}
	ref := func(r *plan.Range, path ...*edm.Property) *plan.Ref { return &plan.Ref{Range: r, Path: path} }
	float := func(f float64) *plan.Literal {
		return &plan.Literal{T: edm.Of(edm.Double), Value: plan.Value{Float: f}}
	}
	sub := &plan.Sub{Op: "count", Query: &plan.Query{}}
	cases := []struct {
		name string
		a, b plan.Expr
		want bool
	}{
		{"literals", number(1), number(1), true},
		{"other literals", number(1), number(2), false},
		{"literals of other types", number(1), &plan.Literal{T: edm.Of(edm.Byte), Value: plan.Value{Int: 1}}, false},
		{"NaN", float(math.NaN()), float(math.NaN()), true},
		{"zeros of other signs", float(0), float(math.Copysign(0, -1)), false},
		{"properties", ref(here, name), ref(here, name), true},
		{"other properties", ref(here, name), ref(here, price), false},
		{"other rows", ref(here, name), ref(there, name), false},
		{"longer paths", ref(here, name), ref(here, name, price), false},
		{"calls", call("add", ref(here, name), number(1)), call("add", ref(here, name), number(1)), true},
		{"other calls", call("add", number(1)), call("sub", number(1)), false},
		{"other arguments", call("add", number(1)), call("add", number(1), number(1)), false},
		{"one subquery", sub, sub, true},
		{"two subqueries", sub, &plan.Sub{Op: "count", Query: sub.Query}, false},
		{"a call and a literal", call("add"), number(1), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := plan.Same(c.a, c.b); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
