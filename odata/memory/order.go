package memory

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// order is an item of an order.
type order struct {
	value value
	kind  edm.Kind
	desc  bool
}

func (c *compiler) orders(list []plan.Order) []order {
	out := make([]order, len(list))
	for i, o := range list {
		out[i] = order{c.expr(o.Expr), o.Expr.Type().Kind, o.Desc}
	}
	return out
}

// sorted is a row with the values that it is ordered by.
type sorted struct {
	row  row
	keys []plan.Value
}

// keys are the values that the current row is ordered by.
func keys(e *env, list []order) []plan.Value {
	out := make([]plan.Value, len(list))
	for i, o := range list {
		out[i] = o.value(e)
	}
	return out
}

// sortRows orders rows: null is the smallest value. Rows with the same values stay as they were.
func sortRows(rows []sorted, list []order) {
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b sorted) int {
		for i, o := range list {
			n := function.Compare(o.kind, o.kind, a.keys[i], b.keys[i])
			if o.desc {
				n = -n
			}
			if n != 0 {
				return n
			}
		}
		return 0
	})
}
