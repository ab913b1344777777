package function

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// digits are the most digits that an exact number has before and behind the point, as far as types and constants tell.
type digits struct{ whole, scale int }

// fit tells that no decimal of these digits has more than Edm.Decimal holds.
func (d digits) fit() bool { return d.whole+d.scale <= maxDigits && d.scale <= maxScale }

// digitsOfExpr looks at an expression without the rows.
func digitsOfExpr(e plan.Expr) digits {
	unknown := digits{maxDigits, maxScale}
	t := e.Type()
	if t.Kind.Integer() {
		return digits{19, 0}
	}
	switch e := e.(type) {
	case *plan.Literal:
		whole, frac, _ := strings.Cut(strings.TrimPrefix(string(e.Value.Bytes), "-"), ".")
		return digits{len(whole), len(frac)}
	case *plan.Ref:
		if t.Precision > 0 && t.Scale >= 0 {
			return digits{t.Precision - t.Scale, t.Scale}
		}
	case *plan.Call:
		if t.Kind == edm.Decimal && len(e.Args) == 2 && e.Args[0].Type().Kind.Numeric() && e.Args[1].Type().Kind.Numeric() {
			return digitsOfResult(e)
		}
	}
	return unknown
}

// digitsOfResult is what an operator makes of the digits of its operands.
func digitsOfResult(c *plan.Call) digits {
	x, y := digitsOfExpr(c.Args[0]), digitsOfExpr(c.Args[1])
	switch c.Name {
	case "add", "sub":
		return digits{max(x.whole, y.whole) + 1, max(x.scale, y.scale)}
	case "mul":
		return digits{x.whole + y.whole, x.scale + y.scale}
	case "mod":
		return digits{x.whole, max(x.scale, y.scale)}
	}
	return digits{x.whole + y.scale, scalar.DivisionDigits}
}
