package sqltext

import (
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A search without an index looks for each of its words in all texts of every row. It makes each text small once, and not
// once for each word.

func (sqlite) searches(s *plan.Search, columns []frag) (frag, bool) {
	var b strings.Builder
	writeSearch(&b, s)
	return fill("ves_search($1, $2)", param(b.String()), join(", ", columns...)), true
}

// writeSearch writes a search in the form of ves_search in package engine.
func writeSearch(b *strings.Builder, s *plan.Search) {
	op := "&"
	switch s.Op {
	case "term":
		term := strings.ToLower(s.Term)
		b.WriteString("=" + strconv.Itoa(len(term)) + ":" + term)
		return
	case "or":
		op = "|"
	case "not":
		op = "!"
	}
	b.WriteString(op + strconv.Itoa(len(s.Args)) + ":")
	for _, a := range s.Args {
		writeSearch(b, a)
	}
}

// several reports whether a search has more than one term.
func several(s *plan.Search) bool {
	return len(s.Args) > 1 || len(s.Args) == 1 && several(s.Args[0])
}

// lower returns the template of a text in small letters, whatever the collation of its column.
func (d postgres) lower() string {
	db := d.db
	if db.CaseCollation == "" {
		db.CaseCollation = `"default"`
	}
	return function.Lookup("tolower").SQL.Postgres(&plan.Call{Name: "tolower"}, db)
}

// searches names the small texts in a subquery. PostgreSQL carries out one that has no column, that of a term, once.
func (d postgres) searches(s *plan.Search, columns []frag) (frag, bool) {
	if !several(s) {
		return frag{}, false
	}
	lower, texts := d.lower(), make([]frag, len(columns))
	for i, c := range columns {
		texts[i] = fill(lower+" AS s"+strconv.Itoa(i), c)
	}
	found := combined(s, func(s *plan.Search) frag {
		term := fill("(SELECT "+lower+")", d.literal(edm.Of(edm.String), plan.Value{Bytes: []byte(s.Term)}))
		parts := make([]frag, len(columns))
		for i := range columns {
			parts[i] = fill("COALESCE(strpos(s.s"+strconv.Itoa(i)+", $1) > 0, FALSE)", term)
		}
		return fill("($1)", join(" OR ", parts...))
	})
	return fill("(SELECT $1 FROM (SELECT $2 OFFSET 0) AS s)", found, join(", ", texts...)), true
}

// searches keeps the bytes of the small texts in variables of the session, as mysqlDouble in package function keeps operands: CASE goes through its
// conditions in order. MariaDB finds bytes in several times less time than characters.
func (d mysql) searches(s *plan.Search, columns []frag) (frag, bool) {
	if !several(s) {
		return frag{}, false
	}
	kept := make([]frag, len(columns))
	for i, c := range columns {
		kept[i] = fill("COALESCE(LENGTH("+searchVariable(i)+" := $1), 0)", bytesOf(fill(d.lower(), c)))
	}
	found := combined(s, func(s *plan.Search) frag {
		term := bytesOf(fill(d.lower(), d.literal(edm.Of(edm.String), plan.Value{Bytes: []byte(s.Term)})))
		parts := make([]frag, len(columns))
		for i := range columns {
			parts[i] = fill("COALESCE(LOCATE($1, $2) > 0, 0)", term, bytesOf(text(searchVariable(i))))
		}
		return fill("($1)", join(" OR ", parts...))
	})
	return fill("(CASE WHEN $1 < 0 THEN 0 ELSE $2 END)", join(" + ", kept...), found), true
}

func searchVariable(i int) string { return "@vess" + strconv.Itoa(i) }
