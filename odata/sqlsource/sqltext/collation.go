package sqltext

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// PostgreSQL takes no two columns of different collations in one expression where neither is that of the database, and
// looks into no text whose collation calls different texts equal. Texts that functions compute with, and columns that are
// compared with each other, are given the collation of code points there, which decides nothing but order.

// ownCollation tells whether a column of PostgreSQL has another collation than the database.
func (c *Column) ownCollation() bool { return c.Collation != "" && c.Collation != "default" }

// collides tells whether two columns have collations of their own that differ.
func (c *Column) collides(with *Column) bool {
	return c.ownCollation() && with.ownCollation() && c.Collation != with.Collation
}

// collide tells whether the database cannot tell by which collation two texts are to be compared.
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

// ownCollations tells whether an expression has a column of another collation than that of the database.
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

// asStored tells whether rows are ordered by a column as it is, which is null only where the column may be. What SQLite
// makes of a stored value is also null where that is none of its type.
func (g *Generator) asStored(e plan.Expr, x frag) bool {
	ref, ok := e.(*plan.Ref)
	return ok && withoutCollation(x) == g.raw(ref).sql
}
