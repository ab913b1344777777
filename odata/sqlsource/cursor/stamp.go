package cursor

import (
	"context"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/seekcache"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// totalOf is the shape of the number of all rows of a page's query.
func totalOf(page *sqltext.Page) string { return "count\x00" + page.Shape }

// known is what is remembered about a plan: the stamp under which it was found, a place, and the total if it is due.
type known struct {
	stamp string
	at    seekcache.Mark
	total int64
	// last is how many rows come behind the ones to skip, where that is the shorter way; 0 where it is not, or not known.
	last int64
	// empty tells that nothing is left to read.
	empty bool
}

// remembered looks for something that makes a plan cheaper.
func (o *Reader) remembered(p *plan.Plan, page *sqltext.Page) (k known, ok bool) {
	n, total := p.Top, totalOf(page)
	shape, counted := page.Shape, n.Count || p.Kind == plan.RawCount
	if counted {
		shape = total
	}
	if k.stamp = o.Marks.Version(shape); k.stamp == "" && !counted {
		k.stamp = o.Marks.Version(total)
	}
	if k.stamp == "" {
		return k, false
	}
	if page.Key != nil {
		k.at, _ = o.Marks.Before(page.Shape, k.stamp, n.Page.Skip)
	}
	all, told := o.Marks.Count(total, k.stamp)
	if last := all - n.Page.Skip; told && p.Kind != plan.RawCount && last < n.Page.Skip-k.at.Skip && page.FromEnd(n.Page.Skip, last) {
		k.last, k.at = last, seekcache.Mark{}
	}
	if !counted {
		return k, k.at.Skip > 0 || k.last > 0
	}
	k.total = all
	k.empty = p.Kind == plan.RawCount || n.Page.Read == 0 || n.Page.Skip >= k.total
	return k, told
}

// resume opens the rows of a plan from what is remembered, with one statement, which has no row if the data was changed
// since. Then the result is nil, and the plan is carried out as if nothing was known.
func (o *Reader) resume(ctx context.Context, p *plan.Plan, page *sqltext.Page) (*rows, error) {
	k, ok := o.remembered(p, page)
	if !ok {
		return nil, nil
	}
	need := engine.Need{Snapshot: len(p.Top.Expand) > 0, Rows: p.Top.Page.Read}
	return o.begin(ctx, p, page, need, func(r *rows) (bool, error) {
		r.version, r.stamps, r.count = k.stamp, true, k.total
		return r.still(k)
	})
}

// still reads up to the first row, and tells whether the data is as it was.
func (r *rows) still(k known) (bool, error) {
	if k.empty {
		n, err := r.one(r.page.Still(k.stamp))
		return n == 1, err
	}
	s := r.page.Guarded(k.stamp, r.read(), r.node.Page.Skip-k.at.Skip, k.at.Key, k.last)
	err := r.run(s, max(r.page.Width, 1))
	return r.ahead, err
}

// countStamped gives the number of rows of a node and remembers it.
func (r *rows) countStamped(shape string) (int64, error) {
	var n int64
	var stamp string
	err := r.first(r.page.StampedCount(), 2, func(cells []engine.Cell) { n, stamp = cells[0].Int, string(cells[1].Bytes) })
	if err != nil {
		return 0, fmt.Errorf("count: %w", err)
	}
	r.version = stamp
	r.reader.Marks.SetCount(shape, stamp, n)
	return n, nil
}

// plainTimes tells whether the dates and instants of a key are in the years 1 to 9999: others are written in a way that
// the database does not read.
func (r *rows) plainTimes(key []any) bool {
	for i, v := range key {
		text, ok := v.(string)
		kind := r.node.Query.Order[i].Expr.Type().Kind
		if !ok || kind != edm.Date && kind != edm.DateTimeOffset {
			continue
		}
		if len(text) < 5 || text[4] != '-' || text[:4] == "0000" {
			return false
		}
	}
	return true
}
