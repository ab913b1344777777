package syntax

import (
	"strconv"
	"strings"
)

// literal consumes a literal or fails.
func (p *parser) literal() (*Literal, error) {
	from := p.i
	l, err := p.tryLiteral()
	if err == nil && l == nil {
		err = p.malformed(from, "expected a literal; text must be in single quotes")
	}
	return l, err
}

// tryLiteral consumes a literal if one is next (ABNF primitiveLiteral), else it
// returns nil without having moved.
func (p *parser) tryLiteral() (*Literal, error) {
	switch c := p.peek(); {
	case c == '\'':
		text, err := p.quoted()
		return p.newLiteral(p.i, String, text, err)
	case isDigit(c):
		return p.numeric()
	case c == '-' || c == '+':
		if isDigit(p.peekAt(p.i+1)) || strings.HasPrefix(p.rest(), "-INF") && p.scanIdent(p.i+1) == p.i+4 {
			return p.numeric()
		}
		return nil, nil
	default:
		return p.wordLiteral()
	}
}

// newLiteral makes a node that ends at the current position.
func (p *parser) newLiteral(from int, kind LiteralKind, text string, err error) (*Literal, error) {
	if err != nil {
		return nil, err
	}
	if err := p.node(from); err != nil {
		return nil, err
	}
	return &Literal{At: p.rawPos(from), Kind: kind, Text: text}, nil
}

// quoted consumes 'text'; two quotes inside stand for one. %27 is a quote like
// any other (OData-URL 2.2), so decoding has come first.
func (p *parser) quoted() (string, error) {
	from := p.i
	p.i++
	body, doubled := p.i, false
	for {
		n := strings.IndexByte(p.rest(), '\'')
		if n < 0 {
			return "", p.malformed(from, "no closing quote; a quote inside text is doubled")
		}
		p.i += n + 1
		if p.peek() != '\'' {
			break
		}
		p.i++
		doubled = true
	}
	text := p.text[body : p.i-1]
	if doubled {
		text = strings.ReplaceAll(text, "''", "'")
	}
	return text, nil
}

// wordLiteral consumes literals that start with a letter: null, booleans, NaN and
// INF, GUIDs, and those with a prefix before the quotes.
func (p *parser) wordLiteral() (*Literal, error) {
	from := p.i
	if n := scanGUID(p.rest()); n > 0 {
		return p.guid()
	}
	to := p.scanIdent(from)
	if to == from {
		return nil, nil
	}
	for p.peekAt(to) == '.' {
		part := p.scanIdent(to + 1)
		if part == to+1 {
			return nil, nil
		}
		to = part
	}
	word := p.text[from:to]
	switch p.peekAt(to) {
	case '\'':
		return p.prefixed(word)
	case '(', '/':
		return nil, nil
	}
	kind, text := Null, word
	switch {
	case word == "null":
	case word == "NaN" || word == "INF":
		kind = Double
	case strings.EqualFold(word, "true"):
		kind, text = Boolean, "true"
	case strings.EqualFold(word, "false"):
		kind, text = Boolean, "false"
	default:
		return nil, nil
	}
	p.i = to
	return p.newLiteral(from, kind, text, nil)
}

// prefixed consumes word'...': duration, binary, geography, geometry, or an
// enumeration (ABNF durationLiteral, binaryLiteral, enumLiteral).
func (p *parser) prefixed(word string) (*Literal, error) {
	from := p.i
	p.i += len(word)
	body := p.i + 1
	text, err := p.quoted()
	if err != nil {
		return nil, err
	}
	kind, typeName := Enum, word
	switch lower := strings.ToLower(word); lower {
	case "duration", "binary", "geography", "geometry":
		kind, typeName = prefixKind(lower), ""
	default:
		if !strings.Contains(word, ".") {
			return nil, p.malformed(from, "%s'…' is no literal%s", word, legacyHint(lower))
		}
	}
	if n := badAt(kind, text); n >= 0 {
		return nil, p.malformed(min(body+n, p.i), "not a valid %s value", word)
	}
	l, err := p.newLiteral(from, kind, text, nil)
	if err == nil {
		l.Type = typeName
	}
	return l, err
}

func prefixKind(lower string) LiteralKind {
	switch lower {
	case "duration":
		return Duration
	case "binary":
		return Bytes
	case "geography":
		return Geography
	default:
		return Geometry
	}
}

// legacyHint helps those who come from OData 2 and 3.
func legacyHint(lower string) string {
	switch lower {
	case "guid", "datetimeoffset":
		return "; write the value without prefix and quotes"
	case "datetime":
		return "; write 2012-09-03T00:00:00Z without prefix and quotes"
	case "time":
		return "; write 13:20:00 for a time of day or duration'PT13H20M'"
	case "x":
		return "; write binary'…' with base64url inside"
	}
	return "; the type name of an enumeration is qualified by its namespace"
}

// badAt returns the position of the first fault in the text between quotes, or -1.
func badAt(kind LiteralKind, text string) int {
	switch kind {
	case Duration:
		return badDuration(text)
	case Bytes:
		return badBase64(text)
	case Enum:
		return badEnum(text)
	default:
		return badGeo(text)
	}
}

// badBase64 checks base64url with or without padding (ABNF binaryValue).
func badBase64(s string) int {
	body := strings.TrimRight(s, "=")
	for i := 0; i < len(body); i++ {
		c := body[i]
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') && c != '-' && c != '_' {
			return i
		}
	}
	last := ""
	if len(body) > 0 {
		last = body[len(body)-1:]
	}
	padding := len(s) - len(body)
	switch len(body) % 4 {
	case 0:
		if padding == 0 {
			return -1
		}
	case 2: // four of the last six bits must be zero
		if (padding == 0 || padding == 2) && strings.Contains("AQgw", last) {
			return -1
		}
	case 3: // two of them
		if padding <= 1 && strings.Contains("AEIMQUYcgkosw048", last) {
			return -1
		}
	}
	return len(body)
}

// badEnum checks member names or numbers separated by commas (ABNF enumValue).
func badEnum(s string) int {
	p := &parser{source: &source{raw: s, text: s}, end: len(s)}
	for {
		from := p.i
		if p.peek() == '+' || p.peek() == '-' {
			p.i++
		}
		if n := digits(p.rest()); n > 0 {
			if _, err := strconv.ParseInt(p.text[from:p.i+n], 10, 64); err != nil {
				return from
			}
			p.i += n
		} else if to := p.scanIdent(p.i); to > p.i && p.i == from {
			p.i = to
		} else {
			return p.i
		}
		if p.i == p.end {
			return -1
		}
		if !p.accept(',') {
			return p.i
		}
	}
}
