package bind

import (
	"regexp"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// signature gives the kinds of the arguments of a canonical function, one letter each, and behind ">" that of its
// result: s String, i Int64, n any number (as a result: that of the argument), m Decimal, b Boolean, d Date or
// DateTimeOffset, t TimeOfDay or DateTimeOffset, o DateTimeOffset, u Duration, D Date, T TimeOfDay. "?" stands before
// arguments that may be missing. OData-URL 5.1.1.5 to 5.1.1.9
func signature(name string) string {
	switch name {
	case "concat":
		return "ss>s"
	case "contains", "endswith", "startswith", "matchesPattern":
		return "ss>b"
	case "indexof":
		return "ss>i"
	case "length":
		return "s>i"
	case "substring":
		return "si?i>s"
	case "tolower", "toupper", "trim":
		return "s>s"
	case "year", "month", "day":
		return "d>i"
	case "hour", "minute", "second":
		return "t>i"
	case "fractionalseconds":
		return "t>m"
	case "totalseconds":
		return "u>m"
	case "totaloffsetminutes":
		return "o>i"
	case "date":
		return "o>D"
	case "time":
		return "o>T"
	case "round", "floor", "ceiling":
		return "n>n"
	case "now", "mindatetime", "maxdatetime":
		return ">o"
	}
	return ""
}

func (s *Scope) call(e *syntax.Call) (plan.Expr, error) {
	sig := signature(e.Func)
	if sig == "" {
		return nil, plan.Errorf(plan.NotImplemented, e.At, "the function %s is not supported", e.Func)
	}
	params, result, _ := strings.Cut(sig, ">")
	required, optional, _ := strings.Cut(params, "?")
	params = required + optional
	if len(e.Args) < len(required) || len(e.Args) > len(params) {
		return nil, plan.Errorf(plan.Malformed, e.At, "%s takes %d arguments", e.Func, len(params))
	}
	call := &plan.Call{Name: strings.ToLower(e.Func), T: resultType(result[0])}
	for i, a := range e.Args {
		x, err := s.Bind(a)
		if err != nil {
			return nil, err
		}
		x, ok := fitParam(x, params[i])
		if !ok {
			return nil, plan.Errorf(plan.Malformed, a.Pos(), "%s does not work on %s", e.Func, typeName(x.Type()))
		}
		call.Args = append(call.Args, x)
	}
	if result == "n" {
		call.T = edm.Of(call.Args[0].Type().Kind)
	}
	if call.Name == "matchespattern" {
		if err := goodPattern(e.Args[1], call.Args[1]); err != nil {
			return nil, err
		}
	}
	return s.constant(call), nil
}

// goodPattern accepts the patterns that every database reads alike: those of RE2, and only as a
func goodPattern(e syntax.Expr, x plan.Expr) error {
	l, ok := x.(*plan.Literal)
	if !ok {
		return plan.Errorf(plan.NotImplemented, e.Pos(), "a pattern must be a constant")
	}
	if _, err := regexp.Compile(string(l.Value.Bytes)); err != nil {
		return plan.Errorf(plan.Malformed, e.Pos(), "%s is no pattern that can be used here", e)
	}
	return nil
}

// constant evaluates the functions that do not depend on a row.
func (s *Scope) constant(call *plan.Call) plan.Expr {
	text := func(v string) plan.Expr { return &plan.Literal{T: call.T, Value: plan.Value{Bytes: []byte(v)}} }
	switch call.Name {
	case "now":
		s.b.Volatile = true
		return text(FormatTime(s.b.Now))
	case "mindatetime":
		return text("0001-01-01T00:00:00Z")
	case "maxdatetime":
		return text("9999-12-31T23:59:59.999999Z")
	}
	return call
}

func resultType(letter byte) edm.Type {
	switch letter {
	case 's':
		return edm.Of(edm.String)
	case 'b':
		return edm.Of(edm.Boolean)
	case 'm':
		return edm.Of(edm.Decimal)
	case 'o':
		return edm.Of(edm.DateTimeOffset)
	case 'D':
		return edm.Of(edm.Date)
	case 'T':
		return edm.Of(edm.TimeOfDay)
	}
	return edm.Of(edm.Int64)
}

// fitParam checks an argument against its letter; null gets a type.
func fitParam(x plan.Expr, letter byte) (plan.Expr, bool) {
	t := x.Type()
	if t.Collection {
		return x, false
	}
	if t.Kind == edm.Null {
		null := map[byte]edm.Kind{
			's': edm.String, 'i': edm.Int64, 'n': edm.Decimal, 'u': edm.Duration,
			'd': edm.DateTimeOffset, 't': edm.DateTimeOffset, 'o': edm.DateTimeOffset,
		}
		return &plan.Literal{T: edm.Of(null[letter]), Value: plan.Value{Null: true}}, true
	}
	switch letter {
	case 's':
		return x, t.Kind == edm.String
	case 'i':
		return x, integer(t.Kind)
	case 'n':
		return x, numeric(t.Kind)
	case 'd':
		return x, t.Kind == edm.Date || t.Kind == edm.DateTimeOffset
	case 't':
		return x, t.Kind == edm.TimeOfDay || t.Kind == edm.DateTimeOffset
	case 'o':
		return x, t.Kind == edm.DateTimeOffset
	case 'u':
		if l, ok := x.(*plan.Literal); ok && t.Kind == edm.String {
			if l, ok := Convert(l, edm.Of(edm.Duration)); ok {
				return l, true
			}
		}
		return x, t.Kind == edm.Duration
	}
	return x, false
}

// cast binds cast(X,Type). OData-URL 5.1.1.10.1
func (s *Scope) cast(e *syntax.Cast) (plan.Expr, error) {
	x, t, err := s.typed(e.X, e.Type, e.At)
	if err != nil {
		return nil, err
	}
	from := x.Type()
	switch {
	case SameType(from, t):
		return x, nil
	case from.Kind == edm.Null:
		return &plan.Literal{T: t, Value: plan.Value{Null: true}}, nil
	}
	if l, ok := x.(*plan.Literal); ok {
		if c, ok := Convert(l, t); ok {
			return c, nil
		}
	}
	ok := false
	switch {
	case t.Kind == edm.String:
		ok = from.Kind.Numeric() || from.Kind == edm.Boolean || from.Kind == edm.Guid || from.Kind == edm.Enum ||
			from.Kind >= edm.Date && from.Kind <= edm.Duration
	case numeric(t.Kind) && numeric(from.Kind):
		ok = true
	case t.Kind == edm.Date || t.Kind == edm.TimeOfDay:
		ok = from.Kind == edm.DateTimeOffset
	case t.Kind == edm.DateTimeOffset:
		ok = from.Kind == edm.Date
	case integer(t.Kind):
		ok = from.Kind == edm.Enum
	}
	if !ok {
		return nil, plan.Errorf(plan.NotImplemented, e.At, "a cast from %s to %s is not supported", typeName(from), e.Type)
	}
	return &plan.Call{Name: "cast", Args: []plan.Expr{x}, T: t}, nil
}

// isOf binds isof(X,Type): types are static here, so what is left is whether the value is null.
func (s *Scope) isOf(e *syntax.IsOf) (plan.Expr, error) {
	x, t, err := s.typed(e.X, e.Type, e.At)
	if err != nil {
		return nil, err
	}
	from := x.Type()
	if !SameType(from, t) {
		return Boolean(false), nil
	}
	if ref, ok := x.(*plan.Ref); ok && (from.Kind == edm.Entity || from.Kind == edm.Complex) {
		if len(ref.Path) > 0 || ref.Range.Nav == nil || len(ref.Range.Set.Type.Key) == 0 {
			return Boolean(true), nil
		}
		x = keyRef(ref, 0)
	}
	null := &plan.Literal{T: x.Type(), Value: plan.Value{Null: true}}
	return &plan.Call{Name: "ne", Args: []plan.Expr{x, null}, T: edm.Of(edm.Boolean)}, nil
}

func (s *Scope) typed(operand syntax.Expr, name string, pos int) (plan.Expr, edm.Type, error) {
	t, err := s.b.typeNamed(name, pos)
	if err != nil {
		return nil, t, err
	}
	if operand == nil {
		return &plan.Ref{Range: s.This, T: edm.Type{Kind: edm.Entity, Entity: s.This.Set.Type}}, t, nil
	}
	x, err := s.Bind(operand)
	return x, t, err
}

// typeNamed finds a type by its name in a URL.
func (b *Binder) typeNamed(name string, pos int) (edm.Type, error) {
	if short, ok := strings.CutPrefix(name, "Edm."); ok {
		if k := edm.PrimitiveKind(short); k != edm.Invalid {
			return edm.Of(k), nil
		}
	}
	short := strings.TrimPrefix(name, b.Model.Namespace+".")
	if t := b.Model.EntityType(short); t != nil {
		return edm.Type{Kind: edm.Entity, Entity: t}, nil
	}
	if t := b.Model.Complex(short); t != nil {
		return edm.Type{Kind: edm.Complex, Complex: t}, nil
	}
	if t := b.Model.Enum(short); t != nil {
		return edm.Type{Kind: edm.Enum, Enum: t}, nil
	}
	return edm.Type{}, plan.Errorf(plan.Malformed, pos, "there is no type %q", name)
}

func typeName(t edm.Type) string {
	switch t.Kind {
	case edm.Null:
		return "null"
	case edm.Enum:
		return t.Enum.Name
	case edm.Complex:
		return t.Complex.Name
	case edm.Entity:
		return t.Entity.Name
	}
	return "Edm." + t.Kind.String()
}
