package memory

import (
	"math"
	"strconv"

	"github.com/cockroachdb/apd/v3"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// sum is what an aggregate has come to.
type sum struct {
	n        int64
	whole    int64
	float    float64
	exact    apd.Decimal
	least    plan.Value
	distinct map[string]bool
}

// add takes the row that the range stands on.
func (s *sum) add(e *env, a *aggregate) {
	if a.when != nil && !isTrue(a.when(e)) {
		return
	}
	var v plan.Value
	if a.arg != nil {
		if v = a.arg(e); v.Null {
			return
		}
	}
	s.n++
	switch a.plan.Op {
	case "sum":
		s.plus(a, v)
	case "min", "max":
		c := 0
		if s.n > 1 {
			c = function.Compare(a.kind, a.kind, v, s.least)
		}
		if s.n == 1 || a.plan.Op == "min" && c < 0 || a.plan.Op == "max" && c > 0 {
			s.least = v
		}
	case "countdistinct":
		if s.distinct == nil {
			s.distinct = map[string]bool{}
		}
		s.distinct[textOf(e, []typed{{a.arg, a.kind}})] = true
	}
}

func (s *sum) plus(a *aggregate, v plan.Value) {
	switch {
	case a.plan.T.Kind == edm.Double:
		s.float += v.Float
	case a.plan.T.Kind == edm.Int64:
		s.whole += v.Int
	case a.kind == edm.Decimal:
		if d, _, err := apd.NewFromString(string(v.Bytes)); err == nil {
			_, _ = exact().Add(&s.exact, &s.exact, d)
		}
	default:
		_, _ = exact().Add(&s.exact, &s.exact, apd.New(v.Int, 0))
	}
}

// exact rounds nothing.
func exact() *apd.Context {
	c := apd.BaseContext.WithPrecision(0)
	c.MaxExponent, c.MinExponent = math.MaxInt32, math.MinInt32
	return c
}

// result is null where there is no value, and 0 for counts.
func (s *sum) result(a *aggregate) plan.Value {
	switch a.plan.Op {
	case "count", "countdistinct":
		n := s.n
		if a.plan.Op == "countdistinct" {
			n = int64(len(s.distinct))
		}
		if a.plan.T.Kind == edm.Decimal {
			return plan.Value{Bytes: strconv.AppendInt(nil, n, 10)}
		}
		return plan.Value{Int: n}
	}
	switch {
	case s.n == 0:
		return plan.Value{Null: true}
	case a.plan.Op != "sum":
		return s.least
	case a.plan.T.Kind == edm.Decimal:
		d := s.exact
		return plan.Value{Bytes: []byte(scalar.Plain(&d))}
	case a.plan.T.Kind == edm.Double:
		return plan.Value{Float: s.float, Null: math.IsInf(s.float, 0) || math.IsNaN(s.float)}
	}
	return plan.Value{Int: s.whole}
}
