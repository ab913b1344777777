package sqltext

import (
	"slices"
	"strings"
	"unicode/utf8"

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
	// lacks is a column of a table that one table of trigrams could have together with others.
	lacks *Column
	of    *Table
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
	adviseOnce(out)
	for _, x := range n.Expand {
		out = append(out, g.Hints(x)...)
	}
	return out
}

// adviseOnce makes one advice of those for the columns of one table, since the triggers of two would refuse each other.
func adviseOnce(hints []Hint) {
	columns := map[*Table][]*Column{}
	for _, h := range hints {
		if h.of != nil && !slices.Contains(columns[h.of], h.lacks) {
			columns[h.of] = append(columns[h.of], h.lacks)
		}
	}
	for i, h := range hints {
		if list := columns[h.of]; h.of != nil && list != nil {
			hints[i].Advice = sqlite{}.partsTable(h.of, list)
			columns[h.of] = nil
		}
	}
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

func (d sqlite) hint(g *Generator, t *Table, c *Column, op, s string) Hint {
	m := matcher{g: g, p: t.Parts}
	switch p := t.Parts; {
	case op == "startswith":
		return Hint{Text: "asks for a range of texts, which an index that begins with the column has in one place"}
	case utf8.RuneCountInString(s) < 3:
		return Hint{Text: "reads every row: the constant has fewer than three characters"}
	case p != nil && p.Refused != "":
		return Hint{Text: "reads every row: the full-text table " + p.Name + " is not relied on: " + p.Refused}
	case p != nil && m.text(c, op, s) != "":
		return Hint{Text: "asks the full-text table " + p.Name + ", and then looks at the rows that it finds, unless these are many; the command 'rebuild' adds writes that its triggers missed", Index: d.quote(p.Key) + " IN (SELECT rowid FROM " + d.quote(p.Name)}
	case p != nil && slices.Contains(p.Columns, c.Name):
		return Hint{Text: "reads every row: the full-text table " + p.Name + " does not find these letters in any case"}
	case p != nil:
		return Hint{Text: "reads every row: the full-text table " + p.Name + " does not have the column"}
	case t.Rowid == "":
		return Hint{Text: "reads every row: a full-text table of trigrams is relied on for tables with an INTEGER PRIMARY KEY and without other triggers"}
	}
	return Hint{Text: "reads every row", lacks: c, of: t}
}

// partsTable makes a table of trigrams, what keeps it in step, and its content.
func (d sqlite) partsTable(t *Table, columns []*Column) string {
	table := t.Name[len(t.Name)-1]
	name := func(suffix string) string { return d.quote(table + "_parts" + suffix) }
	list := func(prefix string) string {
		quoted := make([]string, len(columns))
		for i, c := range columns {
			quoted[i] = prefix + d.quote(c.Name)
		}
		return strings.Join(quoted, ", ")
	}
	literal := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	of, fts, key := d.quote(table), name(""), d.quote(t.Rowid)
	insert := " INSERT INTO " + fts + " (rowid, " + list("") + ") VALUES (new." + key + ", " + list("new.") + ");"
	remove := " INSERT INTO " + fts + " (" + fts + ", rowid, " + list("") + ") VALUES ('delete', old." + key + ", " + list("old.") + ");"
	advice := strings.Join([]string{
		"BEGIN",
		"CREATE VIRTUAL TABLE " + fts + " USING fts5(" + list("") + ", content=" + literal(table) + ", content_rowid=" + literal(t.Rowid) + ", tokenize='trigram')",
		"CREATE TRIGGER " + name("_insert") + " AFTER INSERT ON " + of + " BEGIN" + insert + " END",
		"CREATE TRIGGER " + name("_delete") + " AFTER DELETE ON " + of + " BEGIN" + remove + " END",
		"CREATE TRIGGER " + name("_update") + " AFTER UPDATE ON " + of + " BEGIN" + remove + insert + " END",
		"INSERT INTO " + fts + " (" + fts + ") VALUES ('rebuild')",
		"COMMIT",
	}, "; ")
	return strings.ReplaceAll(advice, dollar, "$")
}
