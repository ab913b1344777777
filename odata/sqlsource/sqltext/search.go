package sqltext

import (
	"unicode"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// search is $search: each term by the table's full-text index where that can answer it, otherwise as a part of one of
// the columns, in any case.
func (g *Generator) search(q *plan.Query) frag { return g.term(q, g.m.Tables[q.Range.Set], q.Search) }

func (g *Generator) term(q *plan.Query, t *Table, s *plan.Search) frag {
	if s.Op == "term" {
		if t.FullText != nil {
			if f, ok := g.d.fullText(t.FullText, alias(q.Range), s); ok {
				return f
			}
		}
		return g.part(q, t, s)
	}
	parts := make([]frag, len(s.Args))
	for i, a := range s.Args {
		parts[i] = g.term(q, t, a)
	}
	switch {
	case len(parts) == 0:
		return truth(true)
	case s.Op == "not":
		return fill("(NOT $1)", parts[0])
	case s.Op == "or":
		return fill("($1)", join(" OR ", parts...))
	}
	return fill("($1)", join(" AND ", parts...))
}

// part finds a term inside of the columns. It has two values, so that it can be negated.
func (g *Generator) part(q *plan.Query, t *Table, s *plan.Search) frag {
	var parts []frag
	for _, c := range t.Search {
		column := g.d.column(text(g.col(q.Range, c)), c, edm.Of(edm.String))
		found := g.d.contains(column, g.d.literal(edm.Of(edm.String), plan.Value{Bytes: []byte(s.Term)}))
		found = fill("COALESCE($1, $2)", found, g.d.literal(edm.Of(edm.Boolean), plan.Value{}))
		if n := g.d.narrow("tolower", text(g.col(q.Range, c)), c, s.Term); n.sql != "" {
			found = fill("($1 AND $2)", n, found)
		}
		parts = append(parts, found)
	}
	if len(parts) == 0 {
		return truth(false)
	}
	return fill("($1)", join(" OR ", parts...))
}

// word tells whether a term is one word of letters and digits.
func word(term string) bool {
	for _, r := range term {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return term != ""
}
