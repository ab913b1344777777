package sqltext

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// The statements below take the keys of a link from the rows at both ends, so that the table in between holds what its columns are
// compared with.

// Linked is the statement that looks for the link of a change.
func (g *Generator) Linked(c *write.Change) Statement {
	return g.finish(fill("SELECT 1 FROM "+g.table(g.m.Links[c.Nav].Via)+" AS v WHERE $1 LIMIT 1", g.sameLink(c)))
}

// AddLink is the statement that adds the link of a change. On PostgreSQL it adds nothing, and does not fail, if a unique index
// of the table in between has another row.
func (g *Generator) AddLink(c *write.Change) Statement {
	link := g.m.Links[c.Nav]
	columns, keys := make([]frag, 0, 2), make([]frag, 0, 2)
	for i := range link.From {
		columns, keys = append(columns, text(g.d.quote(link.ViaFrom[i].Name))), append(keys, g.keyOf(c.Before.Plan.At(c.Key), link.From[i]))
	}
	for i := range link.To {
		columns, keys = append(columns, text(g.d.quote(link.ViaTo[i].Name))), append(keys, g.keyOf(c.After.Plan.At(c.Other), link.To[i]))
	}
	f := fill("INSERT INTO "+g.table(link.Via)+" ($1) VALUES ($2)", join(", ", columns...), join(", ", keys...))
	if _, ok := g.d.(postgres); ok { // which would refuse every statement behind the failed one
		f.sql += " ON CONFLICT DO NOTHING"
	}
	return g.finish(f)
}

// RemoveLink is the statement that removes the link of a change.
func (g *Generator) RemoveLink(c *write.Change) Statement {
	of := ""
	if _, ok := g.d.(mysql); ok {
		of = "v "
	}
	return g.finish(fill("DELETE "+of+"FROM "+g.table(g.m.Links[c.Nav].Via)+" AS v WHERE $1", g.sameLink(c)))
}

// sameLink is the condition that a row of the table in between, v, is the link of a change. It compares as navigation does.
func (g *Generator) sameLink(c *write.Change) frag {
	link := g.m.Links[c.Nav]
	var conds []frag
	add := func(p *plan.Plan, ends, vias []*Column) {
		for i, end := range ends {
			via := text("v." + g.d.quote(vias[i].Name))
			conds = append(conds, linked(via, g.d.meet(g.keyOf(p, end), end, vias[i]), g.exactPair(end, vias[i])))
		}
	}
	add(c.Before.Plan.At(c.Key), link.From, link.ViaFrom)
	add(c.After.Plan.At(c.Other), link.To, link.ViaTo)
	return joinFrags(conds)
}

// keyOf is a column of the row that a plan names.
func (g *Generator) keyOf(p *plan.Plan, column *Column) frag {
	q := p.Top.Query
	return fill("(SELECT "+g.col(q.Range, column)+" FROM $1 AS "+alias(q.Range)+" WHERE $2)", g.source(q.Range), g.condition(q.Key, true))
}

// Between returns the table in between of a navigation property, for messages.
func (g *Generator) Between(nav *edm.Navigation) []string { return g.m.Links[nav].Via }

// NoLink is a statement of a verb, INSERT or DELETE, that changes no row of a table in between.
func (g *Generator) NoLink(nav *edm.Navigation, verb string) string {
	link := g.m.Links[nav]
	table := g.table(link.Via)
	if verb == "DELETE" {
		return g.finish(text("DELETE FROM " + table + " WHERE 1 = 0")).SQL
	}
	columns := g.d.quote(link.ViaFrom[0].Name) + ", " + g.d.quote(link.ViaTo[0].Name)
	return g.finish(text("INSERT INTO " + table + " (" + columns + ") SELECT " + columns + " FROM " + table + " WHERE 1 = 0")).SQL
}
