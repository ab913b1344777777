package bind

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// call binds a canonical function by its entry in the catalogue. OData-URL 5.1.1.5 to 5.1.1.9
func (s *scope) call(e *syntax.Call) (plan.Expr, error) {
	f := function.Lookup(strings.ToLower(e.Func))
	if f == nil || !f.Supports() {
		return nil, plan.Errorf(plan.NotImplemented, e.Pos(), "the function %s is not supported", e.Func)
	}
	call := &plan.Call{Name: strings.ToLower(e.Func)}
	for i, a := range e.Args {
		x, err := s.bind(a)
		if err != nil {
			return nil, err
		}
		if l, ok := x.(*plan.Literal); ok && l.Zoned && inZone(call.Name) {
			return nil, plan.Errorf(plan.NotImplemented, a.Pos(), "%s of an instant with an offset: instants are kept in UTC; write it with Z", e.Func)
		}
		x, ok := fitParam(f, i, x)
		if !ok {
			return nil, plan.Errorf(plan.Malformed, a.Pos(), "%s does not work on %s", e.Func, x.Type())
		}
		call.Args = append(call.Args, x)
	}
	sig, result, ok := f.Match(kinds(call.Args))
	if !ok {
		return nil, plan.Errorf(plan.Malformed, e.Pos(), "%s does not work on these arguments together", e.Func)
	}
	call.T = edm.Of(result)
	for i, x := range call.Args {
		if x.Type().Kind == edm.Null {
			call.Args[i] = plan.Null(edm.Of(sig.Params[i][0]))
		}
	}
	if f.Constant != nil {
		s.b.plan.Volatile = s.b.plan.Volatile || f.Volatile
		return &plan.Literal{T: call.T, Value: f.Constant(s.b.Now)}, nil
	}
	if f.Check != nil {
		if fault := f.Check(call); fault != nil {
			arg := e.Args[fault.Pos]
			fault.Pos, fault.Message = arg.Pos(), strings.ReplaceAll(fault.Message, "{arg}", syntax.Describe(arg))
			return nil, fault
		}
	}
	return call, nil
}

// inZone tells the functions that must fail for a literal whose offset is lost. OData-URL 5.1.1.8.2, 5.1.1.8.4, 5.1.1.8.7,
// 5.1.1.8.8, 5.1.1.8.11, 5.1.1.8.14
func inZone(name string) bool {
	return slices.Contains([]string{"day", "hour", "minute", "month", "time", "year"}, name)
}

// fitParam checks an argument by itself. A text that reads as a duration is one where only that fits.
func fitParam(f *function.Function, i int, x plan.Expr) (plan.Expr, bool) {
	t := x.Type()
	if t.Collection {
		return x, false
	}
	if f.Takes(i, t.Kind) {
		return x, true
	}
	if l, ok := x.(*plan.Literal); ok && t.Kind == edm.String && f.Takes(i, edm.Duration) {
		if l, ok := convert(l, edm.Of(edm.Duration)); ok {
			return l, true
		}
	}
	return x, false
}

func kinds(args []plan.Expr) []edm.Kind {
	list := make([]edm.Kind, len(args))
	for i, a := range args {
		list[i] = a.Type().Kind
	}
	return list
}

// cast binds cast(X,Type). OData-URL 5.1.1.10.1
func (s *scope) cast(e *syntax.Cast) (plan.Expr, error) {
	x, t, err := s.typed(e.X, e.Type, e.Pos())
	if err != nil {
		return nil, err
	}
	from := x.Type()
	switch {
	case from.Same(t):
		return x, nil
	case from.Kind == edm.Null:
		return plan.Null(t), nil
	}
	if l, ok := x.(*plan.Literal); ok {
		if from.Kind == edm.String && primitive(t.Kind) {
			return castText(l, t), nil
		}
		if c, ok := convert(l, t); ok {
			return c, nil
		}
	}
	if from.Collection || !function.Lookup("cast").Gives(t.Kind, from.Kind) {
		return nil, plan.Errorf(plan.NotImplemented, e.Pos(), "a cast from %s to %s is not supported", from, e.Type)
	}
	return &plan.Call{Name: "cast", Args: []plan.Expr{x}, T: t}, nil
}

// castText reads a text as a value of a primitive type; null where it is none. OData-URL 5.1.1.10.1
func castText(l *plan.Literal, t edm.Type) *plan.Literal {
	if l.Value.Null {
		return plan.Null(t)
	}
	if scalar.TextPattern(t.Kind) == "" { // binaries, which no database is asked to read
		loose := *l
		loose.Adapts = true
		if c, ok := convert(&loose, t); ok {
			c.Adapts = false
			return c
		}
		return plan.Null(t)
	}
	r, ok := scalar.FromText(t.Kind, l.Value.Bytes)
	if !ok {
		return plan.Null(t)
	}
	out := &plan.Literal{T: t, Value: plan.Value{Int: r.Int, Float: r.Float}}
	if r.Text != "" {
		out.Value.Bytes = []byte(r.Text)
	}
	return out
}

// isOf binds isof(X,Type): types are static here, so what is left is whether the value is null.
func (s *scope) isOf(e *syntax.IsOf) (plan.Expr, error) {
	x, t, err := s.typed(e.X, e.Type, e.Pos())
	if err != nil {
		return nil, err
	}
	from := x.Type()
	if !from.Same(t) {
		return plan.Bool(false), nil
	}
	if ref, ok := x.(*plan.Ref); ok && (from.Kind == edm.Entity || from.Kind == edm.Complex) {
		if len(ref.Path) > 0 || ref.Range.Nav == nil || len(ref.Range.Set.Type.Key) == 0 {
			return plan.Bool(true), nil
		}
		x = ref.Range.KeyRef(0)
	}
	return &plan.Call{Name: "ne", Args: []plan.Expr{x, plan.Null(x.Type())}, T: edm.Of(edm.Boolean)}, nil
}

func (s *scope) typed(operand syntax.Expr, name string, pos int) (plan.Expr, edm.Type, error) {
	t, err := s.b.typeNamed(name, pos)
	if err != nil {
		return nil, t, err
	}
	if operand == nil {
		return &plan.Ref{Range: s.this, T: edm.Type{Kind: edm.Entity, Entity: s.this.Set.Type}}, t, nil
	}
	x, err := s.bind(operand)
	return x, t, err
}

// typeNamed finds a type by its name in a URL.
func (b *binding) typeNamed(name string, pos int) (edm.Type, error) {
	if short, ok := strings.CutPrefix(name, "Edm."); ok {
		if k := edm.PrimitiveKind(short); k != edm.Invalid {
			return edm.Of(k), nil
		}
	}
	short := strings.TrimPrefix(name, b.binder.model.Namespace+".")
	if t := b.binder.model.EntityType(short); t != nil {
		return edm.Type{Kind: edm.Entity, Entity: t}, nil
	}
	if t := b.binder.model.Complex(short); t != nil {
		return edm.Type{Kind: edm.Complex, Complex: t}, nil
	}
	if t := b.binder.model.Enum(short); t != nil {
		return edm.Type{Kind: edm.Enum, Enum: t}, nil
	}
	return edm.Type{}, plan.Errorf(plan.Malformed, pos, "there is no type %q", name)
}
