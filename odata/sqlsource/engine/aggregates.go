package engine

import (
	"errors"
	"math"

	"github.com/cockroachdb/apd/v3"
	"zombiezen.com/go/sqlite"

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
	for name, made := range map[string]func() sqlite.AggregateFunction{
		"ves_sum": func() sqlite.AggregateFunction { return &decimalSum{} },
		"ves_min": func() sqlite.AggregateFunction { return &decimalExtreme{sign: -1} },
		"ves_max": func() sqlite.AggregateFunction { return &decimalExtreme{sign: 1} },
	} {
		err := conn.CreateFunction(name, &sqlite.FunctionImpl{
			NArgs: 1, Deterministic: true,
			MakeAggregate: func(sqlite.Context) (sqlite.AggregateFunction, error) { return made(), nil },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fineScale is how many digits behind the point a real may have to be added as an integer.
const fineScale = 6

// decimalSum adds integers, and reals with few digits, as integers with so many digits behind the point, and all others as
// decimals.
type decimalSum struct {
	n     int64
	scale int // of the last real
	parts [fineScale + 1]int64
	rest  apd.Decimal
}

// Step adds a value.
func (s *decimalSum) Step(_ sqlite.Context, args []sqlite.Value) error { return s.add(args[0], 1) }

// WindowInverse takes a value away.
func (s *decimalSum) WindowInverse(_ sqlite.Context, args []sqlite.Value) error {
	return s.add(args[0], -1)
}

func (s *decimalSum) add(v sqlite.Value, sign int64) error {
	switch v.Type() {
	case sqlite.TypeNull:
		return nil
	case sqlite.TypeInteger:
		s.n += sign
		if n := v.Int64(); n != math.MinInt64 {
			return s.whole(0, sign*n)
		}
	case sqlite.TypeFloat:
		if scale, n, ok := scaled(v.Float(), s.scale); ok {
			s.n += sign
			s.scale = scale
			return s.whole(scale, sign*n)
		}
	}
	x := operand(v, edm.Decimal)
	if x.Null {
		return nil
	}
	if v.Type() != sqlite.TypeInteger {
		s.n += sign
	}
	d, _, err := apd.NewFromString(string(x.Bytes))
	if err != nil {
		return nil //nolint:nilerr // it is no number, as operand has it
	}
	d.Negative = d.Negative != (sign < 0)
	return s.exactly(d)
}

// scaled writes a real as an integer with some digits behind the point, if it has few enough of them. The first attempt is
// with as many as the last one had.
func scaled(f float64, first int) (scale int, n int64, ok bool) {
	const most = 1e15 // no other decimal of so few digits is this real
	powers := [fineScale + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6}
	for scale = first; scale <= fineScale; scale++ {
		r := math.Round(f * powers[scale])
		if r > most || r < -most {
			return 0, 0, false
		}
		if r/powers[scale] == f {
			return scale, int64(r), true
		}
	}
	return 0, 0, false
}

// whole adds n with some digits behind the point.
func (s *decimalSum) whole(scale int, n int64) error {
	sum := s.parts[scale] + n
	if (sum > s.parts[scale]) == (n > 0) || n == 0 {
		s.parts[scale] = sum
		return nil
	}
	full := apd.New(s.parts[scale], int32(-scale)) //nolint:gosec // at most fineScale
	s.parts[scale] = n
	return s.exactly(full)
}

func (s *decimalSum) exactly(d *apd.Decimal) error {
	_, err := unrounded().Add(&s.rest, &s.rest, d)
	return err
}

// unrounded computes with all digits.
func unrounded() *apd.Context {
	c := apd.BaseContext.WithPrecision(0)
	c.MaxExponent, c.MinExponent = math.MaxInt32, math.MinInt32
	return c
}

// WindowValue gives the sum so far.
func (s *decimalSum) WindowValue(sqlite.Context) (sqlite.Value, error) {
	if s.n == 0 {
		return sqlite.Value{}, nil
	}
	total := new(apd.Decimal).Set(&s.rest)
	for scale, n := range s.parts {
		if _, err := unrounded().Add(total, total, apd.New(n, int32(-scale))); err != nil { //nolint:gosec // at most fineScale
			return sqlite.Value{}, err
		}
	}
	return computed(plan.Value{Bytes: []byte(scalar.Plain(total))}, edm.Decimal), nil
}

// Finalize has nothing to do.
func (s *decimalSum) Finalize(sqlite.Context) {}

// decimalExtreme keeps the least or the greatest decimal.
type decimalExtreme struct {
	sign int
	best plan.Value
	any  bool
}

// Step looks at a value.
func (e *decimalExtreme) Step(_ sqlite.Context, args []sqlite.Value) error {
	v := operand(args[0], edm.Decimal)
	if !v.Null && (!e.any || e.sign*function.Compare(edm.Decimal, edm.Decimal, v, e.best) > 0) {
		e.any, e.best = true, v
	}
	return nil
}

// WindowInverse is not needed: no window leaves rows behind.
func (e *decimalExtreme) WindowInverse(sqlite.Context, []sqlite.Value) error {
	return errors.New("ves_min and ves_max look at whole partitions")
}

// WindowValue gives the extreme so far.
func (e *decimalExtreme) WindowValue(sqlite.Context) (sqlite.Value, error) {
	if !e.any {
		return sqlite.Value{}, nil
	}
	return computed(e.best, edm.Decimal), nil
}

// Finalize has nothing to do.
func (e *decimalExtreme) Finalize(sqlite.Context) {}
