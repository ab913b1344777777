package odatatest_test

import (
	"math"
	"os"
	"sync/atomic"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// TestMain puts an observer before the reference implementations, so that the differential test can tell what a request
// met on its way. The observer changes no result.
func TestMain(m *testing.M) {
	for _, f := range function.All() {
		if eval := f.Eval; eval != nil {
			f.Eval = func(c *plan.Call, args []plan.Value) (plan.Value, error) {
				v, err := eval(c, args)
				observe(c, args, v)
				return v, err
			}
		}
	}
	os.Exit(m.Run())
}

// event is something that happens while an expression is computed, and that databases are known to do otherwise.
type event uint64

const (
	// notFinite: a double is divided by zero, or a result is infinite.
	notFinite event = 1 << iota
	// wholeAsDouble: an integer that is no double is compared with one.
	wholeAsDouble
	// single: there is a value of Edm.Single.
	single
	// doubleText: a double becomes text, or a decimal.
	doubleText
)

// observed is what has happened since it was cleared. The differential test alone reads it, and runs while no other does;
// others write it side by side.
var observed atomic.Uint64

func meet(e event) { observed.Or(uint64(e)) }

func observe(c *plan.Call, args []plan.Value, v plan.Value) {
	see(c.T.Kind, v)
	for i, a := range args {
		k := c.Args[i].Type().Kind
		see(k, a)
		if (k == edm.Double || k == edm.Single) && c.Name == "cast" && (c.T.Kind == edm.String || c.T.Kind == edm.Decimal) {
			meet(doubleText)
		}
	}
	if len(args) > 1 && c.Args[0].Type().Kind != c.Args[1].Type().Kind && c.T.Kind == edm.Boolean && (wide(c, 0, args) || wide(c, 1, args)) {
		meet(wholeAsDouble)
	}
}

// wide tells whether an argument is an integer with more bits than the digits of a double have.
func wide(c *plan.Call, i int, args []plan.Value) bool {
	return c.Args[i].Type().Kind.Integer() && (args[i].Int > 1<<53 || args[i].Int < -1<<53)
}

// see looks at a value.
func see(k edm.Kind, v plan.Value) {
	switch {
	case v.Null:
	case k == edm.Double || k == edm.Single:
		if k == edm.Single {
			meet(single)
		}
		if math.IsInf(v.Float, 0) || math.IsNaN(v.Float) {
			meet(notFinite)
		}
	}
}
