package plan

import (
	"github.com/vestibule-dev/vestibule/odata/edm"
	"github.com/vestibule-dev/vestibule/odata/syntax"
)

// scope is what names in an expression mean.
type scope struct {
	b *builder
	// this is the instance that plain names belong to, it the one of $it.
	this, it *Range
	// vars are the range variables of the lambdas around.
	vars map[string]*Range
	// computed are the results of $compute that may be used.
	computed map[string]Expr
	// policy marks the operator's text: hidden properties exist, no guard and no policy holds inside, and to-one
	// navigation becomes a Sub, because a policy has no joins of its own.
	policy bool
	// blank stands for a user whose columns are all null.
	blank bool
}

// condition binds an expression that must be Boolean.
func (s *scope) condition(e syntax.Expr) (Expr, error) {
	x, err := s.bind(e)
	if err != nil {
		return nil, err
	}
	return x, wantBoolean(x, e)
}

func wantBoolean(x Expr, e syntax.Expr) error {
	if k := x.Type().Kind; (k != edm.Boolean && k != edm.Null) || x.Type().Collection {
		return fail(Malformed, e.Pos(), "%s is not a condition", e)
	}
	return nil
}

// bind types an expression. OData-URL 5.1.1
func (s *scope) bind(e syntax.Expr) (Expr, error) {
	if !s.policy {
		s.b.nodes++
		if s.b.nodes > s.b.Limits.FilterNodes {
			return nil, fail(Malformed, e.Pos(), "the expressions have more than %d parts", s.b.Limits.FilterNodes)
		}
	}
	switch e := e.(type) {
	case *syntax.Literal:
		return s.literal(e)
	case *syntax.Path:
		return s.path(e)
	case *syntax.Binary:
		return s.binary(e)
	case *syntax.Unary:
		return s.unary(e)
	case *syntax.Call:
		return s.call(e)
	case *syntax.Cast:
		return s.cast(e)
	case *syntax.IsOf:
		return s.isOf(e)
	case *syntax.Case:
		return s.choice(e)
	case *syntax.List:
		return nil, fail(Malformed, e.At, "a list can only stand on the right of in")
	}
	return nil, fail(NotImplemented, e.Pos(), "%s is not supported", e)
}

func (s *scope) literal(e *syntax.Literal) (Expr, error) {
	if e.Kind == syntax.Enum {
		return s.enumLiteral(e)
	}
	l, err := literal(e)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (s *scope) enumLiteral(e *syntax.Literal) (Expr, error) {
	for _, t := range s.b.model.Enums {
		if e.Type != s.b.model.Namespace+"."+t.Name {
			continue
		}
		text := &Literal{T: edm.Of(edm.String), Value: Value{Bytes: []byte(e.Text)}}
		if l, ok := convert(text, edm.Type{Kind: edm.Enum, Enum: t}); ok {
			return l, nil
		}
		return nil, fail(Malformed, e.At, "%q is no value of %s", e.Text, e.Type)
	}
	return nil, fail(Malformed, e.At, "there is no enumeration type %q", e.Type)
}

func (s *scope) unary(e *syntax.Unary) (Expr, error) {
	x, err := s.bind(e.X)
	if err != nil {
		return nil, err
	}
	if e.Op == "not" {
		if err := wantBoolean(x, e.X); err != nil {
			return nil, err
		}
		return &Call{Name: "not", Args: []Expr{x}, T: edm.Of(edm.Boolean)}, nil
	}
	t := x.Type()
	if (!numeric(t.Kind) && t.Kind != edm.Duration && t.Kind != edm.Null) || t.Collection {
		return nil, fail(Malformed, e.At, "%s cannot be negated", e.X)
	}
	if l, ok := x.(*Literal); ok {
		if n, ok := negated(l); ok {
			return n, nil
		}
	}
	if integer(t.Kind) {
		t = edm.Of(edm.Int64)
	}
	return &Call{Name: "negate", Args: []Expr{x}, T: t}, nil
}

func (s *scope) binary(e *syntax.Binary) (Expr, error) {
	x, err := s.bind(e.X)
	if err != nil {
		return nil, err
	}
	if list, ok := e.Y.(*syntax.List); ok && e.Op == "in" {
		return s.in(e, x, list)
	}
	y, err := s.bind(e.Y)
	if err != nil {
		return nil, err
	}
	switch e.Op {
	case "and", "or":
		if err := wantBoolean(x, e.X); err != nil {
			return nil, err
		}
		if err := wantBoolean(y, e.Y); err != nil {
			return nil, err
		}
		return &Call{Name: e.Op, Args: []Expr{x, y}, T: edm.Of(edm.Boolean)}, nil
	case "eq", "ne", "gt", "ge", "lt", "le":
		return s.compare(e, x, y)
	case "has":
		return s.has(e, x, y)
	case "in":
		return nil, fail(NotImplemented, e.Y.Pos(), "in is supported with a list of values")
	}
	return s.arithmetic(e, x, y)
}

func mismatch(e *syntax.Binary, x, y Expr) error {
	return fail(Malformed, e.At, "%s does not work on %s and %s", e.Op, typeName(x.Type()), typeName(y.Type()))
}

func (s *scope) compare(e *syntax.Binary, x, y Expr) (Expr, error) {
	x, y, ok := unify(x, y)
	k := x.Type().Kind
	if k == edm.Null {
		k = y.Type().Kind
	}
	equality := e.Op == "eq" || e.Op == "ne"
	switch {
	case !ok || k == edm.Stream || x.Type().Collection || y.Type().Collection:
		ok = false
	case k == edm.Entity || k == edm.Complex:
		return s.compareStructured(e, x, y)
	case k == edm.Binary:
		ok = equality
	}
	if !ok {
		return nil, mismatch(e, x, y)
	}
	return &Call{Name: e.Op, Args: []Expr{x, y}, T: edm.Of(edm.Boolean)}, nil
}

// compareStructured compares an entity, or a complex value, with null, or entities of one set with each other.
func (s *scope) compareStructured(e *syntax.Binary, x, y Expr) (Expr, error) {
	if e.Op != "eq" && e.Op != "ne" {
		return nil, mismatch(e, x, y)
	}
	if x.Type().Kind == edm.Null {
		x, y = y, x
	}
	rx, ok := x.(*Ref)
	if !ok {
		return nil, fail(NotImplemented, e.At, "this comparison is not supported")
	}
	if y.Type().Kind == edm.Null {
		if len(rx.Path) > 0 || len(rx.Range.Set.Type.Key) == 0 {
			return boolean(e.Op == "ne"), nil // a complex value is never null here
		}
		return &Call{Name: e.Op, Args: []Expr{keyRef(rx, 0), y}, T: edm.Of(edm.Boolean)}, nil
	}
	ry, ok := y.(*Ref)
	if !ok || len(rx.Path) > 0 || len(ry.Path) > 0 || rx.Range.Set != ry.Range.Set {
		return nil, fail(NotImplemented, e.At, "this comparison is not supported")
	}
	var cond Expr
	for i := range rx.Range.Set.Type.Key {
		cond = conj(cond, equal(keyRef(rx, i), keyRef(ry, i)))
	}
	if e.Op == "ne" {
		cond = &Call{Name: "not", Args: []Expr{cond}, T: edm.Of(edm.Boolean)}
	}
	return cond, nil
}

func keyRef(r *Ref, i int) *Ref {
	p := r.Range.Set.Type.Key[i]
	return &Ref{Range: r.Range, Path: []*edm.Property{p}, T: p.Type}
}

func (s *scope) has(e *syntax.Binary, x, y Expr) (Expr, error) {
	x, y, ok := unify(x, y)
	if !ok || (x.Type().Kind != edm.Enum && x.Type().Kind != edm.Null) {
		return nil, mismatch(e, x, y)
	}
	if _, constant := y.(*Literal); !constant {
		return nil, fail(Malformed, e.Y.Pos(), "has needs a constant on its right")
	}
	return &Call{Name: "has", Args: []Expr{x, y}, T: edm.Of(edm.Boolean)}, nil
}

func (s *scope) in(e *syntax.Binary, x Expr, list *syntax.List) (Expr, error) {
	call := &Call{Name: "in", Args: []Expr{x}, T: edm.Of(edm.Boolean)}
	for _, item := range list.Items {
		y, err := s.bind(item)
		if err != nil {
			return nil, err
		}
		tx, y, ok := unify(x, y)
		if k := tx.Type().Kind; !ok || k == edm.Entity || k == edm.Complex || k == edm.Stream || tx.Type().Collection {
			return nil, mismatch(e, x, y)
		}
		if _, constant := x.(*Literal); constant {
			call.Args[0] = tx
		}
		call.Args = append(call.Args, y)
	}
	return call, nil
}

// choice binds case(...). OData-URL 5.1.1.12
func (s *scope) choice(e *syntax.Case) (Expr, error) {
	call := &Call{Name: "case", T: edm.Of(edm.Null)}
	var results []Expr
	for _, w := range e.When {
		cond, err := s.condition(w.Cond)
		if err != nil {
			return nil, err
		}
		value, err := s.bind(w.Value)
		if err != nil {
			return nil, err
		}
		results = append(results, value)
		call.Args = append(call.Args, cond, value)
	}
	common := results[0]
	for i := 1; i < len(results); i++ {
		x, _, ok := unify(common, results[i])
		if !ok {
			return nil, fail(Malformed, e.At, "the results of case have no common type")
		}
		if common = x; rank(results[i].Type().Kind) > rank(common.Type().Kind) {
			common = results[i]
		}
	}
	for i, r := range results {
		if _, y, ok := unify(common, r); ok {
			call.Args[2*i+1] = y
		}
	}
	call.T = common.Type()
	return call, nil
}
