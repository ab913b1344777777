package sqltext

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Hint tells how a condition on a part of a text is answered.
type Hint struct {
	// Text is the condition and what is to be said of it, such as "contains(name) …".
	Text string
	// Index is the index that the statement asks; empty where there is none. Whether the database uses it, its query plan
	// tells.
	Index string
	// Advice creates an index that would help; empty where none would.
	Advice string
}

// Hints tell how each condition of a plan on a part of a text is answered.
func (g *Generator) Hints(n *plan.Node) []Hint {
	var out []Hint
	add := func(set *plan.Range, name string, c *Column, op, s string) {
		h := g.d.hint(g, g.m.Tables[set.Set], c, op, s)
		h.Text = strings.ReplaceAll(name+"("+c.Name+") "+h.Text, dollar, "$")
		h.Advice = strings.ReplaceAll(h.Advice, dollar, "$")
		if !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	see := func(e plan.Expr) bool {
		call, ok := e.(*plan.Call)
		if ok && slices.Contains([]string{"contains", "startswith", "endswith", "matchespattern"}, call.Name) {
			if ref, op, s := g.sought(call); ref != nil {
				add(ref.Range, call.Name, g.columnOf(ref), op, s)
			}
		}
		return true
	}
	plan.Walk(n.Query.Filter, see)
	plan.Walk(n.Query.Range.Policy, see)
	if t := g.m.Tables[n.Set]; n.Query.Search != nil && t.FullText == nil {
		for _, c := range t.Search {
			add(n.Query.Range, "search", c, "tolower", longestTerm(n.Query.Search))
		}
	}
	for _, x := range n.Expand {
		out = append(out, g.Hints(x)...)
	}
	return out
}

// longestTerm is the longest word of a search.
func longestTerm(s *plan.Search) string {
	longest := s.Term
	for _, a := range s.Args {
		if term := longestTerm(a); len(term) > len(longest) {
			longest = term
		}
	}
	return longest
}

const shortPart = "reads every row: no three letters or digits of the constant stand in a row, as an index of parts needs them"

func (d postgres) hint(g *Generator, t *Table, c *Column, op, s string) Hint {
	column := d.quote(c.Name)
	narrowed := d.narrow(op, text(column), c, s).sql != ""
	trigram := c.Trigram != nil
	switch {
	case narrowed && trigram && (op != "startswith" || c.Prefix == "" && c.Collation != "C"):
		return Hint{Text: "asks the index " + c.Trigram.Name + ", and then looks at what it finds", Index: c.Trigram.Name}
	case narrowed:
		return Hint{Text: "asks for a range of texts, which an index in the order of code points has in one place"}
	case c.Type != "text" && c.Type != "character varying":
		return Hint{Text: "reads every row: the column is " + c.Type + ", and only text and character varying have an index of parts"}
	case op == "startswith" && !t.View:
		return Hint{Text: "reads every row", Advice: "CREATE INDEX ON " + g.table(t.Name) + " (" + column + codePoints + ")"}
	case (&Trigram{Letters: true}).part(s) == "":
		return Hint{Text: shortPart}
	case trigram && op == "tolower":
		return Hint{Text: "reads every row: the index " + c.Trigram.Name + " finds small letters only where the locale of the database and of the column is one of libc"}
	case trigram:
		return Hint{Text: "reads every row: in this locale the index " + c.Trigram.Name + " finds three letters or digits of ASCII in a row, without I"}
	case t.View:
		return Hint{Text: "reads every row of the view, which has no index of its own"}
	}
	collation := ""
	if c.Collation == "nondeterministic" {
		collation = codePoints
	}
	return Hint{Text: "reads every row", Advice: "CREATE EXTENSION IF NOT EXISTS pg_trgm; CREATE INDEX ON " + g.table(t.Name) + " USING gin (" + column + collation + " gin_trgm_ops)"}
}

func (mysql) hint(_ *Generator, _ *Table, _ *Column, op, _ string) Hint {
	if op == "startswith" {
		return Hint{Text: "asks for a range of texts, which an index that begins with the column has in one place"}
	}
	return Hint{Text: "reads every row: MariaDB has no index of parts of texts; FULLTEXT finds words"}
}

func (sqlite) hint(_ *Generator, _ *Table, _ *Column, op, _ string) Hint {
	if op == "startswith" {
		return Hint{Text: "asks for a range of texts, which an index that begins with the column has in one place"}
	}
	return Hint{Text: "reads every row: SQLite has no index of parts of texts; PostgreSQL has pg_trgm"}
}
