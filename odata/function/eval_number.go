package function

import (
	"math"
	"strconv"

	"github.com/cockroachdb/apd/v3"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// exact is the context in which decimals are computed: enough digits for the product of two of them, and for those that
// are stored with more.
func exact() *apd.Context {
	c := apd.BaseContext.WithPrecision(4 * (maxWhole + maxScale))
	c.Rounding = apd.RoundHalfUp
	return c
}

// asDecimal returns a finite number as a decimal; false if it is not one.
func asDecimal(k edm.Kind, v plan.Value) (*apd.Decimal, bool) {
	switch {
	case k.Integer() || k == edm.Enum:
		return apd.New(v.Int, 0), true
	case k.Floating():
		d, _, err := apd.NewFromString(strconv.FormatFloat(v.Float, 'g', -1, floatBits(k)))
		return d, err == nil
	}
	d, _, err := apd.NewFromString(string(v.Bytes))
	return d, err == nil
}

func floatBits(k edm.Kind) int {
	if k == edm.Single {
		return 32
	}
	return 64
}

// asFloat is a number as a double, the nearest one.
func asFloat(k edm.Kind, v plan.Value) float64 {
	switch {
	case k.Integer():
		return float64(v.Int)
	case k.Floating():
		return v.Float
	}
	f, _ := strconv.ParseFloat(string(v.Bytes), 64) // a decimal beyond the range of doubles is infinite
	return f
}

// decimalValue is a result as a Decimal.
func decimalValue(d *apd.Decimal) (plan.Value, error) {
	if !hold(d) {
		return plan.Value{}, ErrRange
	}
	return plan.Value{Bytes: []byte(scalar.Plain(d))}, nil
}

// hold rounds what is computed with; false where it is out of range.
func hold(d *apd.Decimal) bool {
	if d.Exponent < -maxScale {
		if _, err := exact().Quantize(d, d, -maxScale); err != nil {
			return false
		}
	}
	return d.IsZero() || d.NumDigits()+int64(d.Exponent) <= maxWhole
}

func intValue(n int64) (plan.Value, error) { return plan.Value{Int: n}, nil }

func boolValue(b bool) (plan.Value, error) {
	if b {
		return plan.Value{Int: 1}, nil
	}
	return plan.Value{}, nil
}

// evalArithmetic is add, sub, mul, div, divby and mod of numbers, dates, times and durations. OData-URL 5.1.1.2
func evalArithmetic(c *plan.Call, args []plan.Value) (plan.Value, error) {
	a, b := kind(c, 0), kind(c, 1)
	switch {
	case c.T.Kind == edm.Int64:
		return evalWhole(c.Name, args[0].Int, args[1].Int)
	case c.T.Kind == edm.Decimal:
		return evalDecimal(c.Name, a, b, args)
	case c.T.Kind.Floating():
		return evalFloat(c.Name, asFloat(a, args[0]), asFloat(b, args[1]))
	}
	return evalShift(c, args)
}

// evalWhole computes with integers of 64 bits; the quotient loses its fraction.
func evalWhole(op string, x, y int64) (plan.Value, error) {
	switch op {
	case "add":
		if y > 0 && x > math.MaxInt64-y || y < 0 && x < math.MinInt64-y {
			return plan.Value{}, ErrRange
		}
		return intValue(x + y)
	case "sub":
		if y < 0 && x > math.MaxInt64+y || y > 0 && x < math.MinInt64+y {
			return plan.Value{}, ErrRange
		}
		return intValue(x - y)
	case "mul":
		p := x * y
		if x != 0 && (p/x != y || x == -1 && y == math.MinInt64) {
			return plan.Value{}, ErrRange
		}
		return intValue(p)
	}
	switch {
	case y == 0:
		return Undefined()
	case op == "mod" && y == -1:
		return intValue(0)
	case op == "mod":
		return intValue(x % y)
	case x == math.MinInt64 && y == -1:
		return plan.Value{}, ErrRange
	}
	return intValue(x / y)
}

// evalDecimal computes with decimals. A quotient has scalar.DivisionDigits digits behind the point.
func evalDecimal(op string, a, b edm.Kind, args []plan.Value) (plan.Value, error) {
	x, okX := asDecimal(a, args[0])
	y, okY := asDecimal(b, args[1])
	if !okX || !okY || !hold(x) || !hold(y) {
		return plan.Value{}, ErrRange
	}
	if divides(op) && y.IsZero() {
		return Undefined()
	}
	out, err := compute(op, x, y)
	if err == nil && divides(op) && op != "mod" && out.Exponent < -scalar.DivisionDigits {
		_, err = exact().Quantize(out, out, -scalar.DivisionDigits)
	}
	if err != nil {
		return plan.Value{}, ErrRange
	}
	return decimalValue(out)
}

// divides tells whether an operator is div, divby or mod.
func divides(op string) bool { return op == "div" || op == "divby" || op == "mod" }

// compute is an arithmetic operator on two decimals; y is not zero where the operator divides.
func compute(op string, x, y *apd.Decimal) (*apd.Decimal, error) {
	ctx, out := exact(), new(apd.Decimal)
	var err error
	switch op {
	case "add":
		_, err = ctx.Add(out, x, y)
	case "sub":
		_, err = ctx.Sub(out, x, y)
	case "mul":
		_, err = ctx.Mul(out, x, y)
	case "mod":
		_, err = ctx.Rem(out, x, y)
	default:
		_, err = ctx.Quo(out, x, y)
	}
	return out, err
}

// evalFloat computes with finite doubles as IEEE 754 has it; a division by zero is undefined. Compile refuses a result that
// is infinite.
func evalFloat(op string, x, y float64) (plan.Value, error) {
	switch {
	case divides(op) && y == 0:
		return Undefined()
	case op == "add":
		return plan.Value{Float: x + y}, nil
	case op == "sub":
		return plan.Value{Float: x - y}, nil
	case op == "mul":
		return plan.Value{Float: x * y}, nil
	case op == "mod":
		return plan.Value{Float: math.Mod(x, y)}, nil
	}
	return plan.Value{Float: x / y}, nil
}

// evalNegate is the unary minus. OData-URL 5.1.1.2.3
func evalNegate(c *plan.Call, args []plan.Value) (plan.Value, error) {
	switch c.T.Kind {
	case edm.Int64:
		return evalWhole("sub", 0, args[0].Int)
	case edm.Double, edm.Single:
		return plan.Value{Float: -args[0].Float}, nil
	case edm.Duration:
		s := seconds(args[0])
		s.Neg(s)
		return spanValue(s)
	}
	d, ok := asDecimal(kind(c, 0), args[0])
	if !ok || !hold(d) {
		return plan.Value{}, ErrRange
	}
	d.Neg(d)
	return decimalValue(d)
}

// evalRound is round, floor and ceiling; halves go away from zero. OData-URL 5.1.1.9
func evalRound(c *plan.Call, args []plan.Value) (plan.Value, error) {
	switch k := kind(c, 0); {
	case k.Integer():
		return args[0], nil
	case k == edm.Decimal:
		d, _ := asDecimal(k, args[0])
		ctx, out := exact(), new(apd.Decimal)
		var err error
		switch c.Name {
		case "floor":
			_, err = ctx.Floor(out, d)
		case "ceiling":
			_, err = ctx.Ceil(out, d)
		default:
			_, err = ctx.Quantize(out, d, 0)
		}
		if err != nil {
			return plan.Value{}, ErrRange
		}
		return plan.Value{Bytes: []byte(scalar.Plain(out))}, nil
	}
	round := map[string]func(float64) float64{"floor": math.Floor, "ceiling": math.Ceil, "round": math.Round}[c.Name]
	return plan.Value{Float: round(args[0].Float)}, nil
}
