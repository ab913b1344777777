package function

import (
	"math"
	"strconv"

	"github.com/cockroachdb/apd/v3"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// evalCast is cast. OData-URL 5.1.1.10.1
func evalCast(c *plan.Call, args []plan.Value) (plan.Value, error) {
	from, v := kind(c, 0), args[0]
	switch to := c.T.Kind; {
	case from == edm.String:
		return evalFromText(to, v)
	case to == edm.String:
		return textOf(from, v), nil
	case to.Integer():
		return castWhole(from, to, v)
	case to == edm.Double:
		return plan.Value{Float: asFloat(from, v)}, nil
	case to == edm.Single:
		return plan.Value{Float: float64(float32(asFloat(from, v)))}, nil
	case to == edm.Decimal:
		d, ok := asDecimal(from, v)
		if !ok {
			return plan.Value{}, ErrRange
		}
		return decimalValue(d)
	default:
		return momentValue(to, moment(from, v))
	}
}

// castWhole truncates a number to a whole one; ErrRange when it is outside the bounds of the type.
func castWhole(from, to edm.Kind, v plan.Value) (plan.Value, error) {
	switch {
	case from == edm.Enum:
		return v, nil
	case from.Floating():
		return castFloat(to, v.Float)
	}
	d, ok := asDecimal(from, v)
	if !ok {
		return plan.Value{}, ErrRange
	}
	lo, hi := to.Bounds()
	if d.Cmp(apd.New(lo, 0)) < 0 || d.Cmp(apd.New(hi, 0)) > 0 {
		return plan.Value{}, ErrRange
	}
	whole := new(apd.Decimal)
	d.Modf(whole, nil)
	n, err := whole.Int64()
	if err != nil {
		return plan.Value{}, ErrRange
	}
	return intValue(n)
}

// castFloat is castWhole for a double; the largest Int64 is none.
func castFloat(to edm.Kind, f float64) (plan.Value, error) {
	lo, hi := to.Bounds()
	if !(float64(lo) <= f && f <= float64(hi)) || to == edm.Int64 && f == float64(hi) {
		return plan.Value{}, ErrRange
	}
	return intValue(int64(f))
}

// textOf is a value as text, as $value gives it; that of an enumeration is its number.
func textOf(k edm.Kind, v plan.Value) plan.Value {
	switch {
	case k == edm.Boolean:
		return plan.Value{Bytes: strconv.AppendBool(nil, v.Int != 0)}
	case k.Integer() || k == edm.Enum:
		return plan.Value{Bytes: strconv.AppendInt(nil, v.Int, 10)}
	case k.Floating():
		return plan.Value{Bytes: []byte(floatText(v.Float, floatBits(k)))}
	case k == edm.Decimal:
		d, _ := asDecimal(k, v)
		return plan.Value{Bytes: []byte(scalar.Plain(d))}
	}
	return plan.Value{Bytes: append([]byte{}, v.Bytes...)}
}

// floatText writes a finite double as JSON has it. OData-JSON 7.1
func floatText(f float64, bits int) string {
	if f == 0 {
		return "0" // without a sign
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.FormatFloat(f, format, -1, bits)
}
