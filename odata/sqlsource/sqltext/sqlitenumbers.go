package sqltext

import (
	"math"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// numbers compares as IEEE 754 and the promotions have it: decimals digit by digit, and all numbers as doubles beside
// one. What SQLite itself compares right, columns and constants above all, stays as it is.
func (d sqlite) numbers(g *Generator, x, y plan.Expr) (a, b frag, ok bool) {
	switch {
	case floating(x) || floating(y):
		return d.float(g, x, y), d.float(g, y, x), true
	case d.native(g, x) && d.native(g, y):
		return a, b, false
	}
	return fill("ves_sortkey($1)", g.value(x)), fill("ves_sortkey($1)", g.value(y)), true
}

// float is a number to compare with a double.
func (d sqlite) float(g *Generator, e, beside plan.Expr) frag {
	f := g.value(e)
	switch k := e.Type().Kind; {
	case k == edm.Decimal && !d.native(g, e):
		return fill("ves_compute('cast:Double:Decimal', $1)", f)
	case k == edm.Decimal, k.Integer():
		// Below 2^53 integers are doubles, so that the column itself and its index will do.
		if l, isLit := beside.(*plan.Literal); isLit && math.Abs(l.Value.Float) < 1<<53 {
			return f
		}
		return fill("CAST($1 AS REAL)", f)
	}
	return f
}

// native tells whether SQLite compares and orders an exact number right: an integer, or a decimal that it stores as a
// number or that has few enough digits to be a constant.
func (sqlite) native(g *Generator, e plan.Expr) bool {
	if e.Type().Kind != edm.Decimal {
		return true
	}
	switch e := e.(type) {
	case *plan.Ref:
		c := g.columnOf(e)
		return !c.Text && !strings.Contains(c.Type, "char") && !strings.Contains(c.Type, "text")
	case *plan.Literal:
		_, short := nativeDecimal(string(e.Value.Bytes))
		return e.Value.Null || short
	}
	return false
}

// nativeDecimal is a decimal as a real that has the same digits; false where there is none. Integers beyond 2^53 and
// below 2^63 are integers of SQLite.
func nativeDecimal(s string) (float64, bool) {
	if _, err := strconv.ParseInt(s, 10, 64); err == nil {
		return 0, true
	}
	f, _ := strconv.ParseFloat(s, 64)
	shortest, ok := scalar.DecimalOf(f)
	return f, ok && shortest == s
}

// floating reports whether an expression is a double or a single.
func floating(e plan.Expr) bool { return e.Type().Kind.Floating() }

// finite makes null of an infinity that a column holds. SQLite stores no NaN.
func (sqlite) finite(x frag) frag { return fill("NULLIF(NULLIF($1, 9e999), -9e999)", x) }
