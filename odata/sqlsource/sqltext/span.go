package sqltext

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// PostgreSQL sorts all rows for a deep page where an index has what rows are ordered by first and not the rest: the key, or
// nulls at the other end. But the index alone tells between which two values a page lies, and how many rows with the first
// of them come before it. The rows in this span are then read and sorted. The answer is that of OFFSET: one statement sees
// one state of the data.

// span is the first item of an order, which an index has.
type span struct {
	key frag
	// forward is the order of the index as the page goes through it, backward the reverse.
	forward, backward string
	desc, nullable    bool
}

// spanOf returns the span of a node; nil if there is no index for it, or if an index has all of the order.
func (g *Generator) spanOf(n *plan.Node) *span {
	t, q := g.m.Tables[n.Set], n.Query
	if _, ok := g.d.(postgres); !ok || !n.Many || q.Range.Derived != nil || !t.Unique || len(q.Order) == 0 {
		return nil
	}
	o := q.Order[0]
	ref, isRef := o.Expr.(*plan.Ref)
	if _, ok := g.decides(q); !ok || !isRef {
		return nil
	}
	conditions, _ := g.decides(&plan.Query{Range: q.Range, Key: q.Key, Filter: q.Filter})
	needed := namesOf(conditions)
	fixed := g.fixed(q)
	for _, ix := range t.Ordered {
		columns := ix.Columns
		for len(columns) > 1 && slices.Contains(fixed, columns[0].Name) {
			columns = columns[1:]
		}
		c, value := columns[0], g.raw(ref).sql
		if c.CodePoints {
			value += codePoints
		}
		key := g.pageKey(ref)
		if c.Name != g.columnOf(ref).Name || value != key.sql || !ix.holds(needed) {
			continue
		}
		nullsFirst := c.NullsFirst == (o.Desc == c.Desc)
		return &span{key, direction(o.Desc, nullsFirst), direction(!o.Desc, !nullsFirst), o.Desc, g.ordersNull(ref, key)}
	}
	return nil
}

func direction(desc, nullsFirst bool) string {
	d := ""
	if desc {
		d = " DESC"
	}
	if nullsFirst {
		return d + " NULLS FIRST"
	}
	return d + " NULLS LAST"
}

// bySpan is the statement for a deep page by its span.
func (p *Page) bySpan(list, guard frag, read, skip int64) Statement {
	g, s, plainQuery := p.g, p.span, *p.query
	plainQuery.Computed = nil
	rows := fill("$1$2", g.from(&plainQuery), guard)
	count := func(condition string, parts ...frag) frag {
		return fill("(SELECT COUNT(*) $1 AND $2)", rows, fill("$1 "+condition, append([]frag{s.key}, parts...)...))
	}
	before, from, to := "< $2", ">=", "<="
	if s.desc {
		before, from, to = "> $2", "<=", ">="
	}
	first, last := text("(SELECT p FROM w ORDER BY p"+s.forward+" LIMIT 1)"), text("(SELECT p FROM w ORDER BY p"+s.backward+" LIMIT 1)")
	at, limit, with, valued := g.d.number(skip), g.d.number(read), text("WITH"), rows
	if s.nullable {
		valued = fill("$1 AND $2 IS NOT NULL", rows, s.key)
	}
	if s.nullable && !s.desc {
		with = fill("WITH n AS MATERIALIZED (SELECT $1 AS n),", count("IS NULL"))
		at = fill("GREATEST($1 - (SELECT n FROM n), 0)", at)
	}
	with = fill("$1 w AS MATERIALIZED (SELECT $2 AS p $3 ORDER BY $2"+s.forward+" LIMIT $4 OFFSET $5)", with, s.key, valued, limit, at)
	// A page of one value may lie anywhere among the rows with that value.
	offset := fill("WHEN $1 = $2 THEN $3 - $4 ELSE $5 - (SELECT COUNT(*) FROM w WHERE p = $1) END", first, last, at, count(before, first), count("= $2", first))
	in := fill("$1 "+from+" $2 AND $1 "+to+" $3", s.key, first, last)
	switch {
	case s.nullable && s.desc:
		offset = fill("WHEN $1 IS NULL THEN $2 - $3 $4", first, g.d.number(skip), count("IS NOT NULL"), offset)
		in = fill("($1 OR $2 IS NULL AND (SELECT COUNT(*) FROM w) < $3)", in, s.key, limit)
	case s.nullable:
		offset = fill("WHEN $1 < (SELECT n FROM n) THEN $1 $2", g.d.number(skip), offset)
		in = fill("($1 OR $2 IS NULL AND $3 < (SELECT n FROM n))", in, s.key, g.d.number(skip))
	}
	page := fill("SELECT $1 $2$3 AND $4 ORDER BY $5 LIMIT $6 OFFSET CASE $7", list, p.from, guard, in, p.order, limit, offset)
	return g.finish(fill("$1 $2", with, page))
}
