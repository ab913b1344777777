package sqltext

import (
	"regexp/syntax"
	"strings"
	"unicode"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A condition on a part of a text has to look at every row. An index of trigrams, the parts of three characters that a text
// has, knows rows in which such a part cannot be. The condition stands for itself all the same: what the index is asked
// holds wherever the condition does, and only narrows.

// Trigram is an index of the parts of three characters that the texts of a column have.
type Trigram struct {
	// Name is that of the index.
	Name string
	// CodePoints tells that the index has the collation of code points although its column does not.
	CodePoints bool
	// Letters tells that letters beyond ASCII are in it, and that each letter alone decides which small letter stands for it.
	Letters bool
}

// How an index can find the beginning of a text; see Column.Prefix.
const (
	// PrefixCodePoints is an index in the order of code points over a column that has another one.
	PrefixCodePoints = "code points"
	// PrefixPattern is an index with PostgreSQL's operators for patterns.
	PrefixPattern = "pattern"
)

// part is the longest piece of a text that the index can be asked for: one with three letters or digits in a row; empty
// where there is none. Where not all letters are in the index, it is of ASCII alone, and without I, which stands for
// various small letters.
func (t *Trigram) part(s string) string {
	if t.Letters && trigrams(s) {
		return s
	}
	longest := ""
	for _, piece := range strings.FieldsFunc(s, func(r rune) bool { return r > unicode.MaxASCII || r == 'I' && !t.Letters }) {
		if len(piece) > len(longest) && trigrams(piece) {
			longest = piece
		}
	}
	return longest
}

// trigrams tells whether three letters or digits stand in a row.
func trigrams(s string) bool {
	n := 0
	for _, r := range s {
		n++
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			n = 0
		}
		if n == 3 {
			return true
		}
	}
	return false
}

// finds narrows a condition on a part of a text, where an index knows parts.
func (g *Generator) finds(e *plan.Call, f frag) frag {
	ref, op, s := g.sought(e)
	if ref == nil {
		return f
	}
	if n := g.d.narrow(op, g.raw(ref), g.columnOf(ref), s); n.sql != "" {
		return fill("($1 AND $2)", n, f)
	}
	return f
}

// sought is the column whose texts a condition looks into, and what for: in any case where op is "tolower". The column is
// nil where it is something else that is looked into, or no constant that is looked for.
func (g *Generator) sought(e *plan.Call) (ref *plan.Ref, op, s string) {
	if len(e.Args) != 2 {
		return nil, "", ""
	}
	op = e.Name
	l, ok := e.Args[1].(*plan.Literal)
	if !ok || l.T.Kind != edm.String || l.Value.Null {
		return nil, "", ""
	}
	s = string(l.Value.Bytes)
	x := e.Args[0]
	if call, ok := x.(*plan.Call); ok && call.Name == "tolower" {
		if x, op = call.Args[0], "tolower"; e.Name == "matchespattern" || !small(s) {
			return nil, "", ""
		}
	}
	if op == "matchespattern" {
		op, s = "contains", required(s)
	}
	ref, ok = x.(*plan.Ref)
	if !ok || s == "" || strings.Contains(s, "\x00") || ref.T.Kind != edm.String || g.columnOf(ref).Text {
		return nil, "", ""
	}
	return ref, op, s
}

// small tells whether a text is what becomes of it in small letters.
func small(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return unicode.ToLower(r) != r }) < 0
}

// required is the longest text that whatever matches a pattern has in it; empty where there is none.
func required(pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	return requiredOf(re)
}

func requiredOf(re *syntax.Regexp) (longest string) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpRepeat:
		if re.Min == 0 {
			return ""
		}
		return requiredOf(re.Sub[0])
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		for _, sub := range re.Sub {
			if s := requiredOf(sub); len(s) > len(longest) {
				longest = s
			}
		}
	}
	return longest
}

// narrow asks an index in the order of code points for a range, and one of trigrams for the parts of the text.
func (postgres) narrow(op string, column frag, c *Column, s string) frag {
	if op == "eq" || strings.Contains(s, "\x00") {
		return frag{}
	}
	if op == "startswith" {
		if f := postgresPrefix(column, c, s); f.sql != "" {
			return f
		}
	}
	if c.Trigram == nil {
		return frag{}
	}
	part := c.Trigram.part(s)
	if part == "" {
		return frag{}
	}
	template := "$1 LIKE $2::text"
	if c.Trigram.CodePoints {
		template = "$1" + codePoints + " LIKE $2::text"
	}
	like := strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(part)
	switch {
	case op == "tolower":
		// ILIKE makes both sides small as the function does, where the locale is that of the database and of libc.
		if c.Collation != "default" || c.Trigram.CodePoints || !c.Trigram.Letters {
			return frag{}
		}
		template, like = "$1 ILIKE $2::text", "%"+like+"%"
	case op == "startswith" && strings.HasPrefix(s, part):
		like += "%"
	case op == "endswith" && strings.HasSuffix(s, part):
		like = "%" + like
	default:
		like = "%" + like + "%"
	}
	return fill(template, column, param(like))
}

// postgresPrefix turns a prefix into a range of texts, where an index has that in one place.
func postgresPrefix(column frag, c *Column, prefix string) frag {
	template, after := "", next(prefix)
	switch {
	case after == "":
	case c.Collation == "C":
		template = "$1 >= $2::text AND $1 < $3::text"
	case c.Prefix == PrefixCodePoints:
		template = "$1" + codePoints + " >= $2::text AND $1" + codePoints + " < $3::text"
	case c.Prefix == PrefixPattern && c.Collation != "nondeterministic":
		template = "$1 ~>=~ $2::text AND $1 ~<~ $3::text"
	}
	if template == "" {
		return frag{}
	}
	return fill(template, column, param(prefix), param(after))
}

// narrow lets the index of a text column find what its collation takes for equal, or for the same beginning.
func (mysql) narrow(op string, column frag, c *Column, prefix string) frag {
	if c.Type == "bit" { // a number, which is shown as text
		return frag{}
	}
	switch op {
	case "eq":
		return fill("$1 = $2", column, param(prefix))
	case "startswith":
	default:
		return frag{}
	}
	like := strings.NewReplacer("|", "||", "%", "|%", "_", "|_").Replace(prefix) + "%"
	return fill("$1 LIKE $2 ESCAPE '|'", column, param(like)) // whatever sql_mode says of backslashes
}
