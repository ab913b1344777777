package sqltext

import (
	"slices"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Many rows share the target of a to-one navigation property. EXISTS over a collection of that target reads the same rows
// again for each row around it. A semi-join finds the targets with such rows once, by IN.

// semijoin returns any and all as IN over a query that needs no row around it. ok is false if EXISTS serves better: the
// range around is no target of a to-one navigation property, or the query depends on a range around it.
func (g *Generator) semijoin(e *plan.Sub, loose bool) (f frag, ok bool) {
	q := *e.Query
	if !g.d.semijoins() || !ofSharedTarget(&q) {
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
	if e.Op == "any" && loose {
		return f, true
	}
	// A null in a key makes IN unknown: any is false there, and all is true.
	return fill("(CASE WHEN $1 THEN $2 ELSE $3 END)", f, truth(e.Op == "any"), truth(e.Op == "all")), true
}

// ofSharedTarget reports whether a query goes over a collection of the target of a to-one navigation property, and depends on
// no other row around it.
func ofSharedTarget(q *plan.Query) bool { return sharesTarget(q) && independent(q) }

// sharesTarget reports whether a query goes over a collection of the target of a to-one navigation property.
func sharesTarget(q *plan.Query) bool {
	outer := q.Range.Outer
	return outer != nil && outer.Nav != nil && !outer.Nav.Collection && len(q.Computed) == 0
}

// countOf returns the number of rows of a collection. A subquery over a collection of a shared target would count the same
// rows again for each row around it.
func (g *Generator) countOf(e *plan.Sub) frag {
	switch {
	case g.joinsCount(e):
		return text(countAlias(e) + ".n")
	case g.d.fence() != "" && ofSharedTarget(e.Query):
		return g.lookedUp(e.Query)
	}
	return fill("(SELECT COUNT(*) $1)", g.from(e.Query))
}

// joinsCount reports whether the number of rows of a collection is joined to the rows around. PostgreSQL keeps what a
// lateral join has given for a key, and nothing of a subquery in an expression.
func (g *Generator) joinsCount(e *plan.Sub) bool {
	return e.Shared && g.d.fence() == "" && ofSharedTarget(e.Query)
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
// all that the condition names of rows around it.
func (g *Generator) extreme(e *plan.Sub) (f frag, ok bool) {
	q := *e.Query
	if e.Op != "any" || !sharesTarget(&q) {
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
		s = source{join: g.viaOnce(q.Range, link)}
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

// viaOnce returns the join of a range to the rows of the table in between for which conds hold. That table may hold a pair
// twice; the pair is one link all the same.
func (g *Generator) viaOnce(r *plan.Range, link *Link, conds ...frag) frag {
	v := "v" + alias(r)
	var columns, on []frag
	for i, c := range link.ViaFrom {
		columns = append(columns, g.distinct(c, "="+strconv.Itoa(i), link.From[i])...)
	}
	for i, c := range link.ViaTo {
		columns = append(columns, g.distinct(c, "=="+strconv.Itoa(i), link.To[i])...)
		on = append(on, linked(g.d.meet(text(v+"."+g.d.quote(c.Name)), c, link.To[i]), text(g.col(r, link.To[i])), g.exactPair(c, link.To[i])))
	}
	rows := where(fill("SELECT DISTINCT $1 FROM "+g.table(link.Via), join(", ", columns...)), conds)
	return fill("JOIN ($1) AS "+v+" ON $2", rows, joinFrags(on))
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
	return outer, inner, source{join: fill("JOIN "+g.table(link.Via)+" AS "+v+" ON $1", joinFrags(on))}
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

// semijoins reports whether the database reads a correlated EXISTS anew for each row.
func (standard) semijoins() bool { return false }

func (sqlite) semijoins() bool { return true }
