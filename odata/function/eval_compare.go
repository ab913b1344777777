package function

import (
	"bytes"
	"cmp"
	"math"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// evalCompare is eq, ne, gt, ge, lt and le, which are true or false also of null. OData-URL 5.1.1.1.1 to 5.1.1.1.6
func evalCompare(c *plan.Call, args []plan.Value) (plan.Value, error) {
	return boolValue(holds(c.Name, kind(c, 0), kind(c, 1), args[0], args[1]))
}

// evalIn tells whether the first value equals one of the others. OData-URL 5.1.1.1.11
func evalIn(c *plan.Call, args []plan.Value) (plan.Value, error) {
	for i := 1; i < len(args); i++ {
		if holds("eq", kind(c, 0), kind(c, i), args[0], args[i]) {
			return boolValue(true)
		}
	}
	return boolValue(false)
}

// evalHas tells whether all flags of the second value are set in the first. OData-URL 5.1.1.1.10
func evalHas(_ *plan.Call, args []plan.Value) (plan.Value, error) {
	return boolValue(args[0].Int&args[1].Int == args[1].Int)
}

func holds(op string, a, b edm.Kind, x, y plan.Value) bool {
	if x.Null || y.Null {
		return op == "eq" && x.Null && y.Null || op == "ne" && x.Null != y.Null
	}
	if isNaN(a, x) || isNaN(b, y) {
		return op == "ne"
	}
	n := Compare(a, b, x, y)
	switch op {
	case "eq":
		return n == 0
	case "ne":
		return n != 0
	case "gt":
		return n > 0
	case "ge":
		return n >= 0
	case "lt":
		return n < 0
	}
	return n <= 0
}

func isNaN(k edm.Kind, v plan.Value) bool {
	return k.Floating() && math.IsNaN(v.Float)
}

// Compare orders two values of kinds that a comparison takes: numbers by the kind that both are promoted to, text by
// code point, false before true. Null comes before everything else, and NaN behind all other numbers.
func Compare(a, b edm.Kind, x, y plan.Value) int {
	switch {
	case x.Null || y.Null:
		return cmp.Compare(flag(!x.Null), flag(!y.Null))
	case a.Numeric() && b.Numeric():
		return compareNumbers(a, b, x, y)
	case a == edm.Boolean || a == edm.Enum:
		return cmp.Compare(x.Int, y.Int)
	case a == edm.DateTimeOffset: // without the Z at the end the texts are in the order of time
		return bytes.Compare(bytes.TrimSuffix(x.Bytes, []byte("Z")), bytes.TrimSuffix(y.Bytes, []byte("Z")))
	case a == edm.Duration:
		return seconds(x).Cmp(seconds(y))
	}
	return bytes.Compare(x.Bytes, y.Bytes)
}

// compareNumbers promotes as arithmetic does. OData-URL 5.1.1.18
func compareNumbers(a, b edm.Kind, x, y plan.Value) int {
	switch {
	case a.Integer() && b.Integer():
		return cmp.Compare(x.Int, y.Int)
	case a.Floating() || b.Floating():
		f, g := asFloat(a, x), asFloat(b, y)
		if math.IsNaN(f) || math.IsNaN(g) {
			return cmp.Compare(flag(math.IsNaN(f)), flag(math.IsNaN(g)))
		}
		return cmp.Compare(f, g)
	}
	d, okX := asDecimal(a, x)
	e, okY := asDecimal(b, y)
	if !okX || !okY {
		return cmp.Compare(flag(okX), flag(okY))
	}
	return d.Cmp(e)
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// evalAnd is and. OData-URL 5.1.1.1.7
func evalAnd(_ *plan.Call, args []plan.Value) (plan.Value, error) { return decided(args, 0) }

// evalOr is or. OData-URL 5.1.1.1.8
func evalOr(_ *plan.Call, args []plan.Value) (plan.Value, error) { return decided(args, 1) }

// decided is the value that one argument alone decides on, else null when there is one, else the other value.
func decided(args []plan.Value, by int64) (plan.Value, error) {
	null := false
	for _, v := range args {
		if !v.Null && v.Int == by {
			return intValue(by)
		}
		null = null || v.Null
	}
	return plan.Value{Null: null, Int: 1 - by}, nil
}

// evalNot is not. OData-URL 5.1.1.1.9
func evalNot(_ *plan.Call, args []plan.Value) (plan.Value, error) {
	return plan.Value{Null: args[0].Null, Int: 1 - args[0].Int}, nil
}
