package function

import (
	"math/big"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// MayLeave tells whether the result of a call may leave the range of its type within a row, and then is null: unless its
// arguments are known to be too small for that.
func MayLeave(c *plan.Call) bool {
	if f := Lookup(c.Name); f == nil || f.Range != Fails {
		return false
	}
	switch c.T.Kind {
	case edm.Int64:
		return !intervalOf(c).within(wholeInterval())
	case edm.Duration:
		number := func(i int) bool { k := kind(c, i); return k.Numeric() && !k.Integer() }
		return number(0) || number(1) || !intervalOf(c).within(wholeInterval())
	case edm.Date, edm.DateTimeOffset, edm.Double, edm.Single:
		return true
	case edm.Decimal:
		return mayLeaveDigits(c)
	}
	return false
}

// interval is where the values of an integer lie, or the microseconds of a duration.
type interval struct{ lo, hi *big.Int }

func (x interval) within(y interval) bool { return x.lo.Cmp(y.lo) >= 0 && x.hi.Cmp(y.hi) <= 0 }

func (x interval) has(n int64) bool {
	return x.lo.Cmp(big.NewInt(n)) <= 0 && x.hi.Cmp(big.NewInt(n)) >= 0
}

func between64(lo, hi int64) interval { return interval{big.NewInt(lo), big.NewInt(hi)} }

// wholeInterval are the 64 bits.
func wholeInterval() interval { return between64(edm.Int64.Bounds()) }

// spanOfYears is longer than the time between two dates, in microseconds.
const spanOfYears = 10_000 * 366 * 86_400_000_000

// intervalOf is where the values of an expression lie before they are held to the range of their type; the 64 bits where
// nothing more is known.
func intervalOf(e plan.Expr) interval {
	switch e := e.(type) {
	case *plan.Literal:
		if e.Value.Null {
			return between64(0, 0)
		}
		if n, ok := wholeOf(e); ok {
			return between64(n, n)
		}
	case *plan.Ref:
		if e.T.Kind.Integer() && e.T.Kind != edm.Int64 {
			return between64(e.T.Kind.Bounds())
		}
	case *plan.Computed:
		if !e.Shared { // those build a graph, which is larger as a tree
			return intervalOfResult(e.Expr)
		}
	case *plan.Call:
		return intervalOfCall(e)
	}
	return wholeInterval()
}

// wholeOf is an integer, or the microseconds of a duration; false for other constants.
func wholeOf(l *plan.Literal) (int64, bool) {
	if l.T.Kind == edm.Duration {
		return scalar.Micros(string(l.Value.Bytes))
	}
	return l.Value.Int, l.T.Kind.Integer()
}

// intervalOfResult is where the values lie that others see.
func intervalOfResult(e plan.Expr) interval {
	if x := intervalOf(e); x.within(wholeInterval()) {
		return x
	}
	return wholeInterval()
}

func intervalOfCall(c *plan.Call) interval {
	switch c.Name {
	case "length", "indexof", "year", "month", "day", "hour", "minute", "second", "totaloffsetminutes":
		return between64(-1, 1<<32)
	case "cast":
		if c.T.Kind.Integer() {
			return between64(c.T.Kind.Bounds())
		}
	case "negate", "add", "sub", "mul":
		if !kind(c, 0).Integer() && kind(c, 0) != edm.Duration || len(c.Args) == 2 && !kind(c, 1).Integer() && kind(c, 1) != edm.Duration {
			break
		}
		return computed(c)
	case "div", "mod":
		if kind(c, 0).Integer() && kind(c, 1).Integer() {
			return quotients(c)
		}
	}
	if k := kind(c, 0); c.Name == "sub" && c.T.Kind == edm.Duration && k != edm.Duration {
		return between64(-spanOfYears, spanOfYears)
	}
	return wholeInterval()
}

// computed is where the results of an operator lie that gives its extremes for extremes.
func computed(c *plan.Call) interval {
	x := intervalOfResult(c.Args[0])
	if c.Name == "negate" {
		return interval{new(big.Int).Neg(x.hi), new(big.Int).Neg(x.lo)}
	}
	y := intervalOfResult(c.Args[1])
	var out interval
	for _, a := range []*big.Int{x.lo, x.hi} {
		for _, b := range []*big.Int{y.lo, y.hi} {
			n := new(big.Int)
			switch c.Name {
			case "add":
				n.Add(a, b)
			case "sub":
				n.Sub(a, b)
			default:
				n.Mul(a, b)
			}
			if out.lo == nil || n.Cmp(out.lo) < 0 {
				out.lo = n
			}
			if out.hi == nil || n.Cmp(out.hi) > 0 {
				out.hi = n
			}
		}
	}
	return out
}

// quotients is where the results of div and mod lie: no further from zero than the first argument, on both sides of it.
// Only the smallest integer divided by -1 leaves the 64 bits.
func quotients(c *plan.Call) interval {
	x, y := intervalOfResult(c.Args[0]), intervalOfResult(c.Args[1])
	lo, _ := edm.Int64.Bounds()
	if c.Name == "mod" || !x.has(lo) || !y.has(-1) {
		most := new(big.Int).Abs(x.lo)
		if a := new(big.Int).Abs(x.hi); a.Cmp(most) > 0 {
			most = a
		}
		out := interval{new(big.Int).Neg(most), most}
		if !out.within(wholeInterval()) {
			return wholeInterval()
		}
		return out
	}
	return interval{big.NewInt(lo), new(big.Int).Neg(big.NewInt(lo))}
}
