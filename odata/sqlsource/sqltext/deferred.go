package sqltext

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A deep page costs what is skipped: the database reads each of those rows, only to count it. Where an index has all that
// the order, the filter and the row policy need, it is enough to skip its entries, and to fetch the rows of the page by
// key afterwards: a deferred join. The answer is that of OFFSET, since no two rows have one key.

// deep is how many rows must be skipped for a deferred join to pay, unless the Mapping says otherwise.
const deep = 1000

// codePoints is what PostgreSQL orders text by that is not in that order already.
const codePoints = ` COLLATE "C"`

// deferrable tells whether an index has all that decides on the rows of a page, in their order.
func (g *Generator) deferrable(n *plan.Node) bool {
	t := g.m.Tables[n.Set]
	if n.Query.Range.Derived != nil {
		return false
	}
	if !n.Many || !t.Unique || len(n.Query.Order) == 0 {
		return false
	}
	columns, ok := g.decides(n.Query)
	if !ok {
		return false
	}
	needed := namesOf(columns)
	for _, p := range n.Set.Type.Key {
		needed = append(needed, t.Columns[p].Name)
	}
	fixed := g.fixed(n.Query)
	return slices.ContainsFunc(t.Ordered, func(ix Index) bool {
		return ix.holds(needed) && g.ordered(n.Query.Order, ix, fixed)
	})
}

// decides lists the columns that decide which rows a query has and in which order; ok is false where more than columns
// of its own range does.
func (g *Generator) decides(q *plan.Query) (columns []*Column, ok bool) {
	if q.Range.Derived != nil || len(q.Joins) > 0 || slices.ContainsFunc(q.Counts, g.joinsCount) || q.From != nil || q.Range.Nav != nil || q.Search != nil {
		return nil, false
	}
	ok = true
	for _, e := range append(orderExprs(q.Order), q.Key, q.Filter, q.Range.Policy) {
		plan.Walk(e, func(e plan.Expr) bool {
			switch e := e.(type) {
			case *plan.Ref:
				ok = ok && e.Range == q.Range
				if ok {
					columns = append(columns, g.columnOf(e))
				}
			case *plan.Sub, *plan.Computed:
				ok = false
			}
			return ok
		})
	}
	return columns, ok
}

func namesOf(columns []*Column) (names []string) {
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}

// holds tells whether all columns are in the index.
func (ix Index) holds(columns []string) bool {
	for _, name := range columns {
		if !slices.Contains(ix.Included, name) && !slices.ContainsFunc(ix.Columns, func(c IndexColumn) bool { return c.Name == name }) {
			return false
		}
	}
	return true
}

// fixed are the columns that the filter or the policy compares with one value, which stands for their order. Text does
// not count: an index may have another idea of what is equal.
func (g *Generator) fixed(q *plan.Query) (columns []string) {
	for _, e := range append(conjunction(q.Filter), conjunction(q.Range.Policy)...) {
		call, ok := e.(*plan.Call)
		if !ok || call.Name != "eq" {
			continue
		}
		for i, a := range call.Args {
			ref, isRef := a.(*plan.Ref)
			l, isLit := call.Args[1-i].(*plan.Literal)
			if isRef && isLit && !l.Value.Null && ref.T.Kind != edm.String && g.comparesStored(ref) {
				columns = append(columns, g.columnOf(ref).Name)
			}
		}
	}
	return columns
}

// comparesStored reports whether a column is compared with constants as it is stored.
func (g *Generator) comparesStored(ref *plan.Ref) bool {
	_, unbounded := g.unbounded(ref)
	return unbounded || mysqlZero(g.columnOf(ref), ref.T) != "" || g.raw(ref).sql == g.value(ref).sql
}

// ordered tells whether an index, read forwards or backwards, has the rows in an order. A fixed column in front does not
// matter.
func (g *Generator) ordered(order []plan.Order, ix Index, fixed []string) bool {
	columns := ix.Columns
	for len(columns) > 0 && slices.Contains(fixed, columns[0].Name) {
		columns = columns[1:]
	}
	if len(order) > len(columns) {
		return false
	}
	backwards := order[0].Desc != columns[0].Desc
	for i, o := range order {
		ref, ok := o.Expr.(*plan.Ref)
		if !ok {
			return false
		}
		c, value := columns[i], g.raw(ref).sql
		if c.CodePoints {
			value += codePoints
		}
		first := g.d.nullsFirst(o.Desc, g.ordersNull(ref, g.pageKey(ref)))
		if c.Name != g.columnOf(ref).Name || value != g.pageKey(ref).sql || o.Desc != (c.Desc != backwards) || first != (c.NullsFirst != backwards) {
			return false
		}
	}
	return true
}

// deferred is the statement for a deep page: the keys of its rows by the index alone, and then the rows.
func (p *Page) deferred(list, guard frag, read, skip int64) Statement {
	if p.span != nil {
		return p.bySpan(list, guard, read, skip)
	}
	return p.byKeys(list, guard, p.order, read, skip)
}

// backwards is like deferred, and skips from the last row on.
func (p *Page) backwards(list, guard frag, read, skip int64) Statement {
	var order []frag
	for _, it := range p.items {
		order = append(order, p.g.d.order(it.value, !it.desc, it.nullable))
	}
	return p.byKeys(list, guard, join(", ", order...), read, skip)
}

// byKeys finds the rows in an order, and gives them in that of the page.
func (p *Page) byKeys(list, guard, order frag, read, skip int64) Statement {
	g, inner, outer := p.g, *p.query, *p.query
	inner.Computed, outer.Filter = nil, nil
	t := g.m.Tables[inner.Range.Set]
	var keys, on []frag
	for _, k := range inner.Range.Set.Type.Key {
		column := g.col(inner.Range, t.Columns[k])
		keys = append(keys, text(column))
		on = append(on, text("d."+g.d.quote(t.Columns[k].Name)+" = "+column))
	}
	found := join(" ", text("SELECT"), join(", ", keys...), fill("$1$2", g.from(&inner), guard), text("ORDER BY"), order, g.limit(read, skip))
	from := g.fromWhere(&outer, source{via: fill("($1) AS d", found), on: joinFrags(on)})
	return g.finish(join(" ", text("SELECT"), list, from, text("ORDER BY"), p.order))
}
