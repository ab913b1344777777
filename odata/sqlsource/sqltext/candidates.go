package sqltext

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// SQLite has trigrams in a table of its own, and its planner does not know how many rows have one: a part that many rows
// have is found sooner without. So the table is asked beforehand, by a Probe.

// Parts is an FTS5 table of trigrams over a table, which is its content. It misses no row, unless it is refused.
type Parts struct {
	// Name is that of the FTS5 table, Key the column that has its rowid.
	Name, Key string
	// Columns are the indexed ones.
	Columns []string
	// AnyCase tells that it finds texts in any case.
	AnyCase bool
	// Schema is the number of the schema that it was proved under: under another one nothing is known of it.
	Schema int64
	// Refused is why it cannot be relied on; empty where it can. What refuses it may have left the rest empty.
	Refused string
}

// Bounds of what is asked of an FTS5 table.
const (
	// fewRows is how many rows are looked up one by one at most where a page is read, fewOfAll where all rows are counted.
	fewRows, fewOfAll = 2_000, 20_000
	maxPartLength     = 60
	maxPartTexts      = 30
)

// Probe asks whether few rows can have what a query looks for.
type Probe struct {
	// Name names the question.
	Name string
	// Statement gives the number of these rows, up to one more than Few, and the number of the schema.
	Statement Statement
	// Few is how many rows are few. Schema is the number of the schema under which the answer counts.
	Few, Schema int64
	// Generator looks at these rows alone. It is for the node that it was made for.
	Generator *Generator
}

// Probe is how to find out whether an index of trigrams leaves few rows of a node; nil where there is none.
func (g *Generator) Probe(n *plan.Node) *Probe {
	q := n.Query
	if !g.parts || q.Filter == nil && q.Search == nil || q.Range.Derived != nil || q.Key != nil || q.From != nil {
		return nil
	}
	p := g.m.Tables[q.Range.Set].Parts
	if p == nil || p.Refused != "" {
		return nil
	}
	m := matcher{g: g, q: q, p: p}
	match := both(m.of(q.Filter), m.searched(q.Search))
	if match == "" || m.texts > maxPartTexts {
		return nil
	}
	few := int64(fewRows)
	if n.Count || n.Page.Read == 0 {
		few = fewOfAll
	}
	table := g.d.quote(p.Name)
	found := fill("SELECT rowid FROM "+table+" WHERE "+table+" MATCH $1", param(match))
	ask := fill("SELECT COUNT(*), (SELECT schema_version FROM pragma_schema_version) FROM ($1 LIMIT $2)", found, param(few+1))
	narrow := *g
	narrow.parts, narrow.of = false, q.Range
	narrow.candidates = fill(alias(q.Range)+"."+g.d.quote(p.Key)+" IN ($1)", found)
	return &Probe{Name: strconv.FormatInt(few, 10) + " " + p.Name + " " + match, Statement: g.finish(ask), Few: few, Schema: p.Schema, Generator: &narrow}
}

// matcher makes an expression of FTS5 that holds wherever a condition does. An empty one holds for all rows.
type matcher struct {
	g *Generator
	q *plan.Query
	p *Parts
	// texts is how many there are in the expression.
	texts int
}

func both(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return "(" + a + " AND " + b + ")"
}

func either(a, b string) string {
	if a == "" || b == "" {
		return ""
	}
	return "(" + a + " OR " + b + ")"
}

func (m *matcher) of(e plan.Expr) string {
	call, ok := e.(*plan.Call)
	if !ok {
		return ""
	}
	switch call.Name {
	case "and":
		return both(m.of(call.Args[0]), m.of(call.Args[1]))
	case "or":
		return either(m.of(call.Args[0]), m.of(call.Args[1]))
	case "contains", "startswith", "endswith", "matchespattern":
		ref, op, s := m.g.sought(call)
		if ref == nil || ref.Range != m.q.Range || op == "startswith" && m.g.begins(ref) {
			return ""
		}
		return m.text(m.g.columnOf(ref), op, s)
	}
	return ""
}

// begins tells whether an index begins with a column, and so finds how texts begin.
func (g *Generator) begins(ref *plan.Ref) bool {
	return slices.ContainsFunc(g.m.Tables[ref.Range.Set].Indexes, func(ix []string) bool { return len(ix) > 0 && ix[0] == g.columnOf(ref).Name })
}

// searched is the same for $search.
func (m *matcher) searched(s *plan.Search) string {
	t := m.g.m.Tables[m.q.Range.Set]
	if s == nil || t.FullText != nil {
		return ""
	}
	out := ""
	switch s.Op {
	case "term":
		for i, c := range t.Search {
			found := m.text(c, "tolower", strings.ToLower(s.Term))
			if i == 0 {
				out = found
			} else {
				out = either(out, found)
			}
		}
	case "and", "or":
		for i, a := range s.Args {
			switch found := m.searched(a); {
			case i == 0:
				out = found
			case s.Op == "or":
				out = either(out, found)
			default:
				out = both(out, found)
			}
		}
	}
	return out
}

// text looks for a text in a column; it is empty where the index does not find it.
func (m *matcher) text(c *Column, op, s string) string {
	if !slices.Contains(m.p.Columns, c.Name) {
		return ""
	}
	texts := []string{cut(s)}
	if op == "tolower" {
		texts = anyCase(cut(s))
		if !m.p.AnyCase {
			return ""
		}
	}
	out := ""
	for _, s := range texts {
		if utf8.RuneCountInString(s) < 3 || !utf8.ValidString(s) {
			return ""
		}
		phrase := "{" + strings.ReplaceAll(m.g.d.quote(c.Name), dollar, "$") + "} : " + `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
		if m.texts++; out == "" {
			out = phrase
		} else {
			out = either(out, phrase)
		}
	}
	return out
}

// cut is the beginning of a text.
func cut(s string) string {
	runes := []rune(s)
	return string(runes[:min(len(runes), maxPartLength)])
}

// foldsAlike tells of a small letter that trigrams know its large ones as tolower does. They follow an older Unicode. İ, which
// tolower makes an i, stays as it is in them.
func foldsAlike(r rune) bool {
	return r < 0x0250 || r > 0x02af && r <= 0x0527 && r != 0x03f3
}

// anyCase are the texts of which a text in any case has one; none where that is not known.
func anyCase(s string) []string {
	const most = 3
	if strings.Count(s, "i") > most || strings.ContainsFunc(s, func(r rune) bool { return !foldsAlike(r) }) {
		return nil
	}
	texts := []string{""}
	for _, r := range s {
		n := len(texts)
		for i := range n {
			if r == 'i' {
				texts = append(texts, texts[i]+"İ")
			}
			texts[i] += string(r)
		}
	}
	return texts
}
