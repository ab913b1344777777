package bind

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

func integer(k edm.Kind) bool { return k.Integer() }
func numeric(k edm.Kind) bool { return k.Numeric() }

// rank orders the numeric kinds for promotion: integers, Decimal, Single, Double. OData-URL 5.1.1.15
func rank(k edm.Kind) int {
	switch {
	case integer(k):
		return 1
	case k == edm.Decimal:
		return 2
	case k == edm.Single:
		return 3
	case k == edm.Double:
		return 4
	}
	return 0
}

// unify brings two operands to one type where promotion allows that. Null takes any type; a constant takes the type
// of the other operand when it fits; a column of the user takes it always or becomes null.
func unify(x, y plan.Expr) (plan.Expr, plan.Expr, bool) {
	lx, cx := x.(*plan.Literal)
	ly, cy := y.(*plan.Literal)
	tx, ty := x.Type(), y.Type()
	switch {
	case tx.Collection || ty.Collection:
		return x, y, false
	case cx && tx.Kind == edm.Null || cy && ty.Kind == edm.Null:
		if cx && ty.Kind != edm.Entity && ty.Kind != edm.Complex && tx.Kind == edm.Null {
			x = &plan.Literal{T: ty, Value: plan.Value{Null: true}}
		} else if cy && tx.Kind != edm.Entity && tx.Kind != edm.Complex {
			y = &plan.Literal{T: tx, Value: plan.Value{Null: true}}
		}
		return x, y, true
	case SameType(tx, ty):
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
	return x, y, numeric(tx.Kind) && numeric(ty.Kind)
}

// fitConstant converts a constant for a comparison, without losing what makes it different: 1.5 stays a decimal
// beside an integer.
func fitConstant(l *plan.Literal, to edm.Type) (*plan.Literal, bool) {
	if numeric(l.T.Kind) && numeric(to.Kind) && !l.Adapts {
		if rank(l.T.Kind) > rank(to.Kind) && (to.Kind != edm.Decimal || l.T.Kind == edm.Decimal) {
			return nil, false
		}
	}
	return Convert(l, to)
}

// arithmetic binds add, sub, mul, div, divby, mod. OData-URL 5.1.1.2
func (s *Scope) arithmetic(e *syntax.Binary, x, y plan.Expr) (plan.Expr, error) {
	if x.Type().Kind == edm.Null {
		x = &plan.Literal{T: y.Type(), Value: plan.Value{Null: true}}
	}
	if y.Type().Kind == edm.Null {
		y = &plan.Literal{T: x.Type(), Value: plan.Value{Null: true}}
	}
	t, ok := arithmeticType(e.Op, x.Type(), y.Type())
	if !ok {
		return nil, mismatch(e, x, y)
	}
	if e.Op == "div" || e.Op == "divby" || e.Op == "mod" {
		if l, fixed := y.(*plan.Literal); fixed && IsZero(l) {
			return nil, plan.Errorf(plan.Malformed, e.Y.Pos(), "division by zero")
		}
	}
	if numeric(t.Kind) && t.Kind != edm.Int64 {
		if l, fixed := x.(*plan.Literal); fixed && t.Kind == edm.Double {
			x = orSame(Convert(l, t))(l)
		}
		if l, fixed := y.(*plan.Literal); fixed && t.Kind == edm.Double {
			y = orSame(Convert(l, t))(l)
		}
	}
	return &plan.Call{Name: e.Op, Args: []plan.Expr{x, y}, T: t}, nil
}

func orSame(l *plan.Literal, ok bool) func(*plan.Literal) *plan.Literal {
	return func(old *plan.Literal) *plan.Literal {
		if ok {
			return l
		}
		return old
	}
}

func arithmeticType(op string, x, y edm.Type) (edm.Type, bool) {
	a, b := x.Kind, y.Kind
	switch {
	case x.Collection || y.Collection:
		return edm.Type{}, false
	case numeric(a) && numeric(b):
		return numericType(op, x, y), true
	case op == "add" && (a == edm.DateTimeOffset || a == edm.Date || a == edm.TimeOfDay) && b == edm.Duration:
		return edm.Of(a), true
	case op == "add" && a == edm.Duration && (b == edm.DateTimeOffset || b == edm.Date || b == edm.TimeOfDay):
		return edm.Of(b), true
	case op == "sub" && (a == edm.DateTimeOffset || a == edm.Date || a == edm.TimeOfDay) && b == edm.Duration:
		return edm.Of(a), true
	case op == "sub" && a == b && (a == edm.DateTimeOffset || a == edm.Date || a == edm.TimeOfDay):
		return edm.Of(edm.Duration), true
	case (op == "add" || op == "sub") && a == edm.Duration && b == edm.Duration:
		return edm.Of(edm.Duration), true
	case op == "mul" && (a == edm.Duration && numeric(b) || numeric(a) && b == edm.Duration):
		return edm.Of(edm.Duration), true
	case (op == "div" || op == "divby") && a == edm.Duration && numeric(b):
		return edm.Of(edm.Duration), true
	}
	return edm.Type{}, false
}

func numericType(op string, x, y edm.Type) edm.Type {
	top := x
	if rank(y.Kind) > rank(x.Kind) {
		top = y
	}
	switch {
	case top.Kind == edm.Single || top.Kind == edm.Double:
		return edm.Of(edm.Double)
	case top.Kind == edm.Decimal || op == "divby":
		return edm.Of(edm.Decimal)
	}
	return edm.Of(edm.Int64)
}
