package syntax

import (
	"strconv"
	"strings"
)

// count reads a non-negative integer (ABNF top, skip). No sign, no blanks.
func (p *parser) count(name string) (*int64, error) {
	at := p.i
	n := digits(p.rest())
	if n == 0 {
		return nil, p.malformed(at, "%s must be a whole number, 0 or more, without a sign", name)
	}
	v, err := strconv.ParseInt(p.text[at:at+n], 10, 64)
	if err != nil {
		return nil, p.malformed(at, "%s must be at most 9223372036854775807", name)
	}
	p.i += n
	return &v, p.atDelimiter(name)
}

// index reads an integer (ABNF index).
func (p *parser) index() (*int64, error) {
	at := p.i
	p.accept('-')
	p.i += digits(p.rest())
	v, err := strconv.ParseInt(p.text[at:p.i], 10, 64)
	if err != nil {
		return nil, p.malformed(at, "$index must be a whole number")
	}
	return &v, nil
}

// levels reads a positive integer or "max" (ABNF levels).
func (p *parser) levels() (int64, error) {
	at := p.i
	if to := p.scanIdent(at); p.wordIs(p.text[at:to], "max") {
		p.i = to
		return LevelsMax, nil
	}
	n := digits(p.rest())
	v, err := strconv.ParseInt(p.text[at:at+n], 10, 64)
	if err != nil || p.text[at] == '0' {
		return 0, p.malformed(at, "$levels must be a whole number from 1, or max")
	}
	p.i += n
	return v, p.atDelimiter("$levels")
}

// boolean reads true or false in any case (ABNF boolean).
func (p *parser) boolean() (*bool, error) {
	at := p.i
	to := p.scanIdent(at)
	word := p.text[at:to]
	v := strings.EqualFold(word, "true")
	if !v && !strings.EqualFold(word, "false") {
		return nil, p.malformed(at, "$count must be true or false")
	}
	p.i = to
	return &v, p.atDelimiter("$count")
}

// atDelimiter fails when text follows a value that is complete.
func (p *parser) atDelimiter(name string) error {
	if c := p.peek(); c == 0 || c == ';' || c == ')' {
		return nil
	}
	return p.malformed(p.i, "unexpected text in the value of %s", name)
}

// opaque reads a value that has no grammar of its own. In an id "+" can only be a
// plus, because an IRI has no spaces.
func (p *parser) opaque(name string) (string, error) {
	if p.i == p.end {
		return "", p.malformed(p.i, "%s needs a value", name)
	}
	value := p.rest()
	if name == "$id" {
		value = p.withPlus()
	}
	p.i = p.end
	return value, nil
}

// withPlus returns the rest with every "+" as it was sent.
func (p *parser) withPlus() string {
	if !strings.Contains(p.rest(), " ") {
		return p.rest()
	}
	b := []byte(p.rest())
	for i, c := range b {
		if c == ' ' && p.sentAs(p.i+i) == '+' {
			b[i] = '+'
		}
	}
	return string(b)
}

// format reads the value of $format: a short name or a media type (ABNF format).
func (p *parser) format() (string, error) {
	value := p.withPlus()
	kind, subtype, isType := strings.Cut(value, "/")
	switch {
	case isType && kind != "" && subtype != "":
	case p.wordIs(value, "json"), p.wordIs(value, "xml"), p.wordIs(value, "atom"):
	default:
		return "", p.malformed(p.i, "$format must be json, xml or a media type such as application/json")
	}
	p.i = p.end
	return value, nil
}

// schemaVersion reads "*" or unreserved characters (ABNF schemaversion).
func (p *parser) schemaVersion() (string, error) {
	value := p.rest()
	ok := value == "*" || value != "" && strings.IndexFunc(value, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._~", r))
	}) < 0
	if !ok {
		return "", p.malformed(p.i, "$schemaversion must be * or made of letters, digits, and -._~")
	}
	p.i = p.end
	return value, nil
}
