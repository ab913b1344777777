package bind

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// target is where a resource path leads.
type target struct {
	query *plan.Query
	many  bool
	// optional: the last entity was reached by a to-one navigation and may be absent.
	optional bool
	// props is the path to a property of the entity.
	props []*edm.Property
	// count, ref, value are the final $count, $ref, $value.
	count, ref, value bool
	// steps counts the navigation properties of the path.
	steps int
	// filters are those of $filter(...) segments.
	filters []plan.Expr
}

func (t *target) set() *edm.EntitySet { return t.query.Range.Set }

func (t *target) end() bool { return t.count || t.ref || t.value }

// path resolves a resource path. OData-URL 4
func (b *binding) path(segs []syntax.Segment) (*target, error) {
	t, err := b.start(segs[0])
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(segs); {
		n, err := b.step(t, segs[i:])
		if err != nil {
			return nil, err
		}
		i += n
	}
	return t, nil
}

func (b *binding) start(seg syntax.Segment) (*target, error) {
	switch seg.Name {
	case "$all", "$crossjoin":
		return nil, plan.Errorf(plan.NotImplemented, seg.Pos, "%s is not supported", seg.Name)
	}
	if s := b.binder.model.Singleton(seg.Name); s != nil {
		r, err := b.enter(s)
		if err != nil {
			return nil, err
		}
		t := &target{query: b.query(r)}
		return t, noArgs(seg)
	}
	set := b.binder.model.Set(seg.Name)
	if set == nil {
		return nil, plan.Errorf(plan.NotFound, seg.Pos, "there is no resource %q%s", seg.Text, didYouMean(seg.Name, b.resourceNames()))
	}
	r, err := b.enter(set)
	if err != nil {
		return nil, err
	}
	t := &target{query: b.query(r), many: b.Row == nil}
	return t, b.byKey(t, seg)
}

// byKey narrows a collection to one entity, if the segment has a key. Empty parentheses are a collection's, too.
func (b *binding) byKey(t *target, seg syntax.Segment) error {
	if seg.Key != nil {
		return plan.Errorf(plan.NotFound, seg.Pos, "there is no function %q", seg.Name)
	}
	if seg.Args == nil {
		return nil
	}
	s := b.scope(t.query.Range)
	key, err := s.key(seg.Args, t.query.Range)
	if err != nil {
		return err
	}
	t.narrow(key)
	return nil
}

// step resolves the next segment (or several, for a key in segments) and tells how many it took.
func (b *binding) step(t *target, segs []syntax.Segment) (int, error) {
	seg := segs[0]
	if t.end() {
		return 0, plan.Errorf(plan.NotFound, seg.Pos, "nothing follows $count, $ref and $value")
	}
	if strings.HasPrefix(seg.Name, "$") {
		return 1, b.systemSegment(t, seg)
	}
	if strings.Contains(seg.Name, ".") && len(t.props) == 0 {
		if b.isType(seg.Name, t.set().Type) && noArgs(seg) == nil {
			return 1, nil
		}
		if !t.many {
			return 0, plan.Errorf(plan.NotFound, seg.Pos, "there is no type or function %q here", seg.Name)
		}
	}
	switch {
	case len(t.props) > 0:
		return 1, b.subProperty(t, seg)
	case t.many:
		return b.keySegments(t, segs)
	}
	return 1, b.member(t, seg)
}

func (b *binding) systemSegment(t *target, seg syntax.Segment) error {
	switch {
	case seg.Name == "$count" && t.many && noArgs(seg) == nil:
		t.count = true
	case seg.Name == "$ref" && len(t.props) == 0 && noArgs(seg) == nil:
		t.ref = true
	case seg.Name == "$value" && len(t.props) > 0 && primitive(t.property().Type.Kind),
		seg.Name == "$value" && len(t.props) > 0 && t.property().Type.Kind == edm.Enum:
		t.value = true
	case seg.Name == "$filter" && t.many && seg.Lambda != nil:
		s := b.scope(t.query.Range)
		f, err := s.condition(seg.Lambda.Pred)
		if err != nil {
			return err
		}
		if err := b.admit(f, seg.Pos); err != nil {
			return err
		}
		t.filters = append(t.filters, f)
		return b.keyBehind(t, seg)
	case seg.Name == "$value" && len(t.props) == 0 && !t.many:
		return plan.Errorf(plan.Malformed, seg.Pos, "%q is no media entity, so it has no $value", t.set().Type.Name)
	case seg.Name == "$each", seg.Name == "$query":
		return plan.Errorf(plan.NotImplemented, seg.Pos, "%s is not supported", seg.Name)
	default:
		return plan.Errorf(plan.NotFound, seg.Pos, "%s does not apply to this resource", seg.Name)
	}
	return nil
}

// keyBehind narrows a filtered collection to the entity that the key behind it
// names, which must be among those that the filter leaves (OData-URL 4.12).
func (b *binding) keyBehind(t *target, seg syntax.Segment) error {
	if seg.Key == nil || len(seg.Key.Args) == 0 {
		return nil
	}
	key, err := b.scope(t.query.Range).key(seg.Key, t.query.Range)
	if err != nil {
		return err
	}
	t.narrow(key)
	return nil
}

// narrow makes a collection the one entity of a key, if its $filter segments leave
// that.
func (t *target) narrow(key plan.Expr) {
	for _, f := range t.filters {
		key = plan.Join("and", key, f)
	}
	t.query.Key, t.many, t.filters = key, false, nil
}

func (t *target) property() *edm.Property { return t.props[len(t.props)-1] }

func (b *binding) subProperty(t *target, seg syntax.Segment) error {
	last := t.property()
	if last.Type.Kind != edm.Complex {
		return plan.Errorf(plan.NotFound, seg.Pos, "there is no resource %q below %q", seg.Text, last.Name)
	}
	if b.isComplex(seg.Name, last.Type.Complex) {
		return noArgs(seg)
	}
	p := last.Type.Complex.Property(seg.Name)
	if p == nil {
		return plan.Errorf(plan.NotFound, seg.Pos, "there is no property %q%s", seg.Text, didYouMean(seg.Name, propertyNames(last.Type.Complex.Properties)))
	}
	t.props = append(t.props, p)
	return noArgs(seg)
}

// member resolves a path segment behind an entity: a property, or a navigation property, whose target set is entered
// through the gate.
func (b *binding) member(t *target, seg syntax.Segment) error {
	typ := t.set().Type
	if p := typ.Property(seg.Name); p != nil {
		t.props = []*edm.Property{p}
		return noArgs(seg)
	}
	nav := typ.Nav(seg.Name)
	if nav == nil {
		near := didYouMean(seg.Name, propertyNames(typ.Properties), navigationNames(typ))
		return plan.Errorf(plan.NotFound, seg.Pos, "there is no property %q%s", seg.Text, near)
	}
	if t.steps++; t.steps > maxPath {
		return tooManySteps(seg.Pos, maxPath)
	}
	r, err := b.enter(nav.Target)
	if err != nil {
		return err
	}
	r.Nav, r.Outer = nav, t.query.Range
	q := b.query(r)
	q.From = t.query
	t.query, t.many, t.optional = q, nav.Collection, !nav.Collection
	if !nav.Collection {
		return noArgs(seg)
	}
	return b.byKey(t, seg)
}

// keySegments reads a key that stands in segments of its own. OData-URL 4.3.6
func (b *binding) keySegments(t *target, segs []syntax.Segment) (int, error) {
	key := t.set().Type.Key
	if len(segs) < len(key) || len(key) == 0 {
		return 0, plan.Errorf(plan.NotFound, segs[0].Pos, "there is no resource %q", segs[0].Text)
	}
	var cond plan.Expr
	for i, p := range key {
		lit, err := segmentKey(segs[i], p)
		if err != nil {
			return 0, err
		}
		cond = plan.Join("and", cond, plan.Equal(&plan.Ref{Range: t.query.Range, Path: []*edm.Property{p}, T: p.Type}, lit))
	}
	t.narrow(cond)
	return len(key), nil
}

func segmentKey(seg syntax.Segment, p *edm.Property) (plan.Expr, error) {
	unknown := plan.Errorf(plan.NotFound, seg.Pos, "there is no resource %q", seg.Text)
	if p.Type.Kind == edm.String {
		return &plan.Literal{T: p.Type, Value: plan.Value{Bytes: []byte(seg.Text)}}, nil
	}
	if p.Type.Kind == edm.Enum {
		if l, ok := convert(&plan.Literal{T: edm.Of(edm.String), Value: plan.Value{Bytes: []byte(seg.Text)}}, p.Type); ok {
			return l, nil
		}
		return nil, unknown
	}
	parsed, err := syntax.ParseLiteral(seg.Text)
	if err != nil {
		return nil, unknown
	}
	l, err := constant(parsed)
	if err != nil {
		return nil, unknown
	}
	if l, ok := convert(l, p.Type); ok {
		return l, nil
	}
	return nil, unknown
}

func primitive(k edm.Kind) bool { return k >= edm.Boolean && k <= edm.Stream }

// key binds the key predicate of a range: one value alone, or the names of the key or of an alternate key with their values.
// OData-URL 4.3, 4.3.5
func (s *scope) key(args *syntax.ArgList, r *plan.Range) (plan.Expr, error) {
	t := r.Set.Type
	list := args.Args
	if len(list) == 1 && list[0].Name == "" {
		if len(t.Key) != 1 {
			return nil, plan.Errorf(plan.Malformed, args.Pos, "the key of %s has %d parts; name them", t.Name, len(t.Key))
		}
		return s.keyPart(r, t.Key[0], list[0])
	}
	for _, key := range append([][]*edm.Property{t.Key}, t.AlternateKeys...) {
		if !sameNames(key, list) {
			continue
		}
		var cond plan.Expr
		for _, a := range list {
			part, err := s.keyPart(r, property(key, a.Name), a)
			if err != nil {
				return nil, err
			}
			cond = plan.Join("and", cond, part)
		}
		return cond, nil
	}
	return nil, plan.Errorf(plan.Malformed, args.Pos, "%s has no such key", t.Name)
}

func sameNames(key []*edm.Property, args []syntax.Arg) bool {
	if len(key) != len(args) || len(key) == 0 {
		return false
	}
	seen := map[string]bool{}
	for _, a := range args {
		if property(key, a.Name) == nil || seen[a.Name] {
			return false
		}
		seen[a.Name] = true
	}
	return true
}

func (s *scope) keyPart(r *plan.Range, p *edm.Property, a syntax.Arg) (plan.Expr, error) {
	value, err := s.bind(a.Value)
	if err != nil {
		return nil, err
	}
	lit, ok := value.(*plan.Literal)
	if !ok {
		return nil, plan.Errorf(plan.Malformed, a.Pos, "a key needs a constant")
	}
	typed, ok := convert(lit, p.Type)
	if !ok || lit.Value.Null {
		// No entity has such a key (OData-Protocol 9.2.1).
		return nil, plan.Errorf(plan.NotFound, a.Pos, "the key %q is %s, not %s", p.Name, p.Type, lit.T)
	}
	ref := &plan.Ref{Range: r, Path: []*edm.Property{p}, T: p.Type}
	return plan.Equal(ref, typed), nil
}

func property(list []*edm.Property, name string) *edm.Property {
	for _, p := range list {
		if p.Name == name {
			return p
		}
	}
	return nil
}
