package bind

import (
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
		t.query.Filter = and(t.query.Filter, f)
	}
	s, err := b.sequence(b.entities(t.query), q.Apply)
	if err != nil {
		return nil, err
	}
	s, err = b.withThese(s, optionExprs(q)...)
	if err != nil {
		return nil, err
	}
	s.query.From = t.query.From
	n := &plan.Node{Set: s.set(), Many: true, Query: s.query, CountOnly: t.count, Applied: !s.entity}
	b.plan.Top, b.plan.Kind = n, plan.Collection
	if t.count {
		b.plan.Kind = plan.RawCount
	}
	if err := b.nodeOf(&level{binding: b, scope: s.scope, node: n, shape: s}, q, 0); err != nil {
		return nil, err
	}
	if t.count {
		n.Columns, n.Fields, n.Key, n.Expand, n.Query.Order, n.MaxGroups = nil, nil, nil, nil, nil, 0
		n.Page = plan.Page{}
	}
	if err := b.bounded(n, pos); err != nil {
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

// maxDerived bounds how deep derived tables nest: MariaDB stops at 63, and one transformation makes up to three.
const maxDerived = 48

// sequence binds transformations.
func (b *binding) sequence(s *shape, steps []syntax.Step) (*shape, error) {
	for i := range steps {
		step := &steps[i]
		if b.applySteps++; b.applySteps > b.Limits.ApplySteps {
			return nil, plan.Exceeded(step.Pos, "apply_steps", int64(b.Limits.ApplySteps), "$apply has more transformations, those inside of others included")
		}
		var err error
		if s, err = b.transform(s, step); err != nil {
			return nil, err
		}
		if s.depth > maxDerived {
			return nil, plan.Errorf(plan.TooLarge, step.Pos, "the transformations that group, or look at several rows, build on each other more than %d deep; this limit is fixed", maxDerived)
		}
	}
	return s, nil
}

// transform binds one transformation.
func (b *binding) transform(s *shape, step *syntax.Step) (*shape, error) {
	switch step.Name {
	case "aggregate":
		return b.aggregated(s, nil, step.Aggregates)
	case "groupby":
		return b.groupBy(s, step)
	case "concat":
		return b.concat(s, step.Sequences)
	case "identity":
		return s, nil
	case "filter":
		return b.filtered(s, step)
	case "search":
		return s, b.searched(s, step.Search)
	case "compute":
		return b.computeStep(s, step)
	case "orderby":
		return b.ordered(s, step)
	case "skip", "top":
		return b.cut(s, step)
	}
	return b.topped(s, step)
}

func (b *binding) filtered(s *shape, step *syntax.Step) (*shape, error) {
	s, err := b.withThese(s, step.Expr)
	if err != nil {
		return nil, err
	}
	f, err := s.condition(step.Expr)
	if err != nil {
		return nil, err
	}
	s.restrict(f)
	return s, b.admit(f, step.Expr.Pos())
}

func (b *binding) computeStep(s *shape, step *syntax.Step) (*shape, error) {
	var exprs []syntax.Expr
	for _, item := range step.Compute {
		exprs = append(exprs, item.Expr)
	}
	s, err := b.withThese(s, exprs...)
	if err != nil {
		return nil, err
	}
	l := &level{binding: b, scope: s.scope, node: &plan.Node{Set: s.set(), Query: s.query}}
	for _, item := range step.Compute {
		s.names = append(s.names, item.As)
	}
	return s, l.computeItems(step.Compute)
}

// ordered binds orderby, which keeps the order of before where its expressions are the same.
func (b *binding) ordered(s *shape, step *syntax.Step) (*shape, error) {
	var exprs []syntax.Expr
	for _, item := range step.OrderBy {
		exprs = append(exprs, item.Expr)
	}
	s, err := b.withThese(s, exprs...)
	if err != nil {
		return nil, err
	}
	list, err := (&level{binding: b, scope: s.scope}).orderItems(nil, step.OrderBy)
	if err != nil {
		return nil, err
	}
	for _, o := range s.order {
		list = appendOrder(list, o)
	}
	s.order = list
	return s, nil
}

// searched binds search: over entities as $search is, and over other structures in all their texts.
func (b *binding) searched(s *shape, in *syntax.Search) error {
	if s.entity && !s.query.Range.Set.Searchable {
		return plan.Errorf(plan.NotImplemented, in.Pos, "%q cannot be searched", s.query.Range.Set.Name)
	}
	if err := b.countSearch(in); err != nil {
		return err
	}
	switch {
	case !s.entity:
		texts := s.texts()
		if words(search(in))*int64(len(texts)) > maxWritten {
			return plan.Errorf(plan.TooLarge, in.Pos, "each word of search is looked for in %d texts; more than %d of both multiplied are refused, and this limit is fixed", len(texts), maxWritten)
		}
		f := found(in, texts)
		s.restrict(f)
		return b.admit(f, in.Pos)
	case s.query.Range.Derived != nil || s.inGroups():
		return plan.Errorf(plan.NotImplemented, in.Pos, "search is supported before transformations that group, or that look at several rows")
	case s.query.Search != nil:
		s.query.Search = &plan.Search{Op: "and", Args: []*plan.Search{s.query.Search, search(in)}}
	default:
		s.query.Search = search(in)
	}
	return nil
}

// found is the condition that texts have what a search looks for. It is true or false.
func found(in *syntax.Search, texts []plan.Expr) plan.Expr {
	text, truth := edm.Of(edm.String), edm.Of(edm.Boolean)
	args := make([]plan.Expr, len(in.Args))
	for i, a := range in.Args {
		args[i] = found(a, texts)
	}
	switch in.Op {
	case "NOT":
		return &plan.Call{Name: "not", Args: args, T: truth}
	case "AND":
		return chain("and", args)
	case "OR":
		return chain("or", args)
	}
	lower := func(x plan.Expr) plan.Expr { return &plan.Call{Name: "tolower", Args: []plan.Expr{x}, T: text} }
	var list []plan.Expr
	for _, leaf := range texts {
		term := lower(&plan.Literal{T: text, Value: plan.Value{Bytes: []byte(in.Text)}})
		list = append(list, isTrue(&plan.Call{Name: "contains", Args: []plan.Expr{lower(leaf), term}, T: truth}))
	}
	return chain("or", list)
}

// chain joins conditions: none by and are true, none by or are false.
func chain(op string, args []plan.Expr) plan.Expr {
	if len(args) == 0 {
		return boolean(op == "and")
	}
	return balanced(op, args)
}
