package engine

import (
	"errors"
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// registerAggregates adds aggregates over decimals, in the forms that registerNumbers tells of.
//
//	ves_sum(x)             the exact sum; null where there is none
//	ves_min(x) ves_max(x)  the least and the greatest
func registerAggregates(conn *conn) error {
	return errors.Join(
		conn.Aggregate("ves_sum", func() sqlite3.Aggregate { return &decimalSum{} }),
		conn.Aggregate("ves_min", func() sqlite3.Aggregate { return &decimalExtreme{sign: -1} }),
		conn.Aggregate("ves_max", func() sqlite3.Aggregate { return &decimalExtreme{sign: 1} }),
	)
}

// fineScale is how many digits behind the point a real may have to be added as an integer.
const fineScale = 6

// decimalSum adds integers, and reals with few digits, as integers with so many digits behind the point, and all others as
// decimals.
type decimalSum struct {
	n int64
	// scale is how many digits the last real had behind the point, and power 10 to so many; 0 in the beginning.
	scale int
	power float64
	parts [fineScale + 1]int64
	rest  apd.Decimal
}

// Step adds a value.
func (s *decimalSum) Step(v sqlite3.Value) error { return s.add(v, 1) }

// Inverse takes a value away.
func (s *decimalSum) Inverse(v sqlite3.Value) error { return s.add(v, -1) }

func (s *decimalSum) add(v sqlite3.Value, sign int64) error {
	switch v.Kind() {
	case sqlite3.KindNull:
		return nil
	case sqlite3.KindInt:
		return s.integer(v.Int(), sign)
	case sqlite3.KindFloat:
		return s.real(v.Float(), sign)
	}
	return s.text(v.Text(), sign)
}

// integer adds an integer, or takes it away.
func (s *decimalSum) integer(n, sign int64) error {
	s.n += sign
	if n == math.MinInt64 {
		return s.exactly(apd.New(n, 0), sign)
	}
	return s.whole(0, sign*n)
}

// real adds a real, as the decimal that it is written as; what has none, such as an infinity, does not count.
func (s *decimalSum) real(f float64, sign int64) error {
	if n, ok := asWhole(f, s.power); ok || s.rescale(f, &n) {
		s.n += sign
		return s.whole(s.scale, sign*n)
	}
	text, ok := scalar.DecimalOf(f)
	if !ok {
		return nil
	}
	return s.text(text, sign)
}

// text adds a decimal; what is none does not count.
func (s *decimalSum) text(text string, sign int64) error {
	plain, ok := scalar.PlainDecimal(text)
	if !ok {
		return nil
	}
	s.n += sign
	d, _, err := apd.NewFromString(plain)
	if err != nil {
		return nil //nolint:nilerr // it is no number, as PlainDecimal has it
	}
	return s.exactly(d, sign)
}

// asWhole is a real times a power of ten as an integer, if that is exactly what the real is written as.
func asWhole(f, power float64) (n int64, ok bool) {
	const (
		most = 1e15          // no other decimal of so few digits is this real
		half = 3 * (1 << 51) // what is added to it has no digits behind the point
	)
	r := float64(float64(f*power)+half) - half
	return int64(r), r/power == f && r <= most && r >= -most
}

// rescale finds how many digits behind the point a real has, if few enough.
func (s *decimalSum) rescale(f float64, n *int64) bool {
	power := 1.0
	for scale := 0; scale <= fineScale; scale++ {
		if whole, ok := asWhole(f, power); ok {
			s.scale, s.power, *n = scale, power, whole
			return true
		}
		power *= 10
	}
	return false
}

// whole adds n with some digits behind the point.
func (s *decimalSum) whole(scale int, n int64) error {
	sum := s.parts[scale] + n
	if (sum > s.parts[scale]) == (n > 0) || n == 0 {
		s.parts[scale] = sum
		return nil
	}
	full := apd.New(s.parts[scale], int32(-scale)) // at most fineScale
	s.parts[scale] = n
	return s.exactly(full, 1)
}

func (s *decimalSum) exactly(d *apd.Decimal, sign int64) error {
	d.Negative = d.Negative != (sign < 0)
	_, err := unrounded().Add(&s.rest, &s.rest, d)
	return err
}

// unrounded computes with all digits.
func unrounded() *apd.Context {
	c := apd.BaseContext.WithPrecision(0)
	c.MaxExponent, c.MinExponent = math.MaxInt32, math.MinInt32
	return c
}

// Value returns the sum so far. A window asks for it at each row.
func (s *decimalSum) Value() (sqlite3.Value, error) {
	if v, ok := s.short(); ok {
		return v, nil
	}
	v, err := s.total()
	return computed(v, edm.Decimal), err
}

// short returns the sum as a number of SQLite; ok is false if it has too many digits for one, or there are no values.
func (s *decimalSum) short() (v sqlite3.Value, ok bool) {
	const most = 999_999_999_999_999 // a real has fifteen digits
	if s.n == 0 || !s.rest.IsZero() {
		return v, false
	}
	finest := fineScale
	for finest > 0 && s.parts[finest] == 0 {
		finest--
	}
	var sum, power int64 = 0, 1
	for scale, n := range s.parts[:finest+1] {
		if scale > 0 {
			sum, power = 10*sum, 10*power
		}
		if n < -most || n > most {
			return v, false
		}
		if sum += n; sum < -most || sum > most {
			return v, false
		}
	}
	if sum%power == 0 {
		return sqlite3.Int(sum / power), true
	}
	return sqlite3.Float(float64(sum) / float64(power)), true
}

// total is the sum; null of no values.
func (s *decimalSum) total() (plan.Value, error) {
	if s.n == 0 {
		return plan.Value{Null: true}, nil
	}
	total := new(apd.Decimal).Set(&s.rest)
	for scale, n := range s.parts {
		if _, err := unrounded().Add(total, total, apd.New(n, int32(-scale))); err != nil { // at most fineScale
			return plan.Value{Null: true}, err
		}
	}
	return plan.Value{Bytes: []byte(scalar.Plain(total))}, nil
}

// decimalExtreme keeps the least or the greatest decimal.
type decimalExtreme struct {
	sign int
	best plan.Value
	any  bool
}

// Step looks at a value.
func (e *decimalExtreme) Step(arg sqlite3.Value) error {
	v := operand(arg, edm.Decimal)
	if !v.Null && (!e.any || e.sign*function.Compare(edm.Decimal, edm.Decimal, v, e.best) > 0) {
		e.any, e.best = true, v
	}
	return nil
}

// Inverse returns an error: no window of the statements leaves rows behind.
func (e *decimalExtreme) Inverse(sqlite3.Value) error {
	return errors.New("ves_min and ves_max look at whole partitions")
}

// Value returns the extreme so far.
func (e *decimalExtreme) Value() (sqlite3.Value, error) {
	if !e.any {
		return sqlite3.Null(), nil
	}
	return computed(e.best, edm.Decimal), nil
}
