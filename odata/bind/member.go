package bind

import (
	"errors"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// path binds a path in an expression: where it starts, then member by member. OData-URL 5.1.1.15
func (s *scope) path(e *syntax.Path) (plan.Expr, error) {
	segs := e.Segments
	switch {
	case e.Root == "":
		if x, ok := s.computed[segs[0].Name]; ok && len(segs) == 1 && segs[0].Args == nil {
			return x, nil
		}
		return s.members(s.this, segs)
	case e.Root == "$this":
		return s.instance(s.this, e)
	case e.Root == "$it":
		if s.it == nil || s.it != s.this && s.b.owner[s.it] == nil {
			return nil, plan.Errorf(plan.NotImplemented, e.Pos(), "$it is not supported here")
		}
		return s.instance(s.it, e)
	case e.Root == "$root":
		return s.root(e)
	case strings.HasPrefix(e.Root, "@"):
		if s.user != nil {
			return s.user(e)
		}
		return s.alias(e)
	}
	r, ok := s.vars[e.Root]
	if !ok {
		return nil, plan.Errorf(plan.Malformed, e.Pos(), "there is no variable %q", e.Root)
	}
	return s.instance(r, e)
}

func (s *scope) instance(r *plan.Range, e *syntax.Path) (plan.Expr, error) {
	if len(e.Segments) == 0 {
		return &plan.Ref{Range: r, T: edm.Type{Kind: edm.Entity, Entity: r.Set.Type}}, nil
	}
	return s.members(r, e.Segments)
}

// alias binds the value of a parameter alias; one without a value is null. OData-URL 5.3
func (s *scope) alias(e *syntax.Path) (plan.Expr, error) {
	if len(e.Segments) > 0 {
		return nil, plan.Errorf(plan.NotImplemented, e.Segments[0].Pos, "a path behind a parameter alias is not supported")
	}
	value := s.aliased(e.Root)
	if value == nil {
		return &plan.Literal{T: edm.Of(edm.Null), Value: plan.Value{Null: true}}, nil
	}
	if s.b.resolving[e.Root] {
		return nil, plan.Errorf(plan.Malformed, value.Pos(), "%s is defined by itself", e.Root)
	}
	s.b.resolving[e.Root] = true
	defer delete(s.b.resolving, e.Root)
	return s.bindExact(value)
}

// aliased is the value of a parameter alias, the innermost one; nil when it has none.
func (s *scope) aliased(name string) syntax.Expr {
	for i := len(s.b.aliases) - 1; i >= 0; i-- {
		for _, a := range s.b.aliases[i] {
			if a.Name == name {
				return a.Value
			}
		}
	}
	return nil
}

// members follows a path from an entity.
func (s *scope) members(r *plan.Range, segs []syntax.Segment) (plan.Expr, error) {
	t := r.Set.Type
	seg := segs[0]
	if s.b.isType(seg.Name, t) && seg.Args == nil {
		if len(segs) == 1 {
			return &plan.Ref{Range: r, T: edm.Type{Kind: edm.Entity, Entity: t}}, nil
		}
		return s.members(r, segs[1:])
	}
	p := t.Property(seg.Name)
	if p == nil && s.user != nil {
		p = property(t.Hidden, seg.Name)
	}
	if p != nil {
		return s.structural(r, []*edm.Property{p}, segs)
	}
	nav := t.Nav(seg.Name)
	switch {
	case nav == nil && strings.HasPrefix(seg.Name, "@"):
		return nil, plan.Errorf(plan.NotImplemented, seg.Pos, "annotations in expressions are not supported")
	case nav == nil && s.shape != nil && s.shape.AggregatedAway(seg.Name):
		return nil, plan.Errorf(plan.Malformed, seg.Pos, "the property %q was aggregated away; group by it to keep it", seg.Name)
	case nav == nil:
		return nil, s.noProperty(seg.Pos, seg.Name, t)
	case nav.Collection:
		return s.collection(r, nav, segs)
	}
	if err := noArgs(seg); err != nil {
		return nil, malformed(err)
	}
	return s.toOne(r, nav, segs[1:])
}

// malformed is a fault of the path rules as a fault of an expression.
func malformed(err error) error {
	var e *plan.Error
	if errors.As(err, &e) && e.Kind == plan.NotFound {
		e.Kind = plan.Malformed
	}
	return err
}

func (s *scope) structural(r *plan.Range, path []*edm.Property, segs []syntax.Segment) (plan.Expr, error) {
	last := path[len(path)-1]
	seg := segs[0]
	if seg.Args != nil || seg.Lambda != nil {
		return nil, plan.Errorf(plan.Malformed, seg.Pos, "%q is a property, not a function", seg.Name)
	}
	if len(segs) == 1 {
		return r.Leaf(path), nil
	}
	next := segs[1]
	if last.Type.Kind != edm.Complex {
		return nil, plan.Errorf(plan.Malformed, next.Pos, "%q has no member %q", last.Name, next.Name)
	}
	if s.b.isComplex(next.Name, last.Type.Complex) {
		segs = segs[1:]
		if len(segs) == 1 {
			return &plan.Ref{Range: r, Path: path, T: last.Type}, nil
		}
		next = segs[1]
	}
	p := last.Type.Complex.Property(next.Name)
	if p == nil {
		near := didYouMean(next.Name, propertyNames(last.Type.Complex.Properties))
		return nil, plan.Errorf(plan.Malformed, next.Pos, "there is no property %q%s", next.Name, near)
	}
	return s.structural(r, append(path, p), segs[1:])
}

// toOne goes through a to-one navigation: a join of the query that the range belongs to, or a Sub in a policy.
func (s *scope) toOne(r *plan.Range, nav *edm.Navigation, rest []syntax.Segment) (plan.Expr, error) {
	if s.user != nil {
		return s.toOneSub(r, nav, rest)
	}
	q := s.b.owner[r]
	var join *plan.Range
	for _, j := range q.Joins {
		if j.Outer == r && j.Nav == nav {
			join = j
		}
	}
	if join == nil {
		if len(q.Joins) == maxSteps {
			return nil, tooManySteps(-1, maxSteps)
		}
		var err error
		if join, err = s.b.enter(nav.Target); err != nil {
			return nil, err
		}
		join.Outer, join.Nav = r, nav
		q.Joins = append(q.Joins, join)
		s.b.owner[join] = q
	}
	if len(rest) == 0 {
		return &plan.Ref{Range: join, T: edm.Type{Kind: edm.Entity, Entity: nav.Target.Type}}, nil
	}
	return s.members(join, rest)
}

func (s *scope) toOneSub(r *plan.Range, nav *edm.Navigation, rest []syntax.Segment) (plan.Expr, error) {
	target := s.b.newRange(nav.Target)
	target.Outer, target.Nav = r, nav
	q := s.b.query(target)
	var value plan.Expr
	var err error
	if len(rest) > 0 {
		value, err = s.members(target, rest)
	} else if len(nav.Target.Type.Key) > 0 {
		value = target.KeyRef(0)
	}
	if err != nil || value == nil {
		return value, err
	}
	return &plan.Sub{Op: "value", Query: q, Value: value, T: value.Type()}, nil
}

// collection binds what can be said of a collection: $count, any, all, behind any number of $filter.
func (s *scope) collection(outer *plan.Range, nav *edm.Navigation, segs []syntax.Segment) (plan.Expr, error) {
	r, err := s.inner(nav.Target)
	if err != nil {
		return nil, err
	}
	r.Outer, r.Nav, r.Element = outer, nav, true
	return s.overCollection(s.b.query(r), segs)
}

// inner makes a range inside an expression.
func (s *scope) inner(set *edm.EntitySet) (*plan.Range, error) {
	if s.user != nil {
		return s.b.newRange(set), nil
	}
	return s.b.enter(set)
}

func (s *scope) overCollection(q *plan.Query, segs []syntax.Segment) (plan.Expr, error) {
	r := q.Range
	if segs[0].Args != nil {
		return s.entityOf(q, segs[0].Args, segs)
	}
	for i := 1; i < len(segs); i++ {
		seg := segs[i]
		switch {
		case seg.Name == "$filter" && seg.Lambda != nil:
			f, err := s.over(r, "").condition(seg.Lambda.Pred)
			if err != nil {
				return nil, err
			}
			if q.Filter = plan.Join("and", q.Filter, f); seg.Key != nil {
				return s.entityOf(q, seg.Key, segs[i:])
			}
			continue
		case s.b.isType(seg.Name, r.Set.Type):
			if seg.Args != nil {
				return s.entityOf(q, seg.Args, segs[i:])
			}
			continue
		case i+1 < len(segs):
		case seg.Name == "$count" && seg.Args == nil:
			return s.count(q, seg)
		case (seg.Name == "any" || seg.Name == "all") && seg.Lambda != nil:
			return s.lambda(q, seg)
		}
		return nil, plan.Errorf(plan.Malformed, seg.Pos, "%q does not apply to a collection", seg.Name)
	}
	return nil, plan.Errorf(plan.Malformed, segs[0].Pos, "%q is a collection; any, all or $count makes a value of it", segs[0].Name)
}

// entityOf binds a path behind a key that picks an entity of a collection; segs begin with the segment that has the key.
func (s *scope) entityOf(q *plan.Query, args *syntax.ArgList, segs []syntax.Segment) (plan.Expr, error) {
	if segs[0].Args != nil && segs[0].Key != nil {
		return nil, plan.Errorf(plan.Malformed, segs[0].Pos, "there is no function %q", segs[0].Name)
	}
	key, err := s.key(args, q.Range)
	if err != nil {
		return nil, malformed(err)
	}
	if q.Key = key; len(segs) == 1 {
		return nil, plan.Errorf(plan.NotImplemented, segs[0].Pos, "an entity as a value is not supported here")
	}
	return s.single(q, segs[1:])
}

// single gives a value of an entity that a key picks.
func (s *scope) single(q *plan.Query, rest []syntax.Segment) (plan.Expr, error) {
	value, err := s.members(q.Range, rest)
	if err != nil {
		return nil, err
	}
	if k := value.Type().Kind; k == edm.Entity || k == edm.Complex {
		return nil, plan.Errorf(plan.NotImplemented, rest[0].Pos, "a structure as a value is not supported here")
	}
	return &plan.Sub{Op: "value", Query: q, Value: value, T: value.Type()}, nil
}

// over is the scope inside of a lambda or a $filter segment.
func (s *scope) over(r *plan.Range, name string) *scope {
	in := *s
	in.computed = nil
	if name == "" {
		in.this = r
		return &in
	}
	in.vars = map[string]*plan.Range{}
	for k, v := range s.vars {
		in.vars[k] = v
	}
	in.vars[name] = r
	return &in
}

// maxLambdas bounds how deep any and all nest: each level multiplies the rows that a database looks at, and real
// clients send no more.
const maxLambdas = 3

// lambda binds any and all. OData-URL 5.1.1.13
func (s *scope) lambda(q *plan.Query, seg syntax.Segment) (plan.Expr, error) {
	sub := &plan.Sub{Op: seg.Name, Query: q, T: edm.Of(edm.Boolean)}
	if seg.Lambda.Pred == nil {
		return sub, nil
	}
	if len(s.vars) >= maxLambdas {
		return nil, plan.Errorf(plan.TooLarge, seg.Pos, "any and all nest more than %d deep; this limit is fixed", maxLambdas)
	}
	if _, taken := s.vars[seg.Lambda.Var]; taken {
		return nil, plan.Errorf(plan.Malformed, seg.Pos, "the variable %q is taken", seg.Lambda.Var)
	}
	pred, err := s.over(q.Range, seg.Lambda.Var).condition(seg.Lambda.Pred)
	if err != nil {
		return nil, err
	}
	if sub.Op == "all" && q.Filter != nil {
		// all over a filtered collection: true for rows that the filter leaves out.
		pred = &plan.Call{Name: "or", T: edm.Of(edm.Boolean), Args: []plan.Expr{
			pred, &plan.Call{Name: "not", Args: []plan.Expr{plan.Equal(q.Filter, plan.Bool(true))}, T: edm.Of(edm.Boolean)},
		}}
		q.Filter = nil
	}
	q.Filter = plan.Join("and", q.Filter, pred)
	return sub, nil
}

func (s *scope) count(q *plan.Query, seg syntax.Segment) (plan.Expr, error) {
	if o := seg.Options; o != nil {
		if o.Search != nil {
			if !q.Range.Set.Searchable {
				return nil, plan.Errorf(plan.NotImplemented, o.Search.Pos, "%q cannot be searched", q.Range.Set.Name)
			}
			if err := s.b.countSearch(o.Search); err != nil {
				return nil, err
			}
			q.Search = search(o.Search)
		}
		if o.Filter != nil {
			f, err := s.over(q.Range, "").condition(o.Filter)
			if err != nil {
				return nil, err
			}
			q.Filter = plan.Join("and", q.Filter, f)
		}
	}
	sub := &plan.Sub{Op: "count", Query: q, T: edm.Of(edm.Int64)}
	if around := s.b.owner[q.Range.Outer]; around != nil && (around.Range == q.Range.Outer || slices.Contains(around.Joins, q.Range.Outer)) {
		sub.Shared, around.Counts = true, append(around.Counts, sub)
	}
	return sub, nil
}

// root binds $root/Set(key)/path, $root/Singleton/path, and any, all, $count over a set. OData-URL 5.1.1.14.5
func (s *scope) root(e *syntax.Path) (plan.Expr, error) {
	seg := e.Segments[0]
	if one := s.b.binder.model.Singleton(seg.Name); one != nil && len(e.Segments) > 1 && seg.Args == nil {
		r, err := s.inner(one)
		if err != nil {
			return nil, err
		}
		return s.single(s.b.query(r), e.Segments[1:])
	}
	set := s.b.binder.model.Set(seg.Name)
	if set == nil {
		return nil, plan.Errorf(plan.Malformed, seg.Pos, "there is no resource %q%s", seg.Name, didYouMean(seg.Name, s.b.resourceNames()))
	}
	r, err := s.inner(set)
	if err != nil {
		return nil, err
	}
	return s.overCollection(s.b.query(r), e.Segments)
}
