package bind_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// FuzzPlan holds for every request that parses: no panic; a fault is one that clients may see; and in a plan every set
// with a row policy is reached through that policy, every collection has a total order, and nothing hidden is named.
func FuzzPlan(f *testing.F) {
	for _, seed := range []string{
		"", "$metadata", "Books", "Books(1)/Loans?$expand=Book", "Authors(Country='a',No=1)/Books/2/Title/$value",
		"Books?$filter=Loans/any(l:l/Due lt 2024-01-01 and l/Book/Id eq $it/Id)&$orderby=Author/Name desc&$count=true",
		"Books?$expand=Sequels($levels=2;$filter=Price mul 2 gt 1.5;$select=Size/Width),*&$select=Title,Author",
		"Books?$compute=year(Printed) as Y,case(Price gt 1:'a',true:'b') as C&$filter=Y in (1,null)&$search=a OR NOT b",
		"Books?$filter=Genre has 'Crime' and not (Title eq concat('a',@p)) and $root/Site/Name ne null&@p='x'",
		"Site/Name", "Loans/$count", "Books/$filter(Id gt 1)/$count?$filter=cast(Price,Edm.Int32) eq -3",
	} {
		f.Add(strings.ReplaceAll(seed, " ", "%20"))
	}
	p := newBinder(f)
	f.Fuzz(func(t *testing.T, target string) {
		req, err := syntax.Parse(target, syntax.Options{Functions: function.Arity})
		if err != nil {
			return
		}
		for _, caller := range []plan.Caller{reader(), {}} {
			got, err := p.Plan(req, bind.Options{Caller: caller})
			if err != nil {
				var fault *plan.Error
				var malformed *syntax.Error
				if !errors.As(err, &fault) && !errors.As(err, &malformed) {
					t.Fatalf("%q: %v", target, err)
				}
				continue
			}
			checkNode(t, got.Top)
		}
	})
}

func checkNode(t *testing.T, n *plan.Node) {
	t.Helper()
	if n == nil {
		return
	}
	checkQuery(t, n.Query)
	if n.Many && !n.CountOnly && len(n.Columns) > 0 && len(n.Query.Order) < len(n.Set.Type.Key) {
		t.Fatalf("%s is not in a total order", n.Set.Name)
	}
	for _, c := range n.Columns {
		checkExpr(t, c.Expr)
	}
	for _, k := range n.Key {
		if k >= len(n.Columns) {
			t.Fatal("the key has no column")
		}
	}
	for _, x := range n.Expand {
		checkNode(t, x)
	}
}

func checkQuery(t *testing.T, q *plan.Query) {
	t.Helper()
	if q == nil {
		return
	}
	for _, r := range append([]*plan.Range{q.Range}, q.Joins...) {
		if r.Set.Policy != "" && r.Policy == nil {
			t.Fatalf("%s is reached around its policy", r.Set.Name)
		}
	}
	checkQuery(t, q.From)
	for _, e := range []plan.Expr{q.Key, q.Filter} {
		checkExpr(t, e)
	}
	for _, o := range q.Order {
		checkExpr(t, o.Expr)
	}
}

func checkExpr(t *testing.T, e plan.Expr) {
	t.Helper()
	plan.Walk(e, func(e plan.Expr) bool {
		switch e := e.(type) {
		case *plan.Sub:
			checkQuery(t, e.Query)
			checkExpr(t, e.Value)
			return false
		case *plan.Ref:
			if len(e.Path) > 0 && hidden(e.Range.Set.Type, e.Path[0]) {
				t.Fatalf("%s is hidden", e.Path[0].Name)
			}
		}
		return true
	})
}

func hidden(typ *edm.EntityType, p *edm.Property) bool {
	for _, h := range typ.Hidden {
		if h == p {
			return true
		}
	}
	return false
}
