package syntax

import (
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax/internal/lex"
)

// count reads a non-negative integer (ABNF top, skip). No sign, no blanks.
func (p *parser) count(name string) *int64 {
	at := p.I
	n := lex.Digits(p.Rest())
	if n == 0 {
		panic(p.Malformed(at, "%s must be a whole number, 0 or more, without a sign", name))
	}
	v, err := strconv.ParseInt(p.Text[at:at+n], 10, 64)
	if err != nil {
		panic(p.Malformed(at, "%s must be at most 9223372036854775807", name))
	}
	p.I += n
	p.atDelimiter(name)
	return &v
}

// index reads an integer (ABNF index).
func (p *parser) index() *int64 {
	at := p.I
	p.Accept('-')
	p.I += lex.Digits(p.Rest())
	v, err := strconv.ParseInt(p.Text[at:p.I], 10, 64)
	if err != nil {
		panic(p.Malformed(at, "$index must be a whole number"))
	}
	return &v
}

// levels reads a positive integer or "max" (ABNF levels).
func (p *parser) levels() int64 {
	at := p.I
	if to := p.ScanIdent(at); p.WordIs(p.Text[at:to], "max") {
		p.I = to
		return LevelsMax
	}
	n := lex.Digits(p.Rest())
	v, err := strconv.ParseInt(p.Text[at:at+n], 10, 64)
	if err != nil || p.Text[at] == '0' {
		panic(p.Malformed(at, "$levels must be a whole number from 1, or max"))
	}
	p.I += n
	p.atDelimiter("$levels")
	return v
}

// boolean reads true or false in any case (ABNF boolean).
func (p *parser) boolean() *bool {
	at := p.I
	to := p.ScanIdent(at)
	word := p.Text[at:to]
	v := strings.EqualFold(word, "true")
	if !v && !strings.EqualFold(word, "false") {
		panic(p.Malformed(at, "$count must be true or false"))
	}
	p.I = to
	p.atDelimiter("$count")
	return &v
}

// atDelimiter fails when text follows a value that is complete.
func (p *parser) atDelimiter(name string) {
	c := p.Peek()
	if c == 0 || p.Nested() && (c == ';' || c == ')' || lex.IsSpace(c)) {
		return
	}
	panic(p.Malformed(p.I, "unexpected text in the value of %s", name))
}

// opaque reads a value that has no grammar of its own. In an id "+" can only be a
// plus, because an IRI has no spaces.
func (p *parser) opaque(name string) string {
	if p.I == p.End {
		panic(p.Malformed(p.I, "%s needs a value", name))
	}
	value := p.Rest()
	if name == "$id" {
		value = p.withPlus()
	}
	p.I = p.End
	return value
}

// withPlus returns the rest with every "+" as it was sent.
func (p *parser) withPlus() string {
	if !strings.Contains(p.Rest(), " ") {
		return p.Rest()
	}
	b := []byte(p.Rest())
	for i, c := range b {
		if c == ' ' && p.SentAs(p.I+i) == '+' {
			b[i] = '+'
		}
	}
	return string(b)
}

// format reads the value of $format: a short name or a media type (ABNF format).
func (p *parser) format() string {
	value := p.withPlus()
	kind, subtype, isType := strings.Cut(value, "/")
	switch {
	case isType && kind != "" && subtype != "":
	case p.WordIs(value, "json"), p.WordIs(value, "xml"), p.WordIs(value, "atom"), p.WordIs(value, "csv"):
	default:
		panic(p.Malformed(p.I, "$format must be json, csv, xml or a media type such as application/json"))
	}
	p.I = p.End
	return value
}

// schemaVersion reads "*" or unreserved characters (ABNF schemaversion).
func (p *parser) schemaVersion() string {
	value := p.Rest()
	if value != "*" && (value == "" || strings.ContainsFunc(value, isReserved)) {
		panic(p.Malformed(p.I, "$schemaversion must be * or made of letters, digits, and -._~"))
	}
	p.I = p.End
	return value
}

// isReserved is the opposite of ABNF unreserved.
func isReserved(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("-._~", r)
}
