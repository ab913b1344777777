package bind

import (
	"cmp"
	"math"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// list is a list of values, as it stands or as the value of an alias; nil for anything else.
func (s *scope) list(e syntax.Expr) *syntax.List {
	if path, ok := e.(*syntax.Path); ok && len(path.Segments) == 0 && s.user == nil {
		e = s.aliased(path.Root)
	}
	list, _ := e.(*syntax.List)
	return list
}

func mismatch(e *syntax.Binary, x, y plan.Expr) error {
	return plan.Errorf(plan.Malformed, e.Pos(), "%s does not work on %s and %s", e.Op, x.Type(), y.Type())
}

// incomparable is mismatch for a comparison, with what to write instead where that is known.
func incomparable(e *syntax.Binary, x, y plan.Expr) error {
	remedy := cmp.Or(rewritten(x, y), rewritten(y, x))
	return plan.Errorf(plan.Malformed, e.Pos(), "%s does not work on %s and %s%s", e.Op, x.Type(), y.Type(), remedy)
}

func (s *scope) compare(e *syntax.Binary, x, y plan.Expr) (plan.Expr, error) {
	x, y, ok := unify(x, y)
	if !ok || x.Type().Collection || y.Type().Collection {
		return nil, incomparable(e, x, y)
	}
	if structured(x) || structured(y) {
		return s.compareStructured(e, x, y)
	}
	if _, _, ok := function.Lookup(e.Op).Match(kinds([]plan.Expr{x, y})); !ok {
		return nil, incomparable(e, x, y)
	}
	if isNaN(x) || isNaN(y) {
		return plan.Bool(e.Op == "ne"), nil // databases do not agree on it
	}
	return &plan.Call{Name: e.Op, Args: []plan.Expr{x, y}, T: edm.Of(edm.Boolean)}, nil
}

func structured(x plan.Expr) bool { return x.Type().Kind == edm.Entity || x.Type().Kind == edm.Complex }

func isNaN(e plan.Expr) bool {
	l, ok := e.(*plan.Literal)
	return ok && math.IsNaN(l.Value.Float)
}

// compareStructured compares an entity, or a complex value, with null, or entities of one set with each other.
func (s *scope) compareStructured(e *syntax.Binary, x, y plan.Expr) (plan.Expr, error) {
	if e.Op != "eq" && e.Op != "ne" {
		return nil, mismatch(e, x, y)
	}
	if x.Type().Kind == edm.Null {
		x, y = y, x
	}
	rx, ok := x.(*plan.Ref)
	if !ok {
		return nil, plan.Errorf(plan.NotImplemented, e.Pos(), "this comparison is not supported")
	}
	if y.Type().Kind == edm.Null {
		if len(rx.Path) > 0 || len(rx.Range.Set.Type.Key) == 0 {
			return plan.Bool(e.Op == "ne"), nil // a complex value is never null here
		}
		return &plan.Call{Name: e.Op, Args: []plan.Expr{rx.Range.KeyRef(0), y}, T: edm.Of(edm.Boolean)}, nil
	}
	ry, ok := y.(*plan.Ref)
	if !ok || len(rx.Path) > 0 || len(ry.Path) > 0 || rx.Range.Set != ry.Range.Set {
		return nil, plan.Errorf(plan.NotImplemented, e.Pos(), "this comparison is not supported")
	}
	var cond plan.Expr
	for i := range rx.Range.Set.Type.Key {
		cond = plan.Join("and", cond, plan.Equal(rx.Range.KeyRef(i), ry.Range.KeyRef(i)))
	}
	if e.Op == "ne" {
		cond = &plan.Call{Name: "not", Args: []plan.Expr{cond}, T: edm.Of(edm.Boolean)}
	}
	return cond, nil
}

func (s *scope) has(e *syntax.Binary, x, y plan.Expr) (plan.Expr, error) {
	x, y, ok := unify(x, y)
	if _, _, fits := function.Lookup("has").Match(kinds([]plan.Expr{x, y})); !ok || !fits {
		return nil, mismatch(e, x, y)
	}
	if _, fixed := y.(*plan.Literal); !fixed {
		return nil, plan.Errorf(plan.Malformed, e.Y.Pos(), "has needs a constant on its right")
	}
	return &plan.Call{Name: "has", Args: []plan.Expr{x, y}, T: edm.Of(edm.Boolean)}, nil
}

func (s *scope) in(e *syntax.Binary, x plan.Expr, list *syntax.List) (plan.Expr, error) {
	items := make([]plan.Expr, len(list.Items))
	_, fixed := x.(*plan.Literal)
	for i, item := range list.Items {
		y, err := s.bindExact(item)
		if err != nil {
			return nil, err
		}
		items[i] = y
		if tx, _, ok := unify(x, y); ok && fixed {
			x = tx // a text may stand for a flag that only a later item names the type of
		}
	}
	call := &plan.Call{Name: "in", Args: []plan.Expr{x}, T: edm.Of(edm.Boolean)}
	for _, item := range items {
		if isNaN(item) {
			continue // it equals nothing
		}
		tx, y, ok := unify(x, item)
		if _, _, fits := function.Lookup("in").Match(kinds([]plan.Expr{tx, y})); !ok || !fits || tx.Type().Collection {
			return nil, incomparable(e, x, y)
		}
		if fixed {
			call.Args[0] = tx
		}
		call.Args = append(call.Args, y)
	}
	return call, nil
}
