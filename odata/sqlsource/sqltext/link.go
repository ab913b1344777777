package sqltext

import (
	"cmp"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Links lead from a text to the rows that have that very text, as eq does on every database. Where columns take further
// texts for equal, their own comparison stands beside the exact one, for their indexes.

// joinCondition compares the range of a navigation target with the row that it hangs on.
func (g *Generator) joinCondition(r *plan.Range) frag {
	outer := func(c *Column) frag { return text(g.col(r.Outer, c)) }
	return g.linkCondition(r, outer)
}

// fromEntity compares the range with the single entity that the path came through, by scalar subqueries: the database
// evaluates them once and can then use its indexes.
func (g *Generator) fromEntity(q *plan.Query) frag {
	r := q.Range
	from := g.from(q.From)
	outer := func(c *Column) frag { return fill("(SELECT "+g.col(r.Outer, c)+" $1 LIMIT 1)", from) }
	return g.linkCondition(r, outer)
}

// linkCondition compares a range with the columns that its link starts from.
func (g *Generator) linkCondition(r *plan.Range, outer func(*Column) frag) frag {
	link := g.m.Links[r.Nav]
	parts := make([]frag, len(link.From))
	if link.Via == nil {
		for i, c := range link.From {
			parts[i] = linked(text(g.col(r, link.To[i])), g.d.meet(outer(c), c, link.To[i]), g.exactPair(c, link.To[i]))
		}
		return joinFrags(parts)
	}
	v := "v" + alias(r)
	for i, c := range link.From {
		parts[i] = linked(text(v+"."+g.d.quote(link.ViaFrom[i].Name)), g.d.meet(outer(c), c, link.ViaFrom[i]), g.exactPair(c, link.ViaFrom[i]))
	}
	return g.within(r, link, joinFrags(parts))
}

// linked is the condition that two columns of a link are equal, with what exact gives for them.
func linked(x, y frag, exact string) frag {
	if exact == "" {
		return fill("$1 = $2", x, y)
	}
	return fill("$1 = $2 AND $3 = $4", x, y, fill(exact, x), fill(exact, y))
}

// exactPair is exact for two columns that a link compares; empty where they are not both texts.
func (g *Generator) exactPair(a, b *Column) string {
	if a.Collation == "" || b.Collation == "" {
		return ""
	}
	return cmp.Or(g.d.exact(a), g.d.exact(b))
}

// within is the condition that a row of the table in between, for which cond is true, leads to the range's row.
func (g *Generator) within(r *plan.Range, link *Link, cond frag) frag {
	v := "v" + alias(r)
	var to, viaTo []string
	for i, c := range link.To {
		x, y := g.col(r, c), v+"."+g.d.quote(link.ViaTo[i].Name)
		to, viaTo = append(to, x), append(viaTo, g.d.meet(text(y), link.ViaTo[i], c).sql)
		if exact := g.exactPair(link.ViaTo[i], c); exact != "" {
			to, viaTo = append(to, fill(exact, text(x)).sql), append(viaTo, fill(exact, text(y)).sql)
		}
	}
	left := strings.Join(to, ", ")
	if len(to) > 1 {
		left = "(" + left + ")"
	}
	return fill(left+" IN (SELECT "+strings.Join(viaTo, ", ")+" FROM "+g.table(link.Via)+" AS "+v+" WHERE $1)", cond)
}

func (sqlite) meet(from frag, _, _ *Column) frag { return from }

func (postgres) meet(from frag, a, b *Column) frag {
	if a.collides(b) {
		return fill("$1"+codePoints, from)
	}
	return from
}

// meet takes the collation of the target, which has the index.
func (mysql) meet(from frag, a, b *Column) frag {
	if a.Collation == "" || b.Collation == "" || a.Collation == b.Collation {
		return from
	}
	set, _, _ := strings.Cut(b.Collation, "_")
	return fill("CONVERT($1 USING "+set+") COLLATE "+b.Collation, from)
}

func (sqlite) exact(c *Column) string {
	if c.folds() {
		return "$1 COLLATE BINARY"
	}
	return ""
}

func (postgres) exact(c *Column) string {
	if c.folds() {
		return "$1::text" + codePoints
	}
	return ""
}

// exact holds for all collations: even utf8mb4_bin takes "a" and "a " for equal.
func (mysql) exact(c *Column) string {
	if c.Collation == "" {
		return ""
	}
	return "CAST(CONVERT($1 USING utf8mb4) AS BINARY)"
}

// folds reports whether a column of SQLite or PostgreSQL may take different texts for equal.
func (c *Column) folds() bool { return c.Collation == "nondeterministic" || c.Type == "citext" }

// PostgreSQL takes no two columns of different collations in one expression where neither is that of the database, and
// looks into no text whose collation calls different texts equal. Texts that functions compute with, and columns that are
// compared with each other, are given the collation of code points there, which decides nothing but order.

// ownCollation reports whether a column of PostgreSQL has another collation than the database.
func (c *Column) ownCollation() bool { return c.Collation != "" && c.Collation != "default" }

// collides reports whether two columns have collations of their own that differ.
func (c *Column) collides(with *Column) bool {
	return c.ownCollation() && with.ownCollation() && c.Collation != with.Collation
}

// collide reports whether the database cannot tell by which collation two texts are to be compared.
func (g *Generator) collide(x, y plan.Expr) bool {
	a, isColumn := x.(*plan.Ref)
	b, isAlso := y.(*plan.Ref)
	switch {
	case isColumn && isAlso:
		return g.columnOf(a).collides(g.columnOf(b))
	case isColumn:
		_, constant := y.(*plan.Literal)
		return !constant && g.columnOf(a).ownCollation()
	case isAlso:
		return g.collide(y, x)
	}
	return false
}

// ownCollations reports whether an expression has a column of another collation than that of the database.
func (g *Generator) ownCollations(e plan.Expr) bool {
	found := false
	plan.Walk(e, func(e plan.Expr) bool {
		if ref, ok := e.(*plan.Ref); ok && ref.T.Kind == edm.String {
			found = found || g.columnOf(ref).ownCollation()
		}
		return !found
	})
	return found
}

func withoutCollation(x frag) string {
	return strings.TrimSuffix(strings.TrimSuffix(x.sql, " COLLATE BINARY"), codePoints)
}

// sortsNull reports whether the value x that rows are sought by may be null. What SQLite makes of a stored value is also null
// where that is none of its type, and a column as it is, only where it may be.
func (g *Generator) sortsNull(e plan.Expr, x frag) bool {
	return !g.asStored(e, x) || g.ordersNull(e, x)
}

// ordersNull reports whether the value x that rows are ordered by may be null.
func (g *Generator) ordersNull(e plan.Expr, x frag) bool {
	if ref, ok := e.(*plan.Ref); ok && g.asStored(e, x) {
		return g.absent(ref)
	}
	return g.nullable(e)
}

// asStored reports whether rows are ordered by a column as it is.
func (g *Generator) asStored(e plan.Expr, x frag) bool {
	ref, ok := e.(*plan.Ref)
	return ok && withoutCollation(x) == g.raw(ref).sql
}
