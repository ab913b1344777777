package sqltext

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A numeric column of PostgreSQL may hold NaN and infinities, and one of dates and times infinities and years that no answer
// has. They lie beyond the values of the type: a comparison with a constant names the column itself, for its index, and a
// bound beside it. The order of a page names a column with an index itself, too: the rows of the page tell in a column of their own
// that the table has values beyond the bounds, and the page is then read anew, in the order of the values that are shown.

// postgresBounds are templates of the conditions that a stored value is not too small, and not too large; empty where none is.
func postgresBounds(c *Column, t edm.Type) (low, high string) {
	numeric := t.Kind == edm.Decimal && c.Type == "numeric"
	switch {
	case c.Loose == LooseNaN && numeric:
		return "", "$1 < 'NaN'::numeric"
	case c.Loose == LooseInfinite && numeric:
		return "$1 > '-Infinity'::numeric", "$1 < 'Infinity'::numeric"
	case c.Loose != LooseInfinite:
		return "", ""
	case t.Kind == edm.Date && c.Type == "date":
		return "$1 >= date '0001-01-01'", "$1 < date '10000-01-01'"
	case t.Kind == edm.TimeOfDay && c.Type == "time without time zone":
		return "", "$1 < time '24:00:00'"
	case t.Kind == edm.DateTimeOffset && c.Type == "timestamp with time zone":
		return "$1 >= timestamptz '0001-01-01 00:00:00+00'", "$1 < timestamptz '10000-01-01 00:00:00+00'"
	case t.Kind == edm.DateTimeOffset && c.Type == "timestamp without time zone":
		return "$1 >= timestamp '0001-01-01 00:00:00'", "$1 < timestamp '10000-01-01 00:00:00'"
	}
	return "", ""
}

// mysqlZero is the template of a column's value that is null for a date or time that is none; empty if the column has none.
func mysqlZero(c *Column, t edm.Type) string {
	switch {
	case c.Loose != LooseZero:
	case t.Kind == edm.Date && c.Type == "date", t.Kind == edm.DateTimeOffset && c.Type == "datetime":
		return "($1 + INTERVAL 0 DAY)"
	case t.Kind == edm.TimeOfDay && c.Type == "time":
		return "(CASE WHEN $1 BETWEEN '00:00:00' AND '23:59:59.999999' THEN $1 END)"
	}
	return ""
}

// mysqlBounds is postgresBounds for MariaDB. A month or day of the number 0 in a year of another number lies within them.
func mysqlBounds(k edm.Kind) (low, high string) {
	if k == edm.TimeOfDay {
		return "$1 >= '00:00:00'", "$1 < '24:00:00'"
	}
	return "$1 >= '0001-01-01'", ""
}

// bounded is a column's value, which is null for a stored value beyond its bounds.
func bounded(name, value frag, c *Column, t edm.Type) frag {
	low, high := postgresBounds(c, t)
	switch {
	case high == "":
		return value
	case low != "":
		high = low + " AND " + high
	}
	return fill("(CASE WHEN "+high+" THEN $2 END)", name, value)
}

// bound is the condition that keeps stored values beyond the bounds of a column out of a comparison with a constant; empty for
// all else.
func (g *Generator) bound(op string, x, y plan.Expr) frag {
	less := op == "lt" || op == "le"
	ref, isRef := x.(*plan.Ref)
	if _, isLit := y.(*plan.Literal); !isRef || !isLit {
		if ref, isRef = y.(*plan.Ref); !isRef {
			return frag{}
		}
		if _, isLit := x.(*plan.Literal); !isLit {
			return frag{}
		}
		less = !less
	}
	low, high := postgresBounds(g.columnOf(ref), ref.T)
	switch {
	case op == "eq" || op == "ne" || high == "":
		return frag{}
	case !less:
		return fill(high, g.raw(ref))
	case low != "":
		return fill(low, g.raw(ref))
	}
	return frag{}
}

// Strict returns a Generator whose pages have no Misplaced; nil if this is one.
func (g *Generator) Strict() *Generator {
	switch d := g.d.(type) {
	case postgres:
		if !d.strict {
			d.strict = true
			return &Generator{d: d, m: g.m}
		}
	case mysql:
		if !d.strict {
			d.strict = true
			return &Generator{d: d, m: g.m}
		}
	}
	return nil
}

// storedItems returns the items of an order that name a column as it is stored, although it may hold values beyond its bounds.
func (g *Generator) storedItems(order []plan.Order) (list []int) {
	for i, o := range order {
		ref, ok := o.Expr.(*plan.Ref)
		if !ok || !g.asStored(ref, g.pageKey(ref)) || !g.columnOf(ref).Nullable {
			continue
		}
		if low, high := g.boundsOf(ref); low != "" || high != "" {
			list = append(list, i)
		}
	}
	return list
}

// boundsOf returns the templates of the bounds of a column; empty where it has none.
func (g *Generator) boundsOf(ref *plan.Ref) (low, high string) {
	c := g.columnOf(ref)
	if mysqlZero(c, ref.T) != "" {
		return mysqlBounds(ref.T.Kind)
	}
	return postgresBounds(c, ref.T)
}

// misplaced is 1 if a column that rows are ordered by as it is stored has values beyond its bounds; empty if none can have.
func (g *Generator) misplaced(order []plan.Order, stored []int) frag {
	var parts []frag
	for _, i := range stored {
		ref, ok := order[i].Expr.(*plan.Ref)
		if !ok {
			continue
		}
		c := g.columnOf(ref)
		low, high := g.boundsOf(ref)
		for _, bound := range []string{low, high} {
			if bound != "" {
				beyond := strings.NewReplacer(" < ", " >= ", " > ", " <= ", " >= ", " < ").Replace(bound)
				parts = append(parts, fill("EXISTS (SELECT 1 FROM "+g.table(g.m.Tables[ref.Range.Set].Name)+" WHERE "+beyond+")", text(g.d.quote(c.Name))))
			}
		}
	}
	if len(parts) == 0 {
		return frag{}
	}
	return fill("(CASE WHEN $1 THEN 1 END)", join(" OR ", parts...))
}

// boundHint says of a column with bounds how statements read it; ok is false for any other column.
func (g *Generator) boundHint(ref *plan.Ref) (h Hint, ok bool) {
	c, t := g.columnOf(ref), g.m.Tables[ref.Range.Set]
	_, high := postgresBounds(c, ref.T)
	if high == "" && mysqlZero(c, ref.T) == "" && (c.Loose != LooseBits || !ref.T.Kind.Integer()) {
		return h, false
	}
	h.Text = strings.Join(t.Name, ".") + "." + c.Name + " may hold what is no Edm." + ref.T.Kind.String() + ", which is null: comparisons have a condition beside the column, and "
	if c.Loose != LooseBits && (!c.Nullable || g.indexed(ref)) {
		h.Text += "an order goes by the column as long as it holds none"
	} else {
		h.Text += "an order goes by a cleaned expression, without an index"
	}
	h.Text = strings.ReplaceAll(h.Text, dollar, "$")
	return h, true
}

// indexed reports whether an index begins with the column of a Ref.
func (g *Generator) indexed(ref *plan.Ref) bool {
	name := g.columnOf(ref).Name
	return slices.ContainsFunc(g.m.Tables[ref.Range.Set].Indexes, func(ix []string) bool { return len(ix) > 0 && ix[0] == name })
}

// unbounded returns the column of a Ref with bounds as it is stored; ok is false for any other expression.
func (g *Generator) unbounded(e plan.Expr) (f frag, ok bool) {
	ref, isRef := e.(*plan.Ref)
	if !isRef || g.columnOf(ref).Text {
		return f, false
	}
	c := g.columnOf(ref)
	if _, high := postgresBounds(c, ref.T); high == "" || strings.HasPrefix(c.Type, "timestamp without") {
		return f, false
	}
	return g.raw(ref), true
}
