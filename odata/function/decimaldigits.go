package function

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// Limits of the decimals that are computed with, which are what DECIMAL(65, 30) of MariaDB holds. An operand or a result
// with more digits before the point is out of range, and one with more behind it is rounded, halves away from zero. What
// is stored may have more, and is answered, compared and ordered as it is.
const (
	maxWhole = 35
	maxScale = 30
)

// digits are the most digits that an exact number has before and behind the point, as far as types and constants tell.
type digits struct{ whole, scale int }

// anyDigits are those of a number of any length: they do not fit.
func anyDigits() digits { return digits{2 * maxWhole, 2 * maxScale} }

// fit tells that every decimal of these digits can be computed with as it is.
func (d digits) fit() bool { return d.whole <= maxWhole && d.scale <= maxScale }

// held are the digits of what can be computed with.
func (d digits) held() digits { return digits{min(d.whole, maxWhole), min(d.scale, maxScale)} }

// WholeDigits is how many digits an exact number has before the point at most, as far as types and constants tell; 70 where
// they do not.
func WholeDigits(e plan.Expr) int { return digitsOfExpr(e).whole }

// digitsOfExpr looks at an expression without the rows.
func digitsOfExpr(e plan.Expr) digits {
	t := e.Type()
	if t.Kind.Integer() || t.Kind == edm.Enum {
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
	case *plan.Computed:
		if !e.Shared { // those build a graph, which is larger as a tree
			return digitsOfExpr(e.Expr)
		}
	case *plan.Call:
		return digitsOfCall(e)
	case *plan.Cell:
		return digitsOfColumn(e)
	case *plan.Aggregate:
		return digitsOfAggregate(e)
	}
	return anyDigits()
}

// digitsOfColumn looks at the values of a column of a derived table. It does not look into calls, which build a graph.
func digitsOfColumn(c *plan.Cell) (most digits) {
	for _, p := range c.Range.Derived.Parts {
		of := anyDigits()
		if _, isCall := p.Values[c.Column].(*plan.Call); !isCall {
			of = digitsOfExpr(p.Values[c.Column])
		}
		most = digits{max(most.whole, of.whole), max(most.scale, of.scale)}
	}
	return most
}

// countDigits is how many digits a sum may have more than its values: fewer than 10 to the power of it are added up.
const countDigits = 12

func digitsOfAggregate(a *plan.Aggregate) digits {
	switch a.Arg.(type) {
	case *plan.Ref, *plan.Cell:
	default:
		return anyDigits()
	}
	of := digitsOfExpr(a.Arg)
	switch a.Op {
	case "sum":
		return digits{of.whole + countDigits, of.scale}
	case "min", "max":
		return of
	}
	return anyDigits()
}

// digitsOfCall is what a function makes of the digits of its arguments; more than fit where they may be any.
func digitsOfCall(c *plan.Call) digits {
	switch {
	case c.T.Kind != edm.Decimal:
	case computesExactly(c) && len(c.Args) == 2:
		return digitsOfResult(c).held()
	case c.Name == "negate":
		return digitsOfExpr(c.Args[0]).held()
	case c.Name == "round", c.Name == "floor", c.Name == "ceiling":
		return digits{digitsOfExpr(c.Args[0]).whole + 1, 0}
	case c.Name == "fractionalseconds", c.Name == "totalseconds":
		return digits{13, 6}
	case c.Name == "cast" && kind(c, 0).Integer():
		return digits{19, 0}
	case c.Name == "cast":
		return digits{maxWhole, maxScale}
	}
	return anyDigits()
}

// computesExactly tells the operators whose operands and results are held to the limits.
func computesExactly(c *plan.Call) bool {
	return c.T.Kind == edm.Decimal && Lookup(c.Name).Group == Arithmetic
}

// digitsOfResult is what an operator makes of the digits of its operands, before they are held to the limits.
func digitsOfResult(c *plan.Call) digits {
	x := digitsOfExpr(c.Args[0]).held()
	if len(c.Args) == 1 {
		return x
	}
	y := digitsOfExpr(c.Args[1]).held()
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

// mayLeaveDigits tells whether an operand or the result of an operator may have too many digits.
func mayLeaveDigits(c *plan.Call) bool {
	for _, a := range c.Args {
		if !digitsOfExpr(a).fit() {
			return true
		}
	}
	return !digitsOfResult(c).fit()
}
