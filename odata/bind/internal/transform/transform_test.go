package transform_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/bind/internal/transform"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// names are Expressions that know properties by their names, and nothing else.
type names struct{ ranges int }

func (n *names) Range(set *edm.EntitySet) *plan.Range {
	n.ranges++
	return &plan.Range{ID: n.ranges, Set: set}
}

func (n *names) Bind(s *transform.Shape, e syntax.Expr) (plan.Expr, error) {
	if path, ok := e.(*syntax.Path); ok {
		if p := s.Set().Type.Property(path.Segments[0].Name); p != nil {
			return s.Query.Range.Leaf([]*edm.Property{p}), nil
		}
	}
	return nil, plan.Errorf(plan.Malformed, e.Pos(), "no property")
}

func (n *names) Condition(s *transform.Shape, e syntax.Expr) (plan.Expr, error) {
	return n.Bind(s, e)
}

func (n *names) OrderBy(s *transform.Shape, items []syntax.OrderItem) ([]plan.Order, error) {
	e, err := n.Bind(s, items[0].Expr)
	return []plan.Order{{Expr: e, Desc: items[0].Desc}}, err
}

func (n *names) Own(*plan.Query)                                      {}
func (n *names) Compute(*transform.Shape, []syntax.ComputeItem) error { return nil }
func (n *names) Words(*syntax.Search) (*plan.Search, error)           { return &plan.Search{}, nil }
func (n *names) Constant(e plan.Expr, _ edm.Type) plan.Expr           { return e }
func (n *names) Count(int) error                                      { return nil }
func (n *names) Admit(plan.Expr, int) error                           { return nil }
func (n *names) Steps(plan.Expr) int64                                { return 1 }

func apply(t *testing.T, text string, limit int) (*transform.Shape, error) {
	t.Helper()
	req, err := syntax.Parse("Books?$apply="+text, syntax.Options{Functions: function.Arity, MaxNodes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	id := &edm.Property{Name: "Id", Type: edm.Of(edm.Int64)}
	book := &edm.EntityType{Name: "Book", Key: []*edm.Property{id}, Properties: []*edm.Property{
		id,
		{Name: "Title", Type: edm.Of(edm.String)},
		{Name: "Price", Type: edm.Of(edm.Decimal)},
		{Name: "Printed", Type: edm.Of(edm.Date)},
		{Name: "Sold", Type: edm.Of(edm.Boolean)},
	}}
	of := &plan.Query{Range: &plan.Range{Set: &edm.EntitySet{Name: "Books", Type: book}}}
	return transform.New(&names{}, limit).Apply(of, req.Apply)
}

// TestShapes holds what rows look like behind transformations: their properties, and the items of their order.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		apply, properties string
		order             int
	}{
		{"identity", "Id Title Price Printed Sold", 1},
		{"orderby(Title)", "Id Title Price Printed Sold", 2},
		{"filter(Sold)/top(3)", "Id Title Price Printed Sold", 1},
		{"aggregate(Price%20with%20sum%20as%20Total)", "Total", 0},
		{"groupby((Title,Printed))", "Title Printed", 2},
		{"groupby((Title),aggregate($count%20as%20N,Price%20with%20average%20as%20P))", "Title N P", 1},
		{"groupby((Title),top(1))", "Id Title Price Printed Sold", 1},
		{"groupby((rollup(Title,Printed)),aggregate($count%20as%20N))", "Title Printed N", 2},
		{"concat(aggregate($count%20as%20N),groupby((Title)))", "N Title", 2},
		{"groupby((Title,Sold),aggregate($count%20as%20N))/groupby((Sold),aggregate(N%20with%20max%20as%20M))", "Sold M", 1},
	} {
		s, err := apply(t, c.apply, 100)
		if err != nil {
			t.Errorf("%s: %v", c.apply, err)
			continue
		}
		var got []string
		for _, p := range s.Set().Type.Properties {
			got = append(got, p.Name)
		}
		if list := strings.Join(got, " "); list != c.properties || len(s.Order) != c.order {
			t.Errorf("%s: rows of %q in %d orders, want %q in %d", c.apply, list, len(s.Order), c.properties, c.order)
		}
	}
}

// TestRollupsMultiply holds that the groupings that rollups stand for are counted before they are made: 18 rollups of two
// paths are 262,144 lists of 18 to 36 paths.
func TestRollupsMultiply(t *testing.T) {
	many := "groupby((" + strings.TrimSuffix(strings.Repeat("rollup(Id,Title),", 18), ",") + "))"
	for _, limit := range []int{20, 1 << 30} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := apply(t, many, limit)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "read the rows more than 64 times") {
			t.Errorf("%v, want the fixed limit", err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
			t.Errorf("the refusal took %d bytes of memory", took)
		}
	}
	if _, err := apply(t, "groupby((rollup(Id,Title),rollup(Price,Printed)))", 20); err != nil {
		t.Errorf("two rollups are refused: %v", err)
	}
}
