package sqltext

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A condition over a collection that is read again for several rows, and that names such a row, is evaluated for each pair of
// these rows and its elements, such as category/products/any(p:p/price gt $it/price and p/stock lt $it/stock): n rows of one category make n × n pairs.

// Pairs is a statement with one row of numbers for such a condition: the rows around and, for each of the Collections between them and
// the condition, the rows that its elements come from, and in how many collections these are.
type Pairs struct {
	Statement
	Collections int
}

// Pairs returns the statements for all such conditions of a node. Conditions that a database decides without looking
// at all pairs are not among them.
func (g *Generator) Pairs(n *plan.Node) []Pairs {
	return g.pairsOf(n.Query, append(orderExprs(n.Query.Order), n.Query.Filter))
}

func (g *Generator) pairsOf(q *plan.Query, exprs []plan.Expr) (out []Pairs) {
	for _, e := range exprs {
		for _, sub := range g.pairsIn(e) {
			out = append(out, g.pairs(q, sub))
		}
	}
	if d := q.Range.Derived; d != nil {
		for _, p := range d.Parts {
			out = append(out, g.pairsOf(p.Query, append(slices.Clone(p.Values), p.Query.Filter))...)
		}
	}
	return out
}

// pairsIn returns the parts of an expression that are evaluated for each pair.
func (g *Generator) pairsIn(e plan.Expr) (list []*plan.Sub) {
	plan.WalkInto(func(e plan.Expr) bool {
		if sub, ok := e.(*plan.Sub); ok && g.pairsUp(sub) {
			list = append(list, sub)
		}
		return true
	}, e)
	return list
}

// pairsUp reports whether an expression over a collection is evaluated for each pair.
func (g *Generator) pairsUp(e *plan.Sub) bool {
	if e.Op == "value" || !g.repeats(e.Query) || independent(e.Query) {
		return false
	}
	if _, ok := g.extreme(e); ok {
		return false
	}
	if e.Op != "any" || !g.d.remote() {
		return true
	}
	// Servers join by what any compares with eq, and by the link where no index finds the rows of one target.
	around := e.Query.Range.Outer
	joins := !around.Element && !g.linkIndexed(e.Query.Range)
	return !joins && !slices.ContainsFunc(conjunction(e.Query.Filter), func(c plan.Expr) bool {
		call, ok := c.(*plan.Call)
		inside, outside := refers(e.Query, c)
		return ok && call.Name == "eq" && inside && outside
	})
}

// pairs counts for one condition. The rows around are those that the rest of their filter leaves.
func (g *Generator) pairs(q *plan.Query, e *plan.Sub) Pairs {
	around := *q
	around.Filter = plan.Join("and", slices.DeleteFunc(conjunction(q.Filter), func(c plan.Expr) bool { return len(g.pairsIn(c)) > 0 })...)
	counted := fill("SELECT COUNT(*) $1", g.from(shares(&around, around.Filter)))
	counted.sql = strings.TrimSuffix(counted.sql, " WHERE 1 = 1")
	f, collections := fill("SELECT ($1)", counted), 0
	for r := e.Query.Range; r != nil && r != q.Range; r = r.Outer {
		if r.Nav == nil || !r.Nav.Collection {
			continue
		}
		collections++
		rows, targets := g.m.Tables[r.Set].Name, "SELECT 1"
		if via := g.m.Links[r.Nav].Via; via != nil {
			rows = via
		}
		if g.linkIndexed(r) {
			targets = "SELECT COUNT(*) FROM " + g.table(g.m.Tables[r.Outer.Set].Name)
		}
		f = fill("$1, (SELECT COUNT(*) FROM "+g.table(rows)+"), ("+targets+")", f)
	}
	return Pairs{Statement: g.finish(f), Collections: collections}
}
