package sqltext

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Count is the statement for the number of entities of a node, whatever its page.
func (g *Generator) Count(n *plan.Node) Statement { return g.finish(g.count(n)) }

func (g *Generator) count(n *plan.Node) frag {
	f := g.from(shares(n.Query, n.Query.Filter))
	// Without a condition SQLite counts the entries of an index page by page.
	f.sql = strings.TrimSuffix(f.sql, " WHERE 1 = 1")
	return fill("SELECT COUNT(*) $1", f)
}

// Exists is the statement that finds out whether the entity that a query starts from is there.
func (g *Generator) Exists(q *plan.Query) Statement {
	return g.finish(fill("SELECT 1 $1 LIMIT 1", g.from(q)))
}

// Links lists, for each expanded property of a node, the positions of the columns that it starts from, behind the
// node's own columns, and how many columns there are in all.
func (g *Generator) Links(n *plan.Node) (at [][]int, width int) {
	width = len(n.Columns)
	for _, x := range n.Expand {
		var pos []int
		for range g.m.Links[x.Nav].From {
			pos = append(pos, width)
			width++
		}
		at = append(at, pos)
	}
	return at, width
}

// list is the select list: the columns, those that expanded properties start from, and extra ones.
func (g *Generator) list(n *plan.Node, extra []frag) []frag {
	parts := make([]frag, 0, len(n.Columns)+len(extra))
	for _, c := range n.Columns {
		if ref, ok := c.Expr.(*plan.Ref); ok {
			parts = append(parts, g.fetch(ref))
		} else if cell, ok := c.Expr.(*plan.Cell); ok {
			parts = append(parts, g.d.fetchCell(g.cell(cell), cell.T))
		} else {
			parts = append(parts, g.value(c.Expr))
		}
	}
	for _, x := range n.Expand {
		for _, c := range g.m.Links[x.Nav].From {
			parts = append(parts, g.d.linkKey(text(g.col(n.Query.Range, c)), c))
		}
	}
	return append(parts, extra...)
}

// fetch is a stored value as the reader wants it.
func (g *Generator) fetch(r *plan.Ref) frag {
	c, t := g.columnOf(r), r.T
	if c.Text {
		t = edm.Of(edm.String)
	}
	return g.d.fetch(g.raw(r), c, t)
}

// plain joins a select list.
func plain(parts []frag) frag {
	if len(parts) == 0 {
		return text("1")
	}
	return join(", ", parts...)
}

// named joins a select list and calls its items c0, c1 and so on.
func named(parts []frag) frag {
	for i := range parts {
		parts[i] = fill("$1 AS c"+strconv.Itoa(i), parts[i])
	}
	return join(", ", parts...)
}

// orders is the order of a page.
func (g *Generator) orders(list []plan.Order) frag { return g.ordersBy(list, g.pageKey) }

// ordersWithin is the order of a window, and of the rows of several parents.
func (g *Generator) ordersWithin(list []plan.Order) frag {
	return g.ordersBy(list, func(e plan.Expr) frag { return g.d.sortKey(g, e) })
}

func (g *Generator) ordersBy(list []plan.Order, key func(plan.Expr) frag) frag {
	parts := make([]frag, len(list))
	for i, o := range list {
		x := key(o.Expr)
		parts[i] = g.d.order(x, o.Desc, g.placesNulls(o.Expr, x))
	}
	return join(", ", parts...)
}

// placesNulls reports whether an order has to say where the nulls of the value x come.
func (g *Generator) placesNulls(e plan.Expr, x frag) bool {
	return g.ordersNull(e, x) && !g.unproven(e)
}

// unproven reports whether an order does not reckon with nulls of a column; see Column.Unproven.
func (g *Generator) unproven(e plan.Expr) bool {
	ref, ok := e.(*plan.Ref)
	return ok && ref.Range.Outer == nil && g.columnOf(ref).Unproven
}

// numbered adds the number of a row to the order of a query's rows. Several rows may have a null for a key: the number
// orders these, so that each page continues the one before.
func (g *Generator) numbered(q *plan.Query, order frag) frag {
	r := q.Range
	if r.Derived != nil || len(q.Order) == 0 || len(q.Computed) > 0 || g.m.Tables[r.Set].RowID == "" {
		return order
	}
	return fill("$1, $2", order, g.d.order(text(alias(r)+"."+g.m.Tables[r.Set].RowID), q.Order[len(q.Order)-1].Desc, false))
}

// from is FROM with its joins and WHERE. There is always a condition, so that callers can go on with AND.
func (g *Generator) from(q *plan.Query) frag { return g.fromUnder(q, false) }

// fromUnder is from below a list of columns, which has window functions or not.
func (g *Generator) fromUnder(q *plan.Query, windows bool) frag {
	var conds []frag
	if r := q.Range; r.Nav != nil && q.From != nil {
		conds = append(conds, g.fromEntity(q))
	} else if r.Nav != nil {
		conds = append(conds, g.joinCondition(r))
	}
	return g.fromWhere(q, source{conds: conds, windows: windows})
}

// source is what a query reads besides its range.
type source struct {
	// via is joined to the range, on the condition on; straight makes MariaDB begin with via.
	via, on  frag
	straight bool
	// conds tie the range to where it comes from.
	conds []frag
	// within is the condition of the join, said of the range alone; tail ends the derived table around the
	// conditions. Both are empty where there is no join.
	within, tail frag
	// windows reports that the list of columns has window functions.
	windows bool
}

// fromWhere is FROM with its joins, and WHERE.
func (g *Generator) fromWhere(q *plan.Query, s source) frag {
	if len(q.Computed) > 0 && g.d.fence() != "" {
		return g.derived(q, s)
	}
	r := q.Range
	f := fill("FROM $1 AS "+alias(r), g.source(r))
	switch {
	case s.straight:
		f = fill("FROM $1 STRAIGHT_JOIN $2 AS "+alias(r)+" ON $3", s.via, g.source(r), s.on)
	case s.via.sql != "":
		f = fill("$1 JOIN $2 ON $3", f, s.via, s.on)
	}
	f = g.lateral(g.joins(f, q), q.Computed)
	conds := g.conditions(q, s.conds)
	if q.Filter != nil {
		conds = append(conds, g.condition(q.Filter, true))
	}
	return where(f, conds, s.windows)
}

// where is FROM and WHERE. Under windows MariaDB leaves out a condition that sets a variable if a unique key finds the one row
// of each table. It keeps the condition if a table that may have two rows is joined.
func where(f frag, conds []frag, windows bool) frag {
	if len(conds) == 0 {
		return fill("$1 WHERE 1 = 1", f)
	}
	all := joinFrags(conds)
	if windows && strings.Contains(all.sql, ":=") {
		f = fill("$1 CROSS JOIN (SELECT 1 UNION SELECT 1) AS one", f)
	}
	return fill("$1 WHERE $2", f, all)
}

// joins adds the joins of a query to its FROM.
func (g *Generator) joins(f frag, q *plan.Query) frag {
	for _, j := range q.Joins {
		f = fill("$1 LEFT JOIN "+g.table(g.m.Tables[j.Set].Name)+" AS "+alias(j)+" ON $2", f, g.joined(j))
	}
	for _, c := range q.Counts {
		if g.joinsCount(c) {
			joined, _ := g.joinedCount(c)
			f = fill("$1 $2", f, joined)
		}
	}
	return f
}

// conditions are those of a query without its filter.
func (g *Generator) conditions(q *plan.Query, conds []frag) []frag {
	if q.Key != nil {
		conds = append(conds, g.condition(q.Key, true))
	}
	if q.Range.Policy != nil {
		conds = append(conds, g.condition(q.Range.Policy, true))
	}
	if q.Search != nil {
		conds = append(conds, g.search(q))
	}
	return conds
}

func joinFrags(conds []frag) frag { return join(" AND ", conds...) }

// joined is the condition of a join: a target that a policy hides is absent.
func (g *Generator) joined(j *plan.Range) frag {
	f := g.joinCondition(j)
	if j.Policy != nil {
		f = fill("$1 AND $2", f, g.condition(j.Policy, true))
	}
	return f
}

func (g *Generator) col(r *plan.Range, c *Column) string {
	name := alias(r)
	if g.returned != nil && g.returned.ID == r.ID {
		name = g.d.quote(g.TableName(r.Set))
	}
	return name + "." + g.d.quote(c.Name)
}

func (sqlite) remote() bool { return false }

// search is $search: each term by the table's full-text index where that can answer it, otherwise as a part of one of
// the columns, in any case.
func (g *Generator) search(q *plan.Query) frag {
	t := g.m.Tables[q.Range.Set]
	indexed := t.FullText != nil || slices.ContainsFunc(t.Search, func(c *Column) bool { return c.Trigram != nil })
	if !indexed && len(t.Search) > 0 {
		columns := make([]frag, len(t.Search))
		for i, c := range t.Search {
			columns[i] = g.searched(q, c)
		}
		if f, ok := g.d.searches(q.Search, columns); ok {
			return f
		}
	}
	return g.term(q, t, q.Search)
}

// searched is the text of a column that $search looks into.
func (g *Generator) searched(q *plan.Query, c *Column) frag {
	return g.d.column(text(g.col(q.Range, c)), c, edm.Of(edm.String))
}

func (g *Generator) term(q *plan.Query, t *Table, s *plan.Search) frag {
	return combined(s, func(s *plan.Search) frag {
		if t.FullText != nil {
			if f, ok := g.d.fullText(t.FullText, alias(q.Range), s); ok {
				return f
			}
		}
		return g.part(q, t, s)
	})
}

// combined is a search whose terms are the conditions that term returns.
func combined(s *plan.Search, term func(*plan.Search) frag) frag {
	if s.Op == "term" {
		return term(s)
	}
	parts := make([]frag, len(s.Args))
	for i, a := range s.Args {
		parts[i] = combined(a, term)
	}
	switch {
	case len(parts) == 0:
		return truth(true)
	case s.Op == "not":
		return fill("(NOT $1)", parts[0])
	case s.Op == "or":
		return fill("($1)", join(" OR ", parts...))
	}
	return fill("($1)", join(" AND ", parts...))
}

// part finds a term inside of the columns. It has two values, so that it can be negated.
func (g *Generator) part(q *plan.Query, t *Table, s *plan.Search) frag {
	var parts []frag
	for _, c := range t.Search {
		found := g.d.contains(g.searched(q, c), g.d.literal(edm.Of(edm.String), plan.Value{Bytes: []byte(s.Term)}))
		found = fill("COALESCE($1, $2)", found, g.d.literal(edm.Of(edm.Boolean), plan.Value{}))
		if n := g.d.narrow("tolower", text(g.col(q.Range, c)), c, s.Term); n.sql != "" {
			found = fill("($1 AND $2)", n, found)
		}
		parts = append(parts, found)
	}
	if len(parts) == 0 {
		return truth(false)
	}
	return fill("($1)", join(" OR ", parts...))
}

// word reports whether a term is one word of letters and digits.
func word(term string) bool {
	for _, r := range term {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return term != ""
}
