package sqltext

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// setName is the column that tells which of the groupings a row is of.
const setName = `"~g"`

// maxGrouping is how many keys GROUPING takes, whose result is an integer of PostgreSQL.
const maxGrouping = 31

// grouping is one of the groupings of a rollup.
type grouping struct {
	// part gives the rows to the union, of what made groups.
	part, made *plan.Part
	from       frag
	keys       []frag
	// values are those of made. counts tells which of them is the number of groups.
	values []frag
	counts []bool
	// mask is what GROUPING gives for its rows: a bit for each key of the finest grouping that is not among its own.
	mask int
	// columns are the places of values among those of the finest grouping.
	columns []int
}

// groupingSets is the statement for a rollup whose groupings differ in nothing but their keys: PostgreSQL makes all of them in
// one pass over the rows, where UNION ALL takes one for each. It is false for parts that are anything else.
func (g *Generator) groupingSets(d *plan.Derived) (frag, bool) {
	if _, ok := g.d.(postgres); !ok || len(d.Parts) < 2 {
		return frag{}, false
	}
	all := make([]*grouping, 0, len(d.Parts))
	for _, p := range d.Parts {
		c := g.groupingOf(p)
		if c == nil {
			return frag{}, false
		}
		if all = append(all, c); !c.rollsUp(all[0]) || slices.ContainsFunc(all[:len(all)-1], func(o *grouping) bool { return o.mask == c.mask }) {
			return frag{}, false
		}
	}
	list := make([]frag, len(d.Columns))
	for i := range d.Columns {
		f, ok := g.ofGroupings(all, i)
		if !ok {
			return frag{}, false
		}
		list[i] = fill("$1 AS "+g.cellName(i), f)
	}
	return fill("SELECT $1 FROM ($2) AS "+alias(all[0].part.Query.Range), join(", ", list...), g.madeTogether(all)), true
}

// groupingOf is nil for a part that does not take the rows of a grouping as they are.
func (g *Generator) groupingOf(p *plan.Part) *grouping {
	q := p.Query
	d := q.Range.Derived
	asTheyAre := len(q.Joins) == 0 && len(q.Computed) == 0 && q.From == nil && q.Key == nil && q.Filter == nil && q.Search == nil && q.Range.Policy == nil
	if p.Grouped || !asTheyAre || d == nil || d.Whole || len(d.Parts) != 1 || !d.Parts[0].Grouped {
		return nil
	}
	c := &grouping{part: p, made: d.Parts[0]}
	if len(c.made.Keys) == 0 || len(c.made.Keys) > maxGrouping {
		return nil
	}
	for _, k := range c.made.Keys {
		key, _ := g.d.group(g, k)
		c.keys = append(c.keys, key)
	}
	c.from = g.from(sharesOfPart(c.made))
	for _, e := range c.made.Values {
		a, ok := e.(*plan.Aggregate)
		counts := ok && a.Over != nil
		if counts && (a.Op != "count" || a.Arg != nil || a.When != nil || len(a.Over.Partition)+len(a.Over.Order) > 0) || !counts && looksAround(e) {
			return nil
		}
		value := g.argument(e)
		if at := slices.IndexFunc(c.made.Keys, func(k plan.Expr) bool { return plan.Same(k, e) }); at >= 0 {
			value = c.keys[at]
		}
		c.values, c.counts = append(c.values, value), append(c.counts, counts)
	}
	return c
}

// looksAround tells whether an expression has the value of a window in it.
func looksAround(e plan.Expr) bool {
	return slices.ContainsFunc(plan.Aggregates(e), func(a *plan.Aggregate) bool { return a.Over != nil })
}

func indexOf(list []frag, f frag) int {
	return slices.IndexFunc(list, func(o frag) bool { return o.sql == f.sql && reflect.DeepEqual(o.args, f.args) })
}

// rollsUp fits a grouping to the finest: it has the same rows, some of its keys, and computes what that one does.
func (c *grouping) rollsUp(finest *grouping) bool {
	if indexOf([]frag{finest.from}, c.from) < 0 {
		return false
	}
	c.mask = 1<<len(finest.keys) - 1
	for _, k := range c.keys {
		at := indexOf(finest.keys, k)
		if at < 0 {
			return false
		}
		c.mask &^= 1 << (len(finest.keys) - 1 - at)
	}
	for _, v := range c.values {
		at := indexOf(finest.values, v)
		if at < 0 {
			return false
		}
		c.columns = append(c.columns, at)
	}
	return true
}

// madeTogether is the statement that makes all groups, with the columns of the finest grouping.
func (g *Generator) madeTogether(all []*grouping) frag {
	finest := all[0]
	which := fill("GROUPING($1)", join(", ", finest.keys...))
	var list, sets []frag
	for i, v := range finest.values {
		if finest.counts[i] {
			v = fill("COUNT(*) OVER (PARTITION BY $1)", which)
		}
		list = append(list, fill("$1 AS "+g.cellName(i), v))
	}
	for _, c := range all {
		sets = append(sets, fill("($1)", join(", ", c.keys...)))
	}
	return fill("SELECT $1, $2 AS "+setName+" $3 GROUP BY GROUPING SETS ($4)", join(", ", list...), which, finest.from, join(", ", sets...))
}

// ofGroupings is a column of the union, which means the same for the rows of all groupings, or is a constant of each.
func (g *Generator) ofGroupings(all []*grouping, column int) (frag, bool) {
	set := text(alias(all[0].part.Query.Range) + "." + setName)
	switch first := all[0].part.Values[column].(type) {
	case *plan.Literal:
		var cases []frag
		for _, c := range all {
			l, ok := c.part.Values[column].(*plan.Literal)
			if !ok {
				return frag{}, false
			}
			cases = append(cases, fill("WHEN "+strconv.Itoa(c.mask)+" THEN $1", g.typedNull(l, first.T)))
		}
		return fill("CASE $1 $2 END", set, join(" ", cases...)), first.T.Kind != edm.Null
	case *plan.Cell:
		if first.Range != all[0].part.Query.Range {
			return frag{}, false
		}
		for _, c := range all {
			if !c.shows(all[0], column, all[0].columns[first.Column]) {
				return frag{}, false
			}
		}
		return g.argument(first), true
	case *plan.Aggregate:
		for _, c := range all {
			if !c.numbers(all[0], column) {
				return frag{}, false
			}
		}
		return fill("ROW_NUMBER() OVER (PARTITION BY $1 ORDER BY $2)", set, g.orders(first.Over.Order)), true
	}
	return frag{}, false
}

// shows tells whether a column of the union is that column of the finest grouping for these rows, too. What they are not
// grouped by is null.
func (c *grouping) shows(finest *grouping, column, of int) bool {
	switch v := c.part.Values[column].(type) {
	case *plan.Cell:
		return v.Range == c.part.Query.Range && c.columns[v.Column] == of
	case *plan.Literal:
		return v.Value.Null && indexOf(finest.keys, finest.values[of]) >= 0 && indexOf(c.keys, finest.values[of]) < 0
	}
	return false
}

// numbers tells whether a column of the union is the number of the row in the order of the finest grouping: what the rows are
// not grouped by is the same for all of them there.
func (c *grouping) numbers(finest *grouping, column int) bool {
	want, ok := finest.orderOf(column)
	got, also := c.orderOf(column)
	kept := slices.DeleteFunc(want, func(at int) bool { return indexOf(c.keys, finest.values[at]) < 0 })
	return ok && also && slices.Equal(kept, got)
}

// orderOf are the columns of the finest grouping by which a column of the union numbers the rows; false where it is anything
// else.
func (c *grouping) orderOf(column int) (columns []int, ok bool) {
	a, ok := c.part.Values[column].(*plan.Aggregate)
	if !ok || a.Op != "row" || len(a.Over.Partition) > 0 {
		return nil, false
	}
	for _, o := range a.Over.Order {
		cell, ok := o.Expr.(*plan.Cell)
		if !ok || o.Desc || cell.Range != c.part.Query.Range {
			return nil, false
		}
		columns = append(columns, c.columns[cell.Column])
	}
	return columns, true
}
