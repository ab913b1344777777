package transform

import (
	"maps"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// Shape is the rows between two transformations: a query, and what its rows look like. As long as they are entities its range
// goes over their set; afterwards over a plan.Derived whose type was made for it, so that expressions bind as they do
// elsewhere. It is for one goroutine.
type Shape struct {
	Query *plan.Query
	// Entity tells that the rows are entities.
	Entity bool
	// Names are those of compute, in order; Computed has what they stand for.
	Names    []string
	Computed map[string]plan.Expr
	// These is what $these gives.
	These map[*syntax.These]plan.Expr
	// Dynamic are the names that no property of the set's type has: those of aggregate.
	Dynamic map[string]bool
	// Order is total, and empty where there is one row at most.
	Order []plan.Order
	// Optional are the paths that not every row has, each with its bit in Mask.
	Optional map[string]int
	Mask     plan.Expr
	// Groups is the number of groups that were made on the way; nil where none were.
	Groups plan.Expr
	// keys are what the groups are formed by inside of groupby, where each transformation works on every group by itself.
	// keep is the condition for a row to be there: a group is there even where all of its rows are left out.
	keys []groupKey
	keep plan.Expr
	// copies is how often the rows at the beginning are read: each sequence of concat reads them for itself.
	copies int
	// few reports that there are no more than few rows, so that passes over them cost nothing.
	few bool
	// depth is how many derived tables are inside of each other.
	depth int
	// base is the type of the entities that all this began with.
	base *edm.EntityType
}

// groupKey is what rows are grouped by: an expression, and the path that its value has in the result.
type groupKey struct {
	path []string
	expr plan.Expr
}

// leafOf is one primitive value of a row.
type leafOf struct {
	path []string
	expr plan.Expr
	// dynamic marks what is no property of the set's type.
	dynamic bool
}

// entities is the shape that everything begins with.
func (b *Builder) entities(q *plan.Query) *Shape {
	s := &Shape{Query: q, Computed: map[string]plan.Expr{}, Entity: true, copies: 1, base: q.Range.Set.Type}
	for _, p := range q.Range.Set.Type.Key {
		s.Order = append(s.Order, plan.Order{Expr: q.Range.Leaf([]*edm.Property{p})})
	}
	return s
}

// shape is one over the rows of a range that was made of others.
func (b *Builder) shape(r *plan.Range, from *Shape) *Shape {
	return &Shape{Query: b.query(r), Computed: map[string]plan.Expr{}, Dynamic: map[string]bool{}, base: from.base}
}

// query makes a query over a range.
func (b *Builder) query(r *plan.Range) *plan.Query {
	q := &plan.Query{Range: r}
	b.Own(q)
	return q
}

// Set tells what the rows are presented as.
func (s *Shape) Set() *edm.EntitySet { return s.Query.Range.Set }

func (s *Shape) inGroups() bool { return len(s.keys) > 0 }

// restrict leaves out the rows for which a condition is not true.
func (s *Shape) restrict(f plan.Expr) {
	if s.inGroups() {
		s.keep = plan.Join("and", s.keep, isTrue(f))
		return
	}
	s.Query.Filter = plan.Join("and", s.Query.Filter, f)
}

// settle leaves out what keep leaves out, where groups no longer matter.
func (s *Shape) settle() {
	if s.keep != nil {
		s.Query.Filter = plan.Join("and", s.Query.Filter, s.keep)
		s.keep = nil
	}
}

// fork copies a shape, so that several sequences can start from it. The one that is bound next must be the one that was
// forked last: joins are added to its query.
func (b *Builder) fork(s *Shape) *Shape {
	out := *s
	q := *s.Query
	q.Joins, q.Counts, q.Computed = slices.Clone(q.Joins), slices.Clone(q.Counts), slices.Clone(q.Computed)
	out.Query = &q
	b.Own(&q)
	out.Computed, out.These = maps.Clone(s.Computed), maps.Clone(s.These)
	out.Names, out.Order = slices.Clone(s.Names), slices.Clone(s.Order)
	return &out
}

// leaves lists the values of a row: the properties of its type, and what compute has added.
func (s *Shape) leaves() []leafOf {
	var out []leafOf
	var add func(props []*edm.Property, path []*edm.Property, names []string)
	add = func(props []*edm.Property, path []*edm.Property, names []string) {
		for _, p := range props {
			below, name := append(slices.Clone(path), p), append(slices.Clone(names), p.Name)
			switch {
			case p.Type.Kind == edm.Complex:
				add(p.Type.Complex.Properties, below, name)
			case p.Type.Kind != edm.Stream:
				out = append(out, leafOf{name, s.Query.Range.Leaf(below), len(path) == 0 && s.Dynamic[p.Name]})
			}
		}
	}
	add(s.Set().Type.Properties, nil, nil)
	for _, name := range s.Names {
		out = append(out, leafOf{[]string{name}, s.Computed[name], true})
	}
	return out
}

// texts are the texts of a row.
func (s *Shape) texts() []plan.Expr {
	var out []plan.Expr
	for _, l := range s.leaves() {
		if l.expr.Type().Kind == edm.String {
			out = append(out, l.expr)
		}
	}
	return out
}

// partition are the expressions that tell the groups apart in which a transformation works.
func (s *Shape) partition() []plan.Expr {
	var out []plan.Expr
	for _, k := range s.keys {
		if _, constant := k.expr.(*plan.Literal); !constant {
			out = append(out, k.expr)
		}
	}
	if s.keep != nil {
		out = append(out, s.keep)
	}
	return out
}

// Has is the condition that a row has a value, or any inside of a structure; nil where all rows have it, or none.
func (s *Shape) Has(path string) plan.Expr {
	var conds []plan.Expr
	for _, l := range s.leaves() {
		name := strings.Join(l.path, "/")
		if name != path && !strings.HasPrefix(name, path+"/") {
			continue
		}
		bit, optional := s.Optional[name]
		if !optional {
			return nil
		}
		conds = append(conds, bitOf(s.Mask, bit))
	}
	if conds == nil {
		return nil
	}
	return chain("or", conds)
}

// AggregatedAway tells whether $apply has left out a property that the entities had.
func (s *Shape) AggregatedAway(name string) bool {
	return !s.Entity && (s.base.Property(name) != nil || s.base.Nav(name) != nil)
}

// bitOf is the condition that a bit of a mask is set.
func bitOf(mask plan.Expr, bit int) plan.Expr {
	whole := edm.Of(edm.Int64)
	div := &plan.Call{Name: "div", Args: []plan.Expr{mask, number(1 << bit)}, T: whole}
	return plan.Equal(&plan.Call{Name: "mod", Args: []plan.Expr{div, number(2)}, T: whole}, number(1))
}

func number(n int64) *plan.Literal {
	return &plan.Literal{T: edm.Of(edm.Int64), Value: plan.Value{Int: n}}
}
