package sqltext

import (
	"slices"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A database writes down the rows that a window goes over, sorts them, and reads them once for each window. With all columns
// of a table that takes several times as long as with its key, so the windows are computed beside the key, and the
// rows are joined by it.

// rankKey returns the key of the rows whose windows a part computes; ok is false if the windows are computed beside all
// columns, since the rows are not those of a table, or the database lets two of them have one key.
func (g *Generator) rankKey(d *plan.Derived, p *plan.Part) (key []frag, ok bool) {
	r := p.Query.Range
	t := g.m.Tables[r.Set]
	windows := slices.ContainsFunc(p.Values, func(e plan.Expr) bool { _, all := ofAll(p, e); return !all })
	if !d.Whole || !windows || p.Grouped || p.Limit != nil || len(p.Aggregates) == 0 || !t.Unique || t.RowID != "" {
		return nil, false
	}
	for _, k := range r.Set.Type.Key {
		c := t.Columns[k]
		if c.Nullable {
			return nil, false
		}
		key = append(key, text(g.col(r, c)))
	}
	return key, true
}

// ofAll returns a value that is computed of nothing but aggregates of all rows of a table, as the value of the one group that
// they are; ok is false for any other expression. A subquery that reads the rows once more costs a database less than a window that it
// writes them down for.
func ofAll(p *plan.Part, e plan.Expr) (value plan.Expr, ok bool) {
	if p.Grouped || p.Query.Range.Derived != nil {
		return nil, false
	}
	switch e := e.(type) {
	case *plan.Aggregate:
		if e.Op == "row" || e.Over == nil || len(e.Over.Partition)+len(e.Over.Order) > 0 {
			return nil, false
		}
		grouped := *e
		grouped.Over = nil
		return &grouped, true
	case *plan.Call:
		call, some := *e, false
		call.Args = slices.Clone(e.Args)
		for i, a := range e.Args {
			if _, constant := a.(*plan.Literal); constant {
				continue
			}
			if call.Args[i], ok = ofAll(p, a); !ok {
				return nil, false
			}
			some = true
		}
		return &call, some
	}
	return nil, false
}

// keyName is the name of a column of the key beside windows. No column of a table is called so.
func (g *Generator) keyName(i int) string { return g.d.quote("~k" + strconv.Itoa(i)) }

// withRanks returns the rows of the table that a part goes over, each with the values that ranked has beside its key.
func (g *Generator) withRanks(p *plan.Part, key []frag, ranked frag) frag {
	r := p.Query.Range
	w := "w" + alias(r)
	on := make([]frag, len(key))
	for i, k := range key {
		on[i] = fill(w+"."+g.keyName(i)+" = $1", k)
	}
	list := g.storedColumns(r)
	for i := range p.Values {
		list = append(list, text(w+"."+g.cellName(i)+" AS "+g.cellName(i)))
	}
	return fill("SELECT $1 FROM "+g.table(g.m.Tables[r.Set].Name)+" AS "+alias(r)+" JOIN ($2) AS "+w+" ON $3", join(", ", list...), ranked, joinFrags(on))
}
