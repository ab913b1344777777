package bind

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/bind/internal/transform"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// applied makes the plan for a collection with $apply: the transformations one after the other, each bound against the shape
// that the one before it gives, and then the other options against the last. OData Data Aggregation 3
func (b *binding) applied(t *target, q *syntax.Query) (*plan.Plan, error) {
	set := t.set()
	pos := optionPos(q, "$apply")
	switch {
	case !t.many || t.ref || len(t.props) > 0 || t.value:
		return nil, plan.Errorf(plan.Malformed, pos, "$apply does not apply to this resource")
	case set.NoApply:
		return nil, plan.Errorf(plan.NotImplemented, pos, "%q does not support $apply", set.Name)
	}
	for _, f := range t.filters {
		t.query.Filter = plan.Join("and", t.query.Filter, f)
	}
	b.apply = transform.New(expressions{b}, b.Limits.ApplySteps)
	s, err := b.apply.Apply(t.query, q.Apply)
	if err != nil {
		return nil, err
	}
	s, err = b.apply.These(s, optionExprs(q)...)
	if err != nil {
		return nil, err
	}
	s.Query.From = t.query.From
	n := &plan.Node{Set: s.Set(), Many: true, Query: s.Query, CountOnly: t.count, Applied: !s.Entity}
	b.plan.Top, b.plan.Kind = n, plan.Collection
	if t.count {
		b.plan.Kind = plan.RawCount
	}
	if err := b.nodeOf(&level{binding: b, scope: b.rowsOf(s), node: n, shape: s}, q, 0); err != nil {
		return nil, err
	}
	if t.count {
		n.Columns, n.Fields, n.Key, n.Expand, n.Query.Order, n.MaxGroups = nil, nil, nil, nil, nil, 0
		n.Page = plan.Page{}
	}
	if err := b.apply.Bounded(n, pos); err != nil {
		return nil, err
	}
	return b.plan, nil
}

// optionExprs are the expressions of the options that act on the result of $apply.
func optionExprs(q *syntax.Query) []syntax.Expr {
	list := []syntax.Expr{q.Filter}
	for _, item := range q.OrderBy {
		list = append(list, item.Expr)
	}
	for _, item := range q.Compute {
		list = append(list, item.Expr)
	}
	return list
}

// rowsOf is where expressions over the rows of a shape are bound.
func (b *binding) rowsOf(s *transform.Shape) *scope {
	return &scope{b: b, this: s.Query.Range, computed: s.Computed, these: s.These, shape: s}
}

// isDefined binds isdefined. OData Data Aggregation 3.7
func (s *scope) isDefined(e *syntax.IsDefined) (plan.Expr, error) {
	var names []string
	for _, seg := range e.Path.Segments {
		names = append(names, seg.Name)
	}
	path := strings.Join(names, "/")
	if s.shape != nil && len(s.vars) == 0 {
		if cond := s.shape.Has(path); cond != nil {
			return cond, nil
		}
	}
	fresh := *s
	if _, err := fresh.path(e.Path); err == nil {
		return plan.Bool(true), nil
	}
	if s.shape != nil && s.shape.AggregatedAway(names[0]) {
		return plan.Bool(false), nil
	}
	return s.path(e.Path)
}

// expressions is binding as transformations see it.
type expressions struct{ b *binding }

func (x expressions) Range(set *edm.EntitySet) *plan.Range { return x.b.newRange(set) }

func (x expressions) Own(q *plan.Query) {
	x.b.owner[q.Range] = q
	for _, j := range q.Joins {
		x.b.owner[j] = q
	}
}

func (x expressions) Bind(s *transform.Shape, e syntax.Expr) (plan.Expr, error) {
	return x.b.rowsOf(s).bind(e)
}

func (x expressions) Condition(s *transform.Shape, e syntax.Expr) (plan.Expr, error) {
	return x.b.rowsOf(s).condition(e)
}

func (x expressions) Compute(s *transform.Shape, items []syntax.ComputeItem) error {
	l := &level{binding: x.b, scope: x.b.rowsOf(s), node: &plan.Node{Set: s.Set(), Query: s.Query}}
	return l.computeItems(items)
}

func (x expressions) OrderBy(s *transform.Shape, items []syntax.OrderItem) ([]plan.Order, error) {
	return (&level{binding: x.b, scope: x.b.rowsOf(s)}).orderItems(nil, items)
}

func (x expressions) Words(in *syntax.Search) (*plan.Search, error) {
	return search(in), x.b.countSearch(in)
}

func (x expressions) Constant(e plan.Expr, t edm.Type) plan.Expr { return constantAs(e, t) }

func (x expressions) Count(pos int) error { return x.b.count(pos) }

func (x expressions) Admit(e plan.Expr, pos int) error { return x.b.admit(e, pos) }

func (x expressions) Steps(e plan.Expr) int64 { return x.b.costOf(e).steps }
