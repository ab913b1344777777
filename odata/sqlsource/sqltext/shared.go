package sqltext

import (
	"slices"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A shared expression of $compute is a column that is computed once for each row: of a lateral subquery where the
// database has them, else of a derived table around the table of the range. Those that build on each other take a level
// each. A fence keeps the database from writing the expression out wherever the column stands.

// sharedName is the column of a shared expression. No column of a table is called so.
func (g *Generator) sharedName(c *plan.Computed) string {
	return g.d.quote("=" + strconv.Itoa(c.ID))
}

// sharesOf is the query of a node with the shared expressions that its columns, its filter and its order need.
func sharesOf(n *plan.Node) *plan.Query {
	exprs := append(orderExprs(n.Query.Order), n.Query.Filter)
	for _, c := range n.Columns {
		exprs = append(exprs, c.Expr)
	}
	return shares(n.Query, exprs...)
}

func orderExprs(list []plan.Order) []plan.Expr {
	out := make([]plan.Expr, len(list))
	for i, o := range list {
		out[i] = o.Expr
	}
	return out
}

// shares returns q with only the shared expressions that exprs use, directly or through another one.
func shares(q *plan.Query, exprs ...plan.Expr) *plan.Query {
	if len(q.Computed) == 0 {
		return q
	}
	seen := map[*plan.Computed]bool{}
	plan.WalkInto(func(e plan.Expr) bool {
		if c, ok := e.(*plan.Computed); ok {
			seen[c] = true
		}
		return true
	}, exprs...)
	out := *q
	out.Computed = slices.DeleteFunc(slices.Clone(q.Computed), func(c *plan.Computed) bool { return !c.Shared || !seen[c] })
	return &out
}

// usesShared tells whether a shared expression is part of one of these.
func usesShared(exprs ...plan.Expr) bool {
	found := false
	look := func(e plan.Expr) bool {
		if c, ok := e.(*plan.Computed); ok {
			found = found || c.Shared || usesShared(c.Expr)
		}
		return !found
	}
	for _, e := range exprs {
		plan.Walk(e, look)
	}
	return found
}

// levels are the expressions by level.
func levels(list []*plan.Computed) [][]*plan.Computed {
	var out [][]*plan.Computed
	for _, c := range list {
		for len(out) < c.Level {
			out = append(out, nil)
		}
		out[c.Level-1] = append(out[c.Level-1], c)
	}
	return slices.DeleteFunc(out, func(l []*plan.Computed) bool { return len(l) == 0 })
}

// define computes the expressions of a level.
func (g *Generator) define(level []*plan.Computed) []frag {
	out := make([]frag, len(level))
	for i, c := range level {
		out[i] = fill("$1 AS "+g.sharedName(c), g.d.stored(g.value(c.Expr), c.Type()))
	}
	return out
}

// lateral adds the levels to FROM.
func (g *Generator) lateral(f frag, list []*plan.Computed) frag {
	for i, level := range levels(list) {
		f = fill("$1 CROSS JOIN LATERAL (SELECT $2 OFFSET 0) AS k"+strconv.Itoa(i), f, join(", ", g.define(level)...))
	}
	return f
}

// derived is FROM and WHERE with the levels around the table of the range. Conditions that need none of them stand
// inside, where they can use an index; the joins stand both there and outside.
func (g *Generator) derived(q *plan.Query, s source) frag {
	conds := g.conditions(q, s.conds)
	if s.within.sql != "" {
		conds = append(conds, s.within)
	}
	var outside []frag
	for _, c := range conjunction(q.Filter) {
		if usesShared(c) {
			outside = append(outside, g.condition(c, true))
		} else {
			conds = append(conds, g.condition(c, true))
		}
	}
	fence := text(g.d.fence())
	if s.tail.sql == "" {
		s.tail = fence
	}
	r := q.Range
	f := g.joins(fill("FROM $1 AS "+alias(r), g.source(r)), q)
	f = fill("$1 $2", where(f, conds, false), s.tail)
	columns := g.columns(r)
	for i, level := range levels(q.Computed) {
		if i > 0 {
			f = fill("$1 $2", g.joins(f, q), fence)
		}
		f = fill("FROM (SELECT $1 $2) AS "+alias(r), join(", ", append(slices.Clone(columns), g.define(level)...)...), f)
		for _, c := range level {
			columns = append(columns, text(g.sharedName(c)))
		}
	}
	if s.via.sql != "" {
		f = fill("$1 JOIN $2 ON $3", f, s.via, s.on)
	}
	return where(g.joins(f, q), outside, s.windows)
}

// derivedPage is derived for the rows of a page, which tail cuts out.
func (g *Generator) derivedPage(q *plan.Query, tail frag) frag {
	var conds []frag
	if r := q.Range; r.Nav != nil && q.From != nil {
		conds = append(conds, g.fromEntity(q))
	}
	return g.derived(q, source{conds: conds, tail: tail})
}

// conjunction takes conditions apart that are joined by and.
func conjunction(e plan.Expr) []plan.Expr {
	if e == nil {
		return nil
	}
	if call, ok := e.(*plan.Call); ok && call.Name == "and" {
		return append(conjunction(call.Args[0]), conjunction(call.Args[1])...)
	}
	return []plan.Expr{e}
}

// columns are all columns of a range that the model knows, and those that $apply has added.
func (g *Generator) columns(r *plan.Range) []frag {
	if r.Derived == nil {
		return g.storedColumns(r)
	}
	var out []frag
	if r.Derived.Whole {
		out = g.storedColumns(r)
	}
	for i := range r.Derived.Columns {
		out = append(out, text(alias(r)+"."+g.cellName(i)))
	}
	return out
}

// storedColumns are the columns of the table of a range that the model knows.
func (g *Generator) storedColumns(r *plan.Range) []frag {
	var names []string
	var add func(c *Column)
	add = func(c *Column) {
		if len(c.Sub) == 0 {
			names = append(names, c.Name)
		}
		for _, sub := range c.Sub {
			add(sub)
		}
	}
	for _, c := range g.m.Tables[r.Set].Columns {
		add(c)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	out := make([]frag, len(names))
	for i, name := range names {
		out[i] = text(alias(r) + "." + g.d.quote(name))
	}
	return out
}
