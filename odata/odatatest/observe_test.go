package odatatest_test

import (
	"os"
	"strings"
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
				observe(c, args, v, err)
				return v, err
			}
		}
	}
	os.Exit(m.Run())
}

// event is something that happens while an expression is computed, and that databases are known to do otherwise.
type event uint64

// manyDigits: a decimal is too large for its type, or has more than 35 digits before the point.
const manyDigits event = 1

// observed is what has happened since it was cleared. The differential test alone reads it, and runs while no other does;
// others write it side by side.
var observed atomic.Uint64

func meet(e event) { observed.Or(uint64(e)) }

func observe(c *plan.Call, args []plan.Value, v plan.Value, err error) {
	if c.T.Kind == edm.Decimal && (err != nil || large(v)) {
		meet(manyDigits)
	}
	for i, a := range args {
		if c.Args[i].Type().Kind == edm.Decimal && large(a) {
			meet(manyDigits)
		}
	}
}

func large(v plan.Value) bool {
	whole, _, _ := strings.Cut(string(v.Bytes), ".")
	return !v.Null && len(strings.TrimPrefix(whole, "-")) > 35
}
