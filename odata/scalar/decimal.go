package scalar

import (
	"strconv"

	"github.com/cockroachdb/apd/v3"
)

// DivisionDigits is how many fractional digits the quotient of two decimals keeps, on every database.
const DivisionDigits = 10

// Exact computes with decimals: op is add, sub, mul, div or mod. The quotient is rounded to DivisionDigits; the
// remainder has the sign of the dividend. False for a division by zero, and for what is no decimal.
func Exact(op, x, y string) (string, bool) {
	a, _, err := apd.NewFromString(x)
	if err != nil {
		return "", false
	}
	b, _, err := apd.NewFromString(y)
	if err != nil {
		return "", false
	}
	ctx := apd.BaseContext.WithPrecision(80)
	ctx.Rounding = apd.RoundHalfUp
	out := new(apd.Decimal)
	switch op {
	case "add":
		_, err = ctx.Add(out, a, b)
	case "sub":
		_, err = ctx.Sub(out, a, b)
	case "mul":
		_, err = ctx.Mul(out, a, b)
	case "mod":
		_, err = ctx.Rem(out, a, b)
	default:
		if _, err = ctx.Quo(out, a, b); err == nil && out.Exponent < -DivisionDigits {
			_, err = ctx.Quantize(out, out, -DivisionDigits)
		}
	}
	if err != nil || out.Form != apd.Finite {
		return "", false
	}
	return Plain(out), true
}

// Plain writes a finite decimal without an exponent and without needless zeros; zero has no sign.
func Plain(d *apd.Decimal) string {
	if d.IsZero() {
		return "0"
	}
	short, _ := new(apd.Decimal).Reduce(d)
	return short.Text('f')
}

// Float is the shortest plain notation of a float.
func Float(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
