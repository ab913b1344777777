package sqltext

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// argument is the value of an expression for a function to compute with: that of a property is null where a date or time
// is stored that its type cannot hold, as in an answer. Databases fail on some of these, such as infinity, and make
// something of others. A text of PostgreSQL has the collation that comparisons use.
func (g *Generator) argument(e plan.Expr) frag {
	ref, ok := e.(*plan.Ref)
	if !ok || g.columnOf(ref).Text {
		return g.value(e)
	}
	return g.d.held(g.value(e), g.columnOf(ref), ref.T)
}

// held has nothing to do: where not all stored values have one form, a function has looked at each of them already.
func (sqlite) held(x frag, _ *Column, _ edm.Type) frag { return x }

// held names a value once: LEAST and GREATEST pass over nulls.
func (postgres) held(x frag, c *Column, t edm.Type) frag {
	const within = "NULLIF(GREATEST(NULLIF(LEAST($1, BEHIND), BEHIND), BEFORE), BEFORE)"
	before, behind := "date '0001-12-31 BC'", "date '10000-01-01'"
	switch t.Kind {
	case edm.String:
		if c.ownCollation() && c.Collation != "C" {
			return fill("$1"+codePoints, x)
		}
		return x
	case edm.Date:
	case edm.DateTimeOffset:
		before, behind = "timestamptz '0001-12-31 23:59:59.999999+00 BC'", "timestamptz '10000-01-01 00:00:00+00'"
	case edm.TimeOfDay:
		return fill("NULLIF($1, time '24:00:00')", x)
	default:
		return x
	}
	return fill(strings.NewReplacer("BEFORE", before, "BEHIND", behind).Replace(within), x)
}

// held lets a sum tell days that are none, such as the zeroth.
func (mysql) held(x frag, _ *Column, t edm.Type) frag {
	switch t.Kind {
	case edm.Date, edm.DateTimeOffset:
		return fill("($1 + INTERVAL 0 DAY)", x)
	case edm.TimeOfDay:
		return fill("(CASE WHEN $1 BETWEEN '00:00:00' AND '23:59:59.999999' THEN $1 END)", x)
	}
	return x
}
