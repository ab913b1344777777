package lex

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSONString consumes a string in double quotes (ABNF stringInUrl).
func (p *Cursor) JSONString() string {
	at := p.I
	p.Expect('"', "to start a member name or text")
	from := p.I
	plain := strings.IndexAny(p.Rest(), `"\`)
	if plain < 0 {
		panic(p.Malformed(at, "no closing double quote"))
	}
	if p.Text[from+plain] == '"' {
		p.I = from + plain + 1
		return p.Text[from : from+plain]
	}
	var b []byte
	for p.I < p.End {
		c := p.Text[p.I]
		p.I++
		switch c {
		case '"':
			return string(b)
		case '\\':
			b = p.jsonEscape(b)
		default:
			b = append(b, c)
		}
	}
	panic(p.Malformed(at, "no closing double quote"))
}

// jsonEscape appends what the escape behind a backslash stands for.
func (p *Cursor) jsonEscape(b []byte) []byte {
	at := p.I
	c := p.Peek()
	p.I++
	switch c {
	case '"', '\\', '/':
		return append(b, c)
	case 'b':
		return append(b, '\b')
	case 'f':
		return append(b, '\f')
	case 'n':
		return append(b, '\n')
	case 'r':
		return append(b, '\r')
	case 't':
		return append(b, '\t')
	case 'u':
		r := p.hex4()
		if utf16.IsSurrogate(r) && p.AcceptWord(`\u`) {
			r = utf16.DecodeRune(r, p.hex4())
		}
		if r > 0 && r != utf8.RuneError && !utf16.IsSurrogate(r) {
			return utf8.AppendRune(b, r)
		}
	}
	p.I = min(p.I, p.End)
	panic(p.Malformed(at-1, "not a valid escape in a JSON string"))
}

// hex4 consumes four hexadecimal digits; -1 if they are not there.
func (p *Cursor) hex4() rune {
	if p.End-p.I < 4 {
		return -1
	}
	n, err := strconv.ParseUint(p.Text[p.I:p.I+4], 16, 16)
	if err != nil {
		return -1
	}
	p.I += 4
	return rune(n)
}
