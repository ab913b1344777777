package sqltext

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A condition over a collection of a shared target that names the row around it is evaluated for each pair of these rows, such
// as category/products/any(p:p/price gt $it/price and p/stock lt $it/stock): n rows of one category make n × n pairs.

// Pairs returns, for each such condition of a node, a statement with one row of three numbers: the rows around, those of the
// table that the collection is of, and those of the table of its targets. Conditions that a database decides without looking
// at all pairs are not among them.
func (g *Generator) Pairs(n *plan.Node) []Statement {
	return g.pairsOf(n.Query, append(orderExprs(n.Query.Order), n.Query.Filter))
}

func (g *Generator) pairsOf(q *plan.Query, exprs []plan.Expr) (out []Statement) {
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
	if e.Op == "value" || !sharesTarget(e.Query) || independent(e.Query) {
		return false
	}
	if _, ok := g.extreme(e); ok {
		return false
	}
	// Servers join by what any compares with eq.
	return e.Op != "any" || g.d.semijoins() || !slices.ContainsFunc(conjunction(e.Query.Filter), func(c plan.Expr) bool {
		call, ok := c.(*plan.Call)
		inside, outside := refers(e.Query, c)
		return ok && call.Name == "eq" && inside && outside
	})
}

// pairs counts for one condition. The rows around are those that the rest of their filter leaves.
func (g *Generator) pairs(q *plan.Query, e *plan.Sub) Statement {
	around := *q
	around.Filter = plan.Join("and", slices.DeleteFunc(conjunction(q.Filter), func(c plan.Expr) bool { return len(g.pairsIn(c)) > 0 })...)
	r := e.Query.Range
	rows := g.m.Tables[r.Set].Name
	if via := g.m.Links[r.Nav].Via; via != nil {
		rows = via
	}
	counted := fill("SELECT COUNT(*) $1", g.from(shares(&around, around.Filter)))
	counted.sql = strings.TrimSuffix(counted.sql, " WHERE 1 = 1")
	return g.finish(fill("SELECT ($1), (SELECT COUNT(*) FROM "+g.table(rows)+"), (SELECT COUNT(*) FROM "+g.table(g.m.Tables[r.Outer.Set].Name)+")", counted))
}
