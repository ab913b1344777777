package bind

import (
	"maps"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// shape is the rows between two transformations of $apply: a query, and what its rows look like. As long as they are
// entities its range goes over their set; afterwards over a plan.Derived whose type was made for it, so that expressions bind as
// they do elsewhere.
type shape struct {
	*scope
	query *plan.Query
	// entity tells that the rows are entities.
	entity bool
	// names are those of compute, in order; scope.computed has what they stand for.
	names []string
	// dynamic are the names that no property of the set's type has: those of aggregate.
	dynamic map[string]bool
	// order is total, and empty where there is one row at most.
	order []plan.Order
	// keys are what the groups are formed by inside of groupby, where each transformation works on every group by itself.
	// keep is the condition for a row to be there: a group is there even where all of its rows are left out.
	keys []groupKey
	keep plan.Expr
	// optional are the paths that not every row has, each with its bit in mask.
	optional map[string]int
	mask     plan.Expr
	// groups is the number of groups that were made on the way; nil where none were.
	groups plan.Expr
	// copies is how often the rows at the beginning are read: each sequence of concat reads them for itself.
	copies int
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

func (b *binding) entities(q *plan.Query) *shape {
	s := &shape{scope: b.scope(q.Range), query: q, entity: true, copies: 1, base: q.Range.Set.Type}
	for _, p := range q.Range.Set.Type.Key {
		s.order = append(s.order, plan.Order{Expr: leaf(q.Range, []*edm.Property{p})})
	}
	s.scope.shape = s
	return s
}

func (s *shape) set() *edm.EntitySet { return s.query.Range.Set }

func (s *shape) inGroups() bool { return len(s.keys) > 0 }

// restrict leaves out the rows for which a condition is not true.
func (s *shape) restrict(f plan.Expr) {
	if s.inGroups() {
		s.keep = and(s.keep, isTrue(f))
		return
	}
	s.query.Filter = and(s.query.Filter, f)
}

// settle leaves out what keep leaves out, where groups no longer matter.
func (s *shape) settle() {
	if s.keep != nil {
		s.query.Filter = and(s.query.Filter, s.keep)
		s.keep = nil
	}
}

// fork copies a shape, so that several sequences can start from it. The one that is bound next must be the one that was
// forked last: joins are added to its query.
func (b *binding) fork(s *shape) *shape {
	out := *s
	q := *s.query
	q.Joins, q.Computed = slices.Clone(q.Joins), slices.Clone(q.Computed)
	out.query = &q
	b.owner[q.Range] = &q
	for _, j := range q.Joins {
		b.owner[j] = &q
	}
	out.scope = s.scope.copied()
	out.scope.shape = &out
	out.names, out.order = slices.Clone(s.names), slices.Clone(s.order)
	return &out
}

func (s *scope) copied() *scope {
	out := *s
	out.computed = maps.Clone(s.computed)
	out.these = maps.Clone(s.these)
	return &out
}

// leaf is a primitive property of the rows of a range.
func leaf(r *plan.Range, path []*edm.Property) plan.Expr {
	p := path[len(path)-1]
	if r.Derived != nil {
		if at, ok := r.Derived.At[p]; ok {
			return &plan.Cell{Range: r, Column: at, T: p.Type}
		}
	}
	return &plan.Ref{Range: r, Path: path, T: p.Type}
}

// leaves lists the values of a row: the properties of its type, and what compute has added.
func (s *shape) leaves() []leafOf {
	var out []leafOf
	var add func(props []*edm.Property, path []*edm.Property, names []string)
	add = func(props []*edm.Property, path []*edm.Property, names []string) {
		for _, p := range props {
			below, name := append(slices.Clone(path), p), append(slices.Clone(names), p.Name)
			switch {
			case p.Type.Kind == edm.Complex:
				add(p.Type.Complex.Properties, below, name)
			case p.Type.Kind != edm.Stream:
				out = append(out, leafOf{name, leaf(s.query.Range, below), len(path) == 0 && s.dynamic[p.Name]})
			}
		}
	}
	add(s.set().Type.Properties, nil, nil)
	for _, name := range s.names {
		out = append(out, leafOf{[]string{name}, s.computed[name], true})
	}
	return out
}

// texts are the texts of a row.
func (s *shape) texts() []plan.Expr {
	var out []plan.Expr
	for _, l := range s.leaves() {
		if l.expr.Type().Kind == edm.String {
			out = append(out, l.expr)
		}
	}
	return out
}

// partition are the expressions that tell the groups apart in which a transformation works.
func (s *shape) partition() []plan.Expr {
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

// isDefined binds isdefined. OData Data Aggregation 3.7
func (s *scope) isDefined(e *syntax.IsDefined) (plan.Expr, error) {
	var names []string
	for _, seg := range e.Path.Segments {
		names = append(names, seg.Name)
	}
	path := strings.Join(names, "/")
	if s.shape != nil && len(s.vars) == 0 {
		if cond := s.shape.has(path); cond != nil {
			return cond, nil
		}
	}
	fresh := *s
	if _, err := fresh.path(e.Path); err == nil {
		return boolean(true), nil
	}
	if s.aggregatedAway(names[0]) {
		return boolean(false), nil
	}
	return s.path(e.Path)
}

// has is the condition that a row has a value, or any inside of a structure; nil where all rows have it, or none.
func (s *shape) has(path string) plan.Expr {
	var conds []plan.Expr
	for _, l := range s.leaves() {
		name := strings.Join(l.path, "/")
		if name != path && !strings.HasPrefix(name, path+"/") {
			continue
		}
		bit, optional := s.optional[name]
		if !optional {
			return nil
		}
		conds = append(conds, bitOf(s.mask, bit))
	}
	if conds == nil {
		return nil
	}
	return chain("or", conds)
}

// aggregatedAway tells whether $apply has left out a property that the entities had.
func (s *scope) aggregatedAway(name string) bool {
	return s.shape != nil && !s.shape.entity && (s.shape.base.Property(name) != nil || s.shape.base.Nav(name) != nil)
}

// bitOf is the condition that a bit of a mask is set.
func bitOf(mask plan.Expr, bit int) plan.Expr {
	whole := edm.Of(edm.Int64)
	div := &plan.Call{Name: "div", Args: []plan.Expr{mask, number(1 << bit)}, T: whole}
	return equal(&plan.Call{Name: "mod", Args: []plan.Expr{div, number(2)}, T: whole}, number(1))
}

func number(n int64) *plan.Literal {
	return &plan.Literal{T: edm.Of(edm.Int64), Value: plan.Value{Int: n}}
}
