package bind

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// page decides on the page of a collection. Nested collections multiply, so pages whose size is the service's become as
// small as it takes for the rows along a path to stay within the limit; their next links lead to the rest. Where clients
// name the sizes, the request is refused.
func (b *binding) page(n *plan.Node, q *syntax.Query) error {
	limits := b.Limits
	if q.Top == nil {
		others := product(b.along, topsBelow(n.Set.Type, q, b.Limits.ExpandDepth))
		room := max(limits.Rows/others, 1)
		if others > 1 && (limits.MaxPageSize == 0 || room < limits.MaxPageSize) {
			limits.MaxPageSize = room
		}
	} else {
		b.explicit++
		b.tops = product(b.tops, *q.Top)
		if b.explicit > 1 && b.tops > limits.Rows {
			return plan.Exceeded(optionPos(q, "$top"), "rows", limits.Rows, "the $top of nested collections multiply to "+decimal(b.tops)+" rows")
		}
	}
	n.Page = plan.Paginate(plan.Window{Top: q.Top, Skip: q.Skip, Prefer: b.Prefer}, limits)
	b.along = product(b.along, n.Page.Rows)
	return nil
}

// within binds what is nested in a collection and takes back what it multiplied.
func (b *binding) within(bind func() error) error {
	along, tops, explicit := b.along, b.tops, b.explicit
	err := bind()
	b.along, b.tops, b.explicit = along, tops, explicit
	return err
}

// topsBelow is the largest number that the $top along one path of nested collections multiply to.
func topsBelow(t *edm.EntityType, q *syntax.Query, depth int) int64 {
	most := int64(1)
	if depth <= 0 {
		return most
	}
	for i := range q.Expand {
		item := &q.Expand[i]
		o := item.Options
		if o == nil || item.Count {
			continue
		}
		rows, below := int64(1), t
		if !item.Star {
			nav := t.Nav(item.Path[len(item.Path)-1].Name)
			if nav == nil {
				continue
			}
			below = nav.Target.Type
		}
		if o.Top != nil {
			rows = *o.Top
		}
		levels := int64(1)
		if o.Levels != 0 {
			levels = min(o.Levels, int64(depth), maxLevels)
			if o.Levels == syntax.LevelsMax {
				levels = min(int64(depth), maxLevels)
			}
		}
		nested := topsBelow(below, o, depth-1)
		for range levels {
			nested = product(nested, rows)
		}
		most = max(most, nested)
	}
	return most
}

// product saturates, and counts no rows as one.
func product(a, b int64) int64 {
	a, b = max(a, 1), max(b, 1)
	if a > plan.NoLimit/b {
		return plan.NoLimit
	}
	return a * b
}
