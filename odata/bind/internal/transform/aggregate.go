package transform

import (
	"slices"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// counted is the type of counts. OData Data Aggregation 3.2.1.3.5, 3.2.1.4
func counted() edm.Type { return edm.Type{Kind: edm.Decimal} }

// aggregateItem binds an item of aggregate. once is the condition for a row to count, nil for none.
func (b *Builder) aggregateItem(s *Shape, item *syntax.AggregateItem, once plan.Expr) (leafOf, error) {
	name := item.As
	path, _ := item.Expr.(*syntax.Path)
	if name == "" && item.With == "" && path != nil && len(path.Segments) == 1 && path.Segments[0].Name != "$count" {
		name = path.Segments[0].Name
	}
	if name == "" {
		return leafOf{}, plan.Errorf(plan.Malformed, item.Pos, "the result needs a name: put as and a name behind it")
	}
	if t := s.base; item.As != "" && t.Nav(name) != nil {
		return leafOf{}, plan.Errorf(plan.Malformed, item.AsPos, "the name %q is taken by a navigation property", name)
	}
	e, err := b.aggregateOf(s, item, plan.Join("and", s.keep, once), nil)
	return leafOf{path: []string{name}, expr: e, dynamic: true}, err
}

// aggregateOf binds an aggregate expression without from: over the rows of a group, or of a window.
func (b *Builder) aggregateOf(s *Shape, item *syntax.AggregateItem, when plan.Expr, w *plan.Frame) (plan.Expr, error) {
	path, _ := item.Expr.(*syntax.Path)
	if counts(path) {
		if err := b.Count(item.Pos); err != nil {
			return nil, err
		}
		if item.With != "" {
			return nil, plan.Errorf(plan.Malformed, item.WithPos, "$count has no method; leave with out")
		}
		return &plan.Aggregate{Op: "count", When: when, T: counted(), Over: w}, nil
	}
	method, pos := item.With, item.WithPos
	if method == "" {
		if path == nil || len(path.Segments) != 1 || path.Root != "" {
			return nil, plan.Errorf(plan.Malformed, item.Pos, "the expression needs a method, as in Price with sum as Total")
		}
		if method = s.base.CustomAggregate(path.Segments[0].Name); method == "" {
			return nil, plan.Errorf(plan.Malformed, item.Pos, "there is no custom aggregate %q; name a method, as in Price with sum as Total", path.Segments[0].Name)
		}
		pos = item.Pos
	}
	x, err := b.Bind(s, item.Expr)
	if err != nil {
		return nil, err
	}
	if err := b.Admit(x, item.Expr.Pos()); err != nil {
		return nil, err
	}
	if x.Type().Kind == edm.Entity && method == "countdistinct" && w == nil {
		return &plan.Aggregate{Op: "count", When: when, T: counted()}, nil // once sees to it that each counts once
	}
	e := methodOf(method, x, when, w)
	switch {
	case e == nil && !slices.Contains(edm.Aggregates(), method):
		return nil, plan.Errorf(plan.Malformed, pos, "there is no method %q; there are sum, min, max, average and countdistinct", method)
	case e == nil:
		return nil, plan.Errorf(plan.Malformed, pos, "%s does not work on %s, which is %s", method, syntax.Describe(item.Expr), x.Type())
	}
	return e, nil
}

func counts(p *syntax.Path) bool {
	return p != nil && len(p.Segments) > 0 && p.Segments[len(p.Segments)-1].Name == "$count" && p.Segments[len(p.Segments)-1].Options == nil
}

// methodOf is an aggregation method over the values of an expression; nil where it does not work on their type, or does not
// exist.
func methodOf(method string, x, when plan.Expr, w *plan.Frame) plan.Expr {
	of := func(op string, t edm.Type) *plan.Aggregate {
		return &plan.Aggregate{Op: op, Arg: x, When: when, T: t, Over: w}
	}
	t := x.Type()
	if t.Collection || !edm.CanAggregate(method, t.Kind) {
		return nil
	}
	switch method {
	case "sum":
		return of("sum", edm.Aggregated(method, t))
	case "average":
		sum, count := of("sum", edm.Aggregated("sum", t)), of("count", counted())
		return &plan.Call{Name: "divby", Args: []plan.Expr{sum, count}, T: edm.Aggregated(method, t)}
	case "countdistinct":
		return of("countdistinct", counted())
	case "unit":
		all := &plan.Aggregate{Op: "count", When: when, T: counted(), Over: w}
		one := plan.Join("and", plan.Equal(of("min", t), of("max", t)), plan.Equal(of("count", counted()), all))
		return &plan.Call{Name: "case", Args: []plan.Expr{one, of("min", t)}, T: t}
	}
	return of(method, t)
}

// once finds the items that aggregate what a to-one path leads to, which counts once in a group however many rows lead to
// it, and gives for each the condition for a row to count. OData Data Aggregation 3.2.1.1
func (b *Builder) once(s *Shape, items []syntax.AggregateItem) (*Shape, []plan.Expr, error) {
	out := make([]plan.Expr, len(items))
	var extra []plan.Expr
	var of []int
	for i := range items {
		target, err := b.reached(s, &items[i])
		if err != nil {
			return nil, nil, err
		}
		if target == nil {
			continue
		}
		if len(target.Set.Type.Key) == 0 {
			return nil, nil, plan.Errorf(plan.NotImplemented, items[i].Pos, "%q has no key, so what leads to it cannot be told apart", target.Set.Name)
		}
		w := &plan.Frame{Partition: s.partition(), Order: s.Order}
		for k := range target.Set.Type.Key {
			w.Partition = append(w.Partition, target.KeyRef(k))
		}
		extra = append(extra, &plan.Aggregate{Op: "row", T: edm.Of(edm.Int64), Over: w}, target.KeyRef(0))
		of = append(of, i)
	}
	if len(of) == 0 {
		return s, out, nil
	}
	s, cells := b.extend(s, extra...)
	for n, i := range of {
		key := cells[2*n+1]
		out[i] = plan.Join("and", plan.Equal(cells[2*n], number(1)), &plan.Call{Name: "ne", Args: []plan.Expr{key, plan.Null(key.Type())}, T: edm.Of(edm.Boolean)})
	}
	return s, out, nil
}

// reached is the range that an item's path leads to by navigation, where it matters how often that happens; nil where it
// does not.
func (b *Builder) reached(s *Shape, item *syntax.AggregateItem) (*plan.Range, error) {
	path, ok := item.Expr.(*syntax.Path)
	if !ok || path.Root != "" || len(path.Segments) < 2 && (item.With != "countdistinct" || item.From != nil) {
		return nil, nil
	}
	count := counts(path)
	if !count && item.With != "sum" && item.With != "average" && item.With != "countdistinct" {
		return nil, nil
	}
	short := *path
	if count {
		short.Segments = path.Segments[:len(path.Segments)-1]
	}
	if nav := s.Set().Type.Nav(short.Segments[0].Name); nav != nil && nav.Collection {
		return nil, plan.Errorf(plan.NotImplemented, item.Pos, "aggregating over the collection %q is not supported; start from %q", nav.Name, nav.Target.Name)
	}
	if count && len(short.Segments) == 0 {
		return nil, nil
	}
	x, err := b.Bind(s, &short)
	if err != nil {
		return nil, err
	}
	ref, ok := x.(*plan.Ref)
	if !ok || ref.Range == s.Query.Range || item.With == "countdistinct" && ref.T.Kind != edm.Entity {
		if count {
			return nil, plan.Errorf(plan.Malformed, item.Pos, "%s is no entity to count", syntax.Describe(&short))
		}
		return nil, nil
	}
	return ref.Range, nil
}

// aggregatedFrom binds items with from: the rows are grouped by its paths as well, and what that gives is aggregated once
// more. OData Data Aggregation 3.2.1.5
func (b *Builder) aggregatedFrom(s *Shape, around int, items []syntax.AggregateItem) (*Shape, error) {
	last := items[0].From[len(items[0].From)-1]
	inner, outer := slices.Clone(items), slices.Clone(items)
	for i, item := range items {
		if len(item.From) == 0 || !slices.EqualFunc(item.From[len(item.From)-1].Paths, last.Paths, samePath) || len(item.From) != len(items[0].From) {
			return nil, plan.Errorf(plan.NotImplemented, item.Pos, "all items of one aggregate must have the same from, or none; put the others into an aggregate of their own")
		}
		if item.As == "" {
			return nil, plan.Errorf(plan.Malformed, item.Pos, "the result needs a name: put as and a name behind it")
		}
		from := item.From[len(item.From)-1]
		hidden := " " + strconv.Itoa(i) // no name of a client
		inner[i].From, inner[i].As, inner[i].AsPos = item.From[:len(item.From)-1], hidden, item.Pos
		if len(inner[i].From) == 0 {
			inner[i].From = nil
		}
		outer[i].From, outer[i].With, outer[i].WithPos = nil, from.With, from.WithPos
		if from.With == "" {
			method, err := b.customMethod(s, &item)
			if err != nil {
				return nil, err
			}
			outer[i].With, outer[i].WithPos = method, item.Pos
		}
		outer[i].Expr = &syntax.Path{At: syntax.At(item.Expr.Pos()), Segments: []syntax.Segment{{Pos: item.Expr.Pos(), Name: hidden}}}
	}
	keys, err := b.groupKeys(s, last.Paths)
	if err != nil {
		return nil, err
	}
	mine := len(s.keys)
	if s, err = b.aggregated(s, keys, inner); err != nil {
		return nil, err
	}
	rest := slices.Clone(s.keys[around:mine])
	s.keys = s.keys[:around]
	return b.aggregated(s, rest, outer)
}

// customMethod is the method of the custom aggregate that an item names.
func (b *Builder) customMethod(s *Shape, item *syntax.AggregateItem) (string, error) {
	path, ok := item.Expr.(*syntax.Path)
	if ok && len(path.Segments) == 1 && item.With == "" {
		if method := s.base.CustomAggregate(path.Segments[0].Name); method != "" {
			return method, nil
		}
	}
	return "", plan.Errorf(plan.Malformed, item.Pos, "from needs a method behind its paths, as in from Day with average")
}

func samePath(a, b *syntax.Path) bool {
	return slices.EqualFunc(a.Segments, b.Segments, func(x, y syntax.Segment) bool { return x.Name == y.Name })
}

// These computes what expressions take from all rows by $these, so that they can be bound afterwards. OData Data
// Aggregation 3.6
func (b *Builder) These(s *Shape, exprs ...syntax.Expr) (*Shape, error) {
	var found []*syntax.These
	for _, e := range exprs {
		syntax.Walk(e, func(e syntax.Expr) {
			if t, ok := e.(*syntax.These); ok {
				found = append(found, t)
			}
		})
	}
	if len(found) == 0 {
		return s, nil
	}
	var extra []plan.Expr
	for _, t := range found {
		item := &syntax.AggregateItem{Pos: t.Pos(), Expr: &syntax.Path{At: t.At, Segments: []syntax.Segment{{Name: "$count"}}}}
		if t.Item != nil {
			item = t.Item
		}
		if item.From != nil || item.With == "countdistinct" {
			return nil, plan.Errorf(plan.NotImplemented, item.Pos, "from and countdistinct are not supported behind $these")
		}
		if target, err := b.reached(s, item); err != nil || target != nil {
			if err == nil {
				err = plan.Errorf(plan.NotImplemented, item.Pos, "paths to other sets are not supported behind $these")
			}
			return nil, err
		}
		e, err := b.aggregateOf(s, item, nil, &plan.Frame{Partition: s.partition()})
		if err != nil {
			return nil, err
		}
		extra = append(extra, e)
	}
	if err := b.pass(s, sortPass, found[0].Pos()); err != nil {
		return nil, err
	}
	s, cells := b.extend(s, extra...)
	s.These = map[*syntax.These]plan.Expr{}
	for i, t := range found {
		s.These[t] = cells[i]
	}
	return s, nil
}
