package bind

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// unify brings two operands to one type where promotion allows that. Null takes any type; a constant takes the type
// of the other operand when it has the same value there. A @user_ value is converted to the type of the other operand;
// ok is false where that is impossible, so that the policy lets no row pass.
func unify(x, y plan.Expr) (plan.Expr, plan.Expr, bool) {
	lx, cx := x.(*plan.Literal)
	ly, cy := y.(*plan.Literal)
	tx, ty := x.Type(), y.Type()
	switch {
	case tx.Collection || ty.Collection:
		return x, y, false
	case cx && tx.Kind == edm.Null || cy && ty.Kind == edm.Null:
		if cx && ty.Kind != edm.Entity && ty.Kind != edm.Complex && tx.Kind == edm.Null {
			x = plan.Null(ty)
		} else if cy && tx.Kind != edm.Entity && tx.Kind != edm.Complex {
			y = plan.Null(tx)
		}
		return x, y, true
	case tx.Same(ty):
		return x, y, true
	}
	if cy && (!cx || ly.Adapts) {
		if l, ok := fitConstant(ly, tx); ok {
			return x, l, true
		}
	}
	if cx {
		if l, ok := fitConstant(lx, ty); ok {
			return l, y, true
		}
	}
	if cx && cy {
		if l, ok := fitConstant(ly, tx); ok {
			return x, l, true
		}
	}
	return x, y, tx.Kind.Numeric() && ty.Kind.Numeric()
}

// fitConstant converts a constant for a comparison, without losing what makes it different: 1.5 stays a decimal
// beside an integer, and 1e300 a double beside a single.
func fitConstant(l *plan.Literal, to edm.Type) (*plan.Literal, bool) {
	if l.T.Kind == edm.Double && to.Kind == edm.Single && scalar.IsSingle(l.Value.Float) {
		return convert(l, to)
	}
	if l.T.Kind.Numeric() && to.Kind.Numeric() && !l.Adapts {
		if l.T.Kind.Rank() > to.Kind.Rank() && (to.Kind != edm.Decimal || l.T.Kind == edm.Decimal) {
			return nil, false
		}
	}
	return convert(l, to)
}

// arithmetic binds add, sub, mul, div, divby, mod. OData-URL 5.1.1.2
func (s *scope) arithmetic(e *syntax.Binary, x, y plan.Expr) (plan.Expr, error) {
	if x.Type().Kind == edm.Null {
		x = plan.Null(y.Type())
	}
	if y.Type().Kind == edm.Null {
		y = plan.Null(x.Type())
	}
	x, y = asDuration(x, y), asDuration(y, x)
	_, result, ok := function.Lookup(e.Op).Match([]edm.Kind{x.Type().Kind, y.Type().Kind})
	if !ok || x.Type().Kind == edm.Null || x.Type().Collection || y.Type().Collection {
		return nil, mismatch(e, x, y)
	}
	if result != edm.Double && (e.Op == "div" || e.Op == "divby" || e.Op == "mod") {
		if l, fixed := y.(*plan.Literal); fixed && isZero(l) {
			return nil, plan.Errorf(plan.Malformed, e.Y.Pos(), "division by zero")
		}
	}
	if result == edm.Double {
		x, y = constantAs(x, edm.Of(result)), constantAs(y, edm.Of(result))
	}
	return &plan.Call{Name: e.Op, Args: []plan.Expr{x, y}, T: edm.Of(result)}, nil
}

// asDuration reads a text as a duration, which it can be in OData 4.01, beside what durations are added to.
func asDuration(x, beside plan.Expr) plan.Expr {
	switch beside.Type().Kind {
	case edm.DateTimeOffset, edm.Date, edm.TimeOfDay, edm.Duration:
	default:
		return x
	}
	if x.Type().Kind != edm.String {
		return x
	}
	return constantAs(x, edm.Of(edm.Duration))
}

// constantAs converts a constant, where that loses nothing; everything else stays as it is.
func constantAs(x plan.Expr, t edm.Type) plan.Expr {
	if l, ok := x.(*plan.Literal); ok {
		if converted, ok := convert(l, t); ok {
			return converted
		}
	}
	return x
}
