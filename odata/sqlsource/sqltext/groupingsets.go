package sqltext

import (
	"slices"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// setName is the column that holds the grouping that a row belongs to, as GROUPING returns it.
const setName = `"~g"`

// maxGrouping is how many keys GROUPING takes: its result is an integer of PostgreSQL.
const maxGrouping = 31

// groupingSets is the statement for the groupings of a rollup. PostgreSQL makes all of them in one pass over the rows, where
// UNION ALL takes one for each. It is false for all else.
func (g *Generator) groupingSets(d *plan.Derived) (frag, bool) {
	if _, ok := g.d.(postgres); !ok || d.Sets == nil || len(d.Parts[0].Query.Range.Derived.Parts[0].Keys) > maxGrouping {
		return frag{}, false
	}
	rows := alias(d.Parts[0].Query.Range)
	set := text(rows + "." + setName)
	list := make([]frag, len(d.Columns))
	for i, e := range d.Parts[0].Values {
		var value frag
		switch e := e.(type) {
		case *plan.Literal: // a constant of each grouping
			cases := make([]frag, len(d.Parts))
			for n, p := range d.Parts {
				cases[n] = fill("WHEN "+strconv.Itoa(d.Sets[n])+" THEN $1", g.typedNull(p.Values[i], d.Columns[i].T))
			}
			value = fill("CASE $1 $2 END", set, join(" ", cases...))
		case *plan.Aggregate: // the number of the row in its grouping
			value = fill("ROW_NUMBER() OVER (PARTITION BY $1 ORDER BY $2)", set, g.orders(e.Over.Order))
		default:
			value = g.argument(e)
		}
		list[i] = fill("$1 AS "+g.cellName(i), value)
	}
	return fill("SELECT $1 FROM ($2) AS "+rows, join(", ", list...), g.madeTogether(d)), true
}

// madeTogether is the statement that makes the groups of all groupings, with the columns of the finest: a key that a
// grouping does not have is null.
func (g *Generator) madeTogether(d *plan.Derived) frag {
	finest := d.Parts[0].Query.Range.Derived.Parts[0]
	sets := make([]frag, len(d.Parts))
	var keys []frag
	for i, p := range d.Parts {
		var of []frag
		for _, k := range p.Query.Range.Derived.Parts[0].Keys {
			key, _ := g.d.group(g, k)
			of = append(of, key)
		}
		if sets[i] = fill("($1)", join(", ", of...)); i == 0 {
			keys = of
		}
	}
	which := fill("GROUPING($1)", join(", ", keys...))
	list := make([]frag, len(finest.Values))
	for i, e := range finest.Values {
		value := g.argument(e)
		if at := slices.IndexFunc(finest.Keys, func(k plan.Expr) bool { return plan.Same(k, e) }); at >= 0 {
			value = keys[at]
		} else if a, ok := e.(*plan.Aggregate); ok && a.Over != nil { // the number of groups
			value = fill("COUNT(*) OVER (PARTITION BY $1)", which)
		}
		list[i] = fill("$1 AS "+g.cellName(i), value)
	}
	return fill("SELECT $1, $2 AS "+setName+" $3 GROUP BY GROUPING SETS ($4)", join(", ", list...), which, g.from(sharesOfPart(finest)), join(", ", sets...))
}
