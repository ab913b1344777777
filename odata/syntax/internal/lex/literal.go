package lex

import (
	"strconv"
	"strings"
)

// Kind is the lexical form of a literal.
type Kind uint8

// The kinds of literals; package syntax describes them.
const (
	Null Kind = iota
	Boolean
	Integer
	Decimal
	Double
	Single
	String
	GUID
	Date
	DateTimeOffset
	TimeOfDay
	Duration
	Bytes
	Enum
	Geography
	Geometry
)

// Token is a literal.
type Token struct {
	Kind Kind
	Text string
	Type string // the qualified type name of an Enum
}

// Literal consumes a literal if one is next (ABNF primitiveLiteral), else it
// answers false without having moved.
func (p *Cursor) Literal() (Token, bool) {
	switch c := p.Peek(); {
	case c == '\'':
		text := p.Quoted()
		return Token{Kind: String, Text: text}, true
	case IsDigit(c):
		return p.numeric()
	case c == '-' || c == '+':
		if IsDigit(p.PeekAt(p.I+1)) || strings.HasPrefix(p.Rest(), "-INF") && p.ScanIdent(p.I+1) == p.I+4 {
			return p.numeric()
		}
		return Token{}, false
	default:
		return p.wordLiteral()
	}
}

// Quoted consumes 'text'; two quotes inside stand for one. %27 is a quote like
// any other (OData-URL 2.2), so decoding has come first.
func (p *Cursor) Quoted() string {
	from := p.I
	p.I++
	body, doubled := p.I, false
	for {
		n := strings.IndexByte(p.Rest(), '\'')
		if n < 0 {
			panic(p.Malformed(from, "no closing quote; a quote inside text is doubled"))
		}
		p.I += n + 1
		if p.Peek() != '\'' {
			break
		}
		p.I++
		doubled = true
	}
	text := p.Text[body : p.I-1]
	if doubled {
		text = strings.ReplaceAll(text, "''", "'")
	}
	return text
}

// wordLiteral consumes literals that start with a letter: null, booleans, NaN and
// INF, GUIDs, and those with a prefix before the quotes.
func (p *Cursor) wordLiteral() (Token, bool) {
	from := p.I
	if n := scanGUID(p.Rest()); n > 0 {
		return p.guid()
	}
	to := p.ScanIdent(from)
	if to == from {
		return Token{}, false
	}
	for p.PeekAt(to) == '.' {
		part := p.ScanIdent(to + 1)
		if part == to+1 {
			return Token{}, false
		}
		to = part
	}
	word := p.Text[from:to]
	switch p.PeekAt(to) {
	case '\'':
		return p.prefixed(word)
	case '(', '/':
		return Token{}, false
	}
	t := Token{Kind: Null, Text: word}
	switch {
	case word == "null":
	case word == "NaN" || word == "INF":
		t.Kind = Double
	case strings.EqualFold(word, "true"):
		t = Token{Kind: Boolean, Text: "true"}
	case strings.EqualFold(word, "false"):
		t = Token{Kind: Boolean, Text: "false"}
	default:
		return Token{}, false
	}
	p.I = to
	return t, true
}

// prefixed consumes word'...': duration, binary, geography, geometry, or an
// enumeration (ABNF durationLiteral, binaryLiteral, enumLiteral).
func (p *Cursor) prefixed(word string) (Token, bool) {
	from := p.I
	p.I += len(word)
	body := p.I + 1
	text := p.Quoted()
	kind, typeName := Enum, word
	switch lower := strings.ToLower(word); lower {
	case "duration", "binary", "geography", "geometry":
		kind, typeName = prefixKind(lower), ""
	default:
		if !strings.Contains(word, ".") {
			panic(p.Malformed(from, "%s'…' is no literal%s", word, legacyHint(lower)))
		}
	}
	if n := badAt(kind, text); n >= 0 {
		panic(p.Malformed(min(body+n, p.I), "not a valid %s value", word))
	}
	return Token{Kind: kind, Text: text, Type: typeName}, true
}

func prefixKind(lower string) Kind {
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
func badAt(kind Kind, text string) int {
	switch kind {
	case Duration:
		return badDuration(text)
	case Bytes:
		return badBase64(text)
	case Enum:
		return badEnum(text)
	}
	return -1 // geography and geometry are not supported, whatever they hold
}

// badBase64 checks base64url with or without padding (ABNF binaryValue).
func badBase64(s string) int {
	body := strings.TrimRight(s, "=")
	for i := range len(body) {
		c := body[i]
		if !IsDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') && c != '-' && c != '_' {
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
	p := &Cursor{Source: &Source{Raw: s, Text: s}, End: len(s)}
	for {
		from := p.I
		if p.Peek() == '+' || p.Peek() == '-' {
			p.I++
		}
		if n := Digits(p.Rest()); n > 0 {
			if _, err := strconv.ParseInt(p.Text[from:p.I+n], 10, 64); err != nil {
				return from
			}
			p.I += n
		} else if to := p.ScanIdent(p.I); to > p.I && p.I == from {
			p.I = to
		} else {
			return p.I
		}
		if p.I == p.End {
			return -1
		}
		if !p.Accept(',') {
			return p.I
		}
	}
}
