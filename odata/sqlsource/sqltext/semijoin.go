package sqltext

import (
	"slices"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Many rows share the target of a to-one navigation property. Many collections over a table in between share an element. EXISTS
// over a collection of such a target reads the same rows again for each row around it. Where no index finds the rows of a
// collection, EXISTS reads all rows of the table. A semi-join finds the targets with such rows once, by IN.

// semijoin returns any and all as IN over a query that needs no row around it. ok is false if EXISTS serves better: no row
// would be read again, the query depends on a range around it, or the database joins EXISTS itself.
func (g *Generator) semijoin(e *plan.Sub, loose bool) (f frag, ok bool) {
	q := *e.Query
	if !g.repeats(&q) || !independent(&q) || g.d.joinsExists() && !q.Range.Outer.Element && (e.Op == "any" || g.linkIndexed(q.Range)) {
		return frag{}, false
	}
	targets, keys, s := g.linkSides(q.Range)
	pred := q.Filter
	if e.Op == "all" {
		q.Filter = nil
	}
	from := g.fromWhere(&q, s)
	if e.Op == "all" {
		from = fill("$1 AND ($2) IS NOT TRUE", from, g.condition(pred, true))
	}
	list := join(", ", targets...)
	if len(targets) > 1 {
		list = fill("($1)", list)
	}
	f = fill("$1 IN (SELECT $2 $3)", list, join(", ", keys...), from)
	if e.Op == "any" && loose && g.d.joinsIn() {
		return f, true
	}
	// A null in a key makes IN unknown: any is false there, and all is true.
	return fill("(CASE WHEN $1 THEN $2 ELSE $3 END)", f, truth(e.Op == "any"), truth(e.Op == "all")), true
}

// repeats reports whether a query over a collection reads the same rows again for several rows around it.
func (g *Generator) repeats(q *plan.Query) bool {
	outer := q.Range.Outer
	return outer != nil && len(q.Computed) == 0 && (g.shared(outer) || !g.linkIndexed(q.Range))
}

// shared reports whether several rows around may share a row of a range.
func (g *Generator) shared(r *plan.Range) bool {
	return r.Nav != nil && (!r.Nav.Collection || r.Element && g.m.Links[r.Nav].Via != nil)
}

// linkIndexed reports whether an index may find the rows of a range by its link. A view may have indexes below it.
func (g *Generator) linkIndexed(r *plan.Range) bool {
	link, t := g.m.Links[r.Nav], g.m.Tables[r.Set]
	indexes, columns, view := t.Indexes, link.To, t.View
	if link.Via != nil {
		indexes, columns, view = link.ViaIndexes, link.ViaFrom, link.ViaView
	}
	return view || slices.ContainsFunc(indexes, func(index []string) bool {
		return len(index) > 0 && slices.ContainsFunc(columns, func(c *Column) bool { return c.Name == index[0] })
	})
}

// countOf returns the number of rows of a collection. Where a subquery would read the same rows again for each row around it,
// the numbers of all targets are computed once.
func (g *Generator) countOf(e *plan.Sub) frag {
	q := e.Query
	switch {
	case g.joinsCount(e):
		_, number := g.joinedCount(e)
		return number
	case g.d.fence() != "" && g.repeats(q) && independent(q):
		return g.lookedUp(q)
	}
	if s, ok := g.straight(q); ok && g.m.Tables[q.Range.Set].Unique {
		return fill("(SELECT COUNT(DISTINCT "+g.col(q.Range, g.m.Links[q.Range.Nav].To[0])+") $1)", g.fromWhere(q, s))
	}
	return fill("(SELECT COUNT(*) $1)", g.from(q))
}

// straight returns a source that reads a collection by way of the rows of its table in between, and a row of the collection once for
// each of them. MariaDB would begin with all rows of the collection's table, for each row around, if it had the choice. ok is
// false for other collections and databases.
func (g *Generator) straight(q *plan.Query) (s source, ok bool) {
	link := g.m.Links[q.Range.Nav]
	if _, ok := g.d.(mysql); !ok || link == nil || link.Via == nil || len(q.Computed) > 0 {
		return source{}, false
	}
	targets, keys, s := g.linkSides(q.Range)
	for i, k := range keys {
		s.conds = append(s.conds, fill("$1 = $2", k, targets[i]))
	}
	s.straight = true
	return s, true
}

// joinsCount reports whether the number of rows of a collection is joined to the rows around. PostgreSQL keeps what a
// lateral join has given for a key, and nothing of a subquery in an expression.
func (g *Generator) joinsCount(e *plan.Sub) bool {
	return e.Shared && g.d.fence() == "" && g.repeats(e.Query) && independent(e.Query)
}

// joinedCount returns that join, and the number. Without an index each lateral query would read all rows of the table: the
// numbers of all targets are joined instead, if the values of the link have one type and so one idea of what is equal.
func (g *Generator) joinedCount(e *plan.Sub) (joined, number frag) {
	if q := e.Query; g.linkIndexed(q.Range) || !g.ofOneType(q.Range) {
		as := countAlias(e)
		return fill("LEFT JOIN LATERAL (SELECT COUNT(*) AS n $1) AS "+as+" ON TRUE", g.from(q)), text(as + ".n")
	}
	_, from, on := g.ofEachTarget(e.Query, text("COUNT(*)"))
	return fill("LEFT JOIN $1 ON $2", from, joinFrags(on)), text("COALESCE(" + alias(e.Query.Range) + "." + g.cellName(0) + ", 0)")
}

// ofOneType reports whether the link of a range compares columns of one type.
func (g *Generator) ofOneType(r *plan.Range) bool {
	link := g.m.Links[r.Nav]
	reached := link.To
	if link.Via != nil {
		reached = link.ViaFrom
	}
	return slices.EqualFunc(link.From, reached, func(a, b *Column) bool { return a.Type == b.Type })
}

func countAlias(e *plan.Sub) string { return "n" + alias(e.Query.Range) }

// lookedUp returns the number of rows of a collection, from the numbers of all targets. Their sum is 0 where there is none,
// and right where values that are equal to the key of a target differ from each other.
func (g *Generator) lookedUp(q *plan.Query) frag {
	with, from, on := g.ofEachTarget(q, text("COUNT(*)"))
	number := "SUM(" + alias(q.Range) + "." + g.cellName(0) + ")"
	if _, lite := g.d.(sqlite); !lite {
		number = "CAST(" + number + " AS SIGNED)"
	}
	return fill("($1SELECT COALESCE("+number+", 0) FROM $2 WHERE $3)", with, from, joinFrags(on))
}

// extreme returns any with a comparison of a value of the collection with one of a row around it, such as
// category/products/any(p:p/price gt $it/price), by the greatest or the least value that each target has. ok is false if this is not
// all that the condition names of rows around it, and within another collection of PostgreSQL, which would compute all values again for
// each row.
func (g *Generator) extreme(e *plan.Sub) (f frag, ok bool) {
	q := *e.Query
	if e.Op != "any" || !g.repeats(&q) || g.d.fence() == "" && q.Range.Outer.Element {
		return frag{}, false
	}
	var dependent, rest []plan.Expr
	for _, c := range conjunction(q.Filter) {
		if _, outside := refers(&q, c); outside {
			dependent = append(dependent, c)
		} else {
			rest = append(rest, c)
		}
	}
	if len(dependent) != 1 {
		return frag{}, false
	}
	op, x, y, ok := g.oneSided(&q, dependent[0])
	if !ok {
		return frag{}, false
	}
	most := &plan.Aggregate{Op: "max", Arg: x, T: x.Type()}
	if op[0] == 'l' {
		most.Op = "min"
	}
	if !g.finite(x) { // NaN is neither greater nor less than anything, itself included
		most.When = &plan.Call{Name: "le", Args: []plan.Expr{x, x}, T: edm.Of(edm.Boolean)}
	}
	q.Filter = plan.Join("and", rest...)
	with, from, on := g.ofEachTarget(&q, g.d.stored(g.aggregate(most), x.Type()))
	found := &plan.Range{ID: q.Range.ID, Set: q.Range.Set, Derived: &plan.Derived{Columns: []plan.DerivedColumn{{T: x.Type()}}}}
	on = append(on, g.compare(op, &plan.Cell{Range: found, T: x.Type()}, y, true))
	return fill("EXISTS ($1SELECT 1 FROM $2 WHERE $3)", with, from, joinFrags(on)), true
}

// oneSided returns a comparison of a value x of the rows of a query with a value y of rows around. ok is false for any
// other condition, and for texts, which have collations.
func (g *Generator) oneSided(q *plan.Query, e plan.Expr) (op string, x, y plan.Expr, ok bool) {
	c, isCall := e.(*plan.Call)
	if !isCall {
		return "", nil, nil, false
	}
	switch op = c.Name; op {
	case "gt", "ge", "lt", "le":
	default:
		return "", nil, nil, false
	}
	x, y = c.Args[0], c.Args[1]
	if inside, _ := refers(q, x); !inside {
		op, x, y = mirrored(op), y, x
	}
	_, outside := refers(q, x)
	inside, _ := refers(q, y)
	k := x.Type().Kind
	return op, x, y, !outside && !inside && k != edm.String && edm.CanAggregate("max", k)
}

// ofEachTarget returns what is behind FROM to read a value of the rows that each target of a link has, in a column named by
// cellName, with what is in front of SELECT, and the condition that a row is that of the target around. It is computed once:
// SQLite and MariaDB keep the rows of a materialized query that depends on none around it, and PostgreSQL joins it.
func (g *Generator) ofEachTarget(q *plan.Query, value frag) (with, from frag, on []frag) {
	targets, keys, s := g.linkSides(q.Range)
	if link := g.m.Links[q.Range.Nav]; link.Via != nil {
		s = g.viaOnce(q.Range, link)
	}
	name, as := g.d.quote("~"+alias(q.Range)), alias(q.Range)
	named := make([]frag, len(keys))
	for i, k := range keys {
		named[i] = fill("$1 AS "+g.keyName(i), k)
		on = append(on, fill(as+"."+g.keyName(i)+" = $1", targets[i]))
	}
	f := fill("SELECT $1, $2 AS "+g.cellName(0)+" $3 GROUP BY $4", join(", ", named...), value, g.fromWhere(q, s), join(", ", keys...))
	switch g.d.(type) {
	case postgres:
		return frag{}, fill("($1) AS "+as, f), on
	case sqlite:
		return fill("WITH "+name+" AS MATERIALIZED ($1) ", f), text(name + " AS " + as), on
	}
	// MariaDB would compute it for each row again, but for the rows of ROLLUP, whose keys are null.
	return fill("WITH "+name+" AS ($1 WITH ROLLUP) ", f), text(name + " AS " + as), on
}

// viaOnce returns a source that joins a range to the rows of the table in between for which conds hold. That table may hold a pair
// twice; the pair is one link all the same.
func (g *Generator) viaOnce(r *plan.Range, link *Link, conds ...frag) source {
	v := "v" + alias(r)
	var columns, on []frag
	for i, c := range link.ViaFrom {
		columns = append(columns, g.distinct(c, "="+strconv.Itoa(i), link.From[i])...)
	}
	for i, c := range link.ViaTo {
		columns = append(columns, g.distinct(c, "=="+strconv.Itoa(i), link.To[i])...)
		on = append(on, linked(g.d.meet(text(v+"."+g.d.quote(c.Name)), c, link.To[i]), text(g.col(r, link.To[i])), g.exactPair(c, link.To[i])))
	}
	rows := where(fill("SELECT DISTINCT $1 FROM "+g.table(link.Via), join(", ", columns...)), conds, false)
	return source{via: fill("($1) AS "+v, rows), on: joinFrags(on)}
}

// linkSides returns the two sides that the link of a range compares: columns of the outer range, and columns that the range
// is reached by, with the join to the table in between.
func (g *Generator) linkSides(r *plan.Range) (outer, inner []frag, s source) {
	link := g.m.Links[r.Nav]
	add := func(from, to *Column, x frag, exact string) {
		y := g.d.meet(text(g.col(r.Outer, from)), from, to)
		outer, inner = append(outer, y), append(inner, x)
		if exact != "" {
			outer, inner = append(outer, fill(exact, y)), append(inner, fill(exact, x))
		}
	}
	if link.Via == nil {
		for i, c := range link.From {
			add(c, link.To[i], text(g.col(r, link.To[i])), g.exactPair(c, link.To[i]))
		}
		return outer, inner, source{}
	}
	v := "v" + alias(r)
	column := func(c *Column) frag { return text(v + "." + g.d.quote(c.Name)) }
	for i, c := range link.From {
		add(c, link.ViaFrom[i], column(link.ViaFrom[i]), g.exactPair(c, link.ViaFrom[i]))
	}
	on := make([]frag, len(link.To))
	for i, c := range link.To {
		on[i] = linked(g.d.meet(column(link.ViaTo[i]), link.ViaTo[i], c), text(g.col(r, c)), g.exactPair(link.ViaTo[i], c))
	}
	return outer, inner, source{via: text(g.table(link.Via) + " AS " + v), on: joinFrags(on)}
}

// independent reports whether a query within an expression refers to no range but its own and those inside of it. A row
// policy and the policy of a join refer to their own range alone.
func independent(q *plan.Query) bool {
	_, byKey := refers(q, q.Key)
	_, byFilter := refers(q, q.Filter)
	return !byKey && !byFilter
}

// refers reports whether an expression refers to a range of a query, and whether it refers to anything else, such as a range
// around the query. The ranges inside of the expression do not count.
func refers(q *plan.Query, e plan.Expr) (inside, outside bool) {
	own := append([]*plan.Range{q.Range}, q.Joins...)
	var within []*plan.Range
	see := func(r *plan.Range) {
		switch {
		case slices.Contains(own, r):
			inside = true
		case !slices.Contains(within, r):
			outside = true
		}
	}
	plan.Walk(e, func(e plan.Expr) bool {
		switch e := e.(type) {
		case *plan.Ref:
			see(e.Range)
		case *plan.Cell:
			see(e.Range)
		case *plan.Computed, *plan.Aggregate:
			outside = true
		case *plan.Sub:
			if r := e.Query.Range; r.Outer != nil {
				see(r.Outer)
			}
			within = append(append(within, e.Query.Range), e.Query.Joins...)
		}
		return true
	})
	return inside, outside
}

func (standard) joinsExists() bool { return false }

func (postgres) joinsExists() bool { return true }

func (standard) joinsIn() bool { return true }

func (mysql) joinsIn() bool { return false }
