package sqltext

import (
	"slices"

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
func ofSharedTarget(q *plan.Query) bool {
	outer := q.Range.Outer
	return outer != nil && outer.Nav != nil && !outer.Nav.Collection && len(q.Computed) == 0 && independent(q)
}

// countOf returns the number of rows of a collection. A subquery over a collection of a shared target would count the same
// rows again for each row around it.
func (g *Generator) countOf(e *plan.Sub) frag {
	switch {
	case g.joinsCount(e):
		return text(countAlias(e) + ".n")
	case g.d.fence() != "" && ofSharedTarget(e.Query) && g.m.Links[e.Query.Range.Nav].Via == nil: // a table between may hold a pair twice
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

// lookedUp returns the number of rows of a collection, from the numbers of all targets, which are counted once: SQLite and
// MariaDB keep the rows of a materialized query that depends on none around it. Their sum is 0 where there is none, and right
// where values that are equal to the key of a target differ from each other.
func (g *Generator) lookedUp(q *plan.Query) frag {
	targets, keys, s := g.linkSides(q.Range)
	all := countAlias(&plan.Sub{Query: q})
	named, on := make([]frag, len(keys)), make([]frag, len(keys))
	for i, k := range keys {
		named[i] = fill("$1 AS "+g.keyName(i), k)
		on[i] = fill(all+"."+g.keyName(i)+" = $1", targets[i])
	}
	counted := fill("SELECT $1, COUNT(*) AS n $2 GROUP BY $3", join(", ", named...), g.fromWhere(q, s), join(", ", keys...))
	once, number := "AS MATERIALIZED ($1)", "SUM("+all+".n)"
	if _, lite := g.d.(sqlite); !lite { // MariaDB would count for each row again, but for the rows of ROLLUP, whose keys are null
		once, number = "AS ($1 WITH ROLLUP)", "CAST("+number+" AS SIGNED)"
	}
	return fill("(WITH "+all+" "+once+" SELECT COALESCE("+number+", 0) FROM "+all+" WHERE $2)", counted, joinFrags(on))
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
	own := append([]*plan.Range{q.Range}, q.Joins...)
	ok := true
	look := func(e plan.Expr) bool {
		switch e := e.(type) {
		case *plan.Ref:
			ok = ok && slices.Contains(own, e.Range)
		case *plan.Cell:
			ok = ok && slices.Contains(own, e.Range)
		case *plan.Computed, *plan.Aggregate:
			ok = false
		case *plan.Sub:
			r := e.Query.Range
			ok = ok && (r.Outer == nil || slices.Contains(own, r.Outer))
			own = append(append(own, r), e.Query.Joins...)
		}
		return ok
	}
	plan.Walk(q.Key, look)
	plan.Walk(q.Filter, look)
	return ok
}

// semijoins reports whether the database reads a correlated EXISTS anew for each row.
func (standard) semijoins() bool { return false }

func (sqlite) semijoins() bool { return true }
