package sqltext

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// wouldBe is a derived table of the one row that a change would leave.
type wouldBe struct {
	of   *plan.Range
	rows frag
}

// WouldBe returns the node and the statement that read the conditions of Change.After over the row that a change would leave, where the
// database refuses it: first Filter, if there is one, then Links, and a further column. There is no row where the row policy does not hold. The statement
// fails where a condition is over a column whose value the database gives, or that lacks one.
func (g *Generator) WouldBe(c *write.Change) (*plan.Node, Statement) {
	check, q := c.After, c.After.Plan.Top.Query
	n := &plan.Node{Set: c.Set, Query: &plan.Query{Range: q.Range, Joins: q.Joins, Counts: q.Counts}}
	for _, column := range slices.Concat(filterOf(check), check.Links) {
		n.Columns = append(n.Columns, check.Plan.Top.Columns[column])
	}
	row := &Generator{d: g.d, m: g.m, row: &wouldBe{q.Range, g.rowOf(c)}}
	return n, row.finish(fill("SELECT $1 $2 LIMIT 1", plain(row.list(n, []frag{text("1")})), row.from(n.Query)))
}

func filterOf(check *write.Check) []int {
	if check.Filter < 0 {
		return nil
	}
	return []int{check.Filter}
}

// rowOf is a derived table of the row that a change would leave.
func (g *Generator) rowOf(c *write.Change) frag {
	r := c.After.Range()
	given := map[*Column]frag{}
	for i := range c.Values {
		if value, ok := g.stored(r, &c.Values[i]); ok {
			given[g.ColumnOf(c.Set, c.Values[i].Path)] = value
		}
	}
	var list []frag
	var add func(columns map[*edm.Property]*Column)
	add = func(columns map[*edm.Property]*Column) {
		for _, column := range columns {
			name := g.d.quote(column.Name)
			value, ok := given[column]
			switch {
			case column.Sub != nil:
				add(column.Sub)
				continue
			case ok && column.Declared != "": // of PostgreSQL, where a parameter alone has no type
				value = fill("($1)::"+column.Declared, value)
			case ok:
			case c.Kind == write.Update && !column.Given:
				value = text("own." + name)
			case column.Given, column.Standard == "" && !column.Nullable: // or nobody has given one
				continue
			case column.Standard == "":
				value = text("NULL")
			default:
				value = text("(" + column.Standard + ")")
			}
			list = append(list, fill("$1 AS "+name, value))
		}
	}
	add(g.m.Tables[c.Set].Columns)
	if c.Kind != write.Update {
		return fill("(SELECT $1)", join(", ", list...))
	}
	var own []frag
	for i, p := range c.Set.Type.Key {
		value, _ := g.stored(r, &write.Assignment{Path: []*edm.Property{p}, Value: c.Key[i]})
		own = append(own, fill("own."+g.d.quote(g.m.Tables[c.Set].Columns[p].Name)+" = $1", value))
	}
	return fill("(SELECT $1 FROM $2 AS own WHERE $3)", join(", ", list...), text(g.table(g.m.Tables[c.Set].Name)), joinFrags(own))
}
