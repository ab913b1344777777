package function

import (
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// The forms in which times stand in values.
const (
	instantLayout = "2006-01-02T15:04:05.999999999Z"
	clockLayout   = "15:04:05.999999999"
)

// layoutOf is the form of a kind of date or time.
func layoutOf(k edm.Kind) string {
	switch k {
	case edm.Date:
		return time.DateOnly
	case edm.TimeOfDay:
		return clockLayout
	}
	return instantLayout
}

// moment is a date, a time of day or an instant as a point in time.
func moment(k edm.Kind, v plan.Value) time.Time {
	t, _ := time.Parse(layoutOf(k), string(v.Bytes)) // values have this form
	return t
}

func momentValue(k edm.Kind, t time.Time) (plan.Value, error) {
	if y := t.Year(); k != edm.TimeOfDay && (y < 1 || y > 9999) {
		return plan.Value{}, ErrRange
	}
	return plan.Value{Bytes: []byte(t.Format(layoutOf(k)))}, nil
}

// evalTimePart is year, month, day, hour, minute, second and totaloffsetminutes. OData-URL 5.1.1.8
func evalTimePart(c *plan.Call, args []plan.Value) (plan.Value, error) {
	t := moment(kind(c, 0), args[0])
	switch c.Name {
	case "year":
		return intValue(int64(t.Year()))
	case "month":
		return intValue(int64(t.Month()))
	case "day":
		return intValue(int64(t.Day()))
	case "hour":
		return intValue(int64(t.Hour()))
	case "minute":
		return intValue(int64(t.Minute()))
	case "second":
		return intValue(int64(t.Second()))
	}
	return intValue(0)
}

// evalFraction is fractionalseconds. OData-URL 5.1.1.8.3
func evalFraction(c *plan.Call, args []plan.Value) (plan.Value, error) {
	return decimalValue(apd.New(int64(moment(kind(c, 0), args[0]).Nanosecond()), -9))
}

// evalInstantPart is date and time. OData-URL 5.1.1.8.1, 5.1.1.8.11
func evalInstantPart(c *plan.Call, args []plan.Value) (plan.Value, error) {
	return momentValue(c.T.Kind, moment(edm.DateTimeOffset, args[0]))
}

// evalTotalSeconds is totalseconds. OData-URL 5.1.1.8.13
func evalTotalSeconds(_ *plan.Call, args []plan.Value) (plan.Value, error) {
	return decimalValue(seconds(args[0]))
}

// seconds is a duration as a number of seconds.
func seconds(v plan.Value) *apd.Decimal {
	s, _ := scalar.ParseDuration(string(v.Bytes)) // values have this form
	d := new(apd.Decimal)
	_, _, _ = d.SetString(strconv.FormatInt(s.Seconds, 10) + "." + nineDigits(s.Nanos))
	d.Negative = s.Negative && !d.IsZero()
	return d
}

func nineDigits(n int64) string {
	text := strconv.FormatInt(n, 10)
	return strings.Repeat("0", 9-len(text)) + text
}

// spanValue is a number of seconds as a duration, rounded to the microsecond. 64 bits count them.
func spanValue(d *apd.Decimal) (plan.Value, error) {
	d.Exponent += 6
	if _, err := exact().Quantize(d, d, 0); err != nil {
		return plan.Value{}, ErrRange
	}
	n, err := d.Int64()
	if err != nil {
		return plan.Value{}, ErrRange
	}
	return plan.Value{Bytes: []byte(scalar.FormatMicros(n))}, nil
}

// evalShift computes with points in time and durations. OData-URL 5.1.1.2.1 to 5.1.1.2.5
func evalShift(c *plan.Call, args []plan.Value) (plan.Value, error) {
	a, b := kind(c, 0), kind(c, 1)
	if c.T.Kind != edm.Duration {
		if a == edm.Duration {
			return shifted(b, args[1], seconds(args[0]))
		}
		by := seconds(args[1])
		if c.Name == "sub" {
			by.Neg(by)
		}
		return shifted(a, args[0], by)
	}
	if a != edm.Duration && a == b {
		return between(a, args[0], args[1])
	}
	return spanArithmetic(c.Name, a, b, args)
}

// shifted moves a point in time by seconds. A date moves by whole days, downwards; a time of day stays within its day.
func shifted(k edm.Kind, v plan.Value, by *apd.Decimal) (plan.Value, error) {
	ctx := exact()
	whole, frac := new(apd.Decimal), new(apd.Decimal)
	_, err := ctx.Floor(whole, by)
	n, errWhole := whole.Int64()
	if err != nil || errWhole != nil {
		return plan.Value{}, ErrRange
	}
	_, _ = ctx.Sub(frac, by, whole)
	_, _ = ctx.Mul(frac, frac, apd.New(1, 9))
	_, _ = ctx.Quantize(frac, frac, 0)
	nanos, _ := frac.Int64()
	t := moment(k, v)
	switch k {
	case edm.Date:
		days := n / 86400
		if n%86400 < 0 {
			days--
		}
		n, nanos = days*86400, 0
	case edm.TimeOfDay:
		n %= 86400
	}
	return momentValue(k, time.Unix(t.Unix()+n, int64(t.Nanosecond())+nanos).UTC())
}

// between is the duration from y to x.
func between(k edm.Kind, x, y plan.Value) (plan.Value, error) {
	t, u := moment(k, x), moment(k, y)
	d, ctx := new(apd.Decimal), exact()
	_, err := ctx.Add(d, apd.New(t.Unix()-u.Unix(), 0), apd.New(int64(t.Nanosecond()-u.Nanosecond()), -9))
	if err != nil {
		return plan.Value{}, ErrRange
	}
	return spanValue(d)
}

// spanArithmetic adds and subtracts durations, and multiplies and divides them by numbers.
func spanArithmetic(op string, a, b edm.Kind, args []plan.Value) (plan.Value, error) {
	number := func(k edm.Kind, v plan.Value) (*apd.Decimal, bool) {
		if k == edm.Duration {
			return seconds(v), true
		}
		return asDecimal(k, v)
	}
	x, okX := number(a, args[0])
	y, okY := number(b, args[1])
	if !okX || !okY {
		return plan.Value{}, ErrRange
	}
	if divides(op) && y.IsZero() {
		return Undefined()
	}
	out, err := compute(op, x, y)
	if err != nil {
		return plan.Value{}, ErrRange
	}
	return spanValue(out)
}
