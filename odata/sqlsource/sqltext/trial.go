package sqltext

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// Trial is a statement whose one value reports whether the column of Path keeps a value as it is. It fails, or gives null, for a value
// that the column cannot hold.
type Trial struct {
	Path      []*edm.Property
	Statement Statement
}

// Trials returns the trials of a change: one for each value of which the database alone knows how its column writes it, such as JSON.
func (g *Generator) Trials(c *write.Change) []Trial {
	if _, tells := g.d.(sqlite); tells || c.After == nil {
		return nil
	}
	if !g.mayTry(c) {
		return nil
	}
	var out []Trial
	values := g.kept(c)
	for i := range c.Values {
		a := &c.Values[i]
		column, t := g.columnOf(&plan.Ref{Range: c.After.Range(), Path: a.Path}), a.Type()
		if column.Text {
			t = edm.Of(edm.String)
		}
		if a.Value.Null || t.Kind != edm.String && t.Kind != edm.Duration {
			continue
		}
		var value frag
		if values != nil {
			value = values[i]
		} else if stored, ok := g.stored(c.After.Range(), a); ok {
			value = stored
		} else {
			continue
		}
		if f, doubtful := g.d.trial(column, t, value); doubtful {
			out = append(out, Trial{a.Path, g.finish(fill("SELECT $1", f))})
		}
	}
	return out
}

// mayTry reports whether changes with values for the same properties can have trials.
func (g *Generator) mayTry(c *write.Change) bool {
	r := c.After.Range()
	return slices.ContainsFunc(c.Values, func(a write.Assignment) bool {
		k := a.Type().Kind
		return k == edm.String || k == edm.Duration || g.columnOf(&plan.Ref{Range: r, Path: a.Path}).Text
	})
}

// trial has nothing to ask: SQLite tells all by the type that a column was declared with.
func (sqlite) trial(*Column, edm.Type, frag) (frag, bool) { return frag{}, false }

func (postgres) trial(c *Column, t edm.Type, value frag) (frag, bool) {
	switch {
	case t.Kind == edm.Duration && c.Type == "interval" && strings.Contains(c.Declared, " "): // of some fields alone
		return fill("($1)::"+c.Declared+" = $1", value), true
	case t.Kind != edm.String || certainText(c, value):
		return frag{}, false
	}
	return fill("(($1)::"+c.Declared+")::text = $2::text", value, param(value.args[0])), true
}

// certainText reports whether otherText has decided on a text.
func certainText(c *Column, value frag) bool {
	switch c.Type {
	case "text", "character varying", "character", "bpchar", "name", `"char"`, "boolean", "uuid":
		return true
	case "enum":
		s, _ := value.args[0].(string)
		return slices.Contains(c.Members, s)
	}
	return isWhole(c.Type)
}

func (mysql) trial(c *Column, t edm.Type, value frag) (frag, bool) {
	if t.Kind != edm.String || c.Type != "inet4" && c.Type != "inet6" && c.Type != "json" {
		return frag{}, false
	}
	return fill("CAST(CAST($1 AS "+c.Type+") AS CHAR) = BINARY $1", value), true
}
