package lex

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSONString consumes a string in double quotes (ABNF stringInUrl).
func (p *Cursor) JSONString() (string, error) {
	at := p.I
	if err := p.Expect('"', "to start a member name or text"); err != nil {
		return "", err
	}
	from := p.I
	plain := strings.IndexAny(p.Rest(), `"\`)
	if plain < 0 {
		return "", p.Malformed(at, "no closing double quote")
	}
	if p.Text[from+plain] == '"' {
		p.I = from + plain + 1
		return p.Text[from : from+plain], nil
	}
	var b []byte
	for p.I < p.End {
		c := p.Text[p.I]
		p.I++
		switch c {
		case '"':
			return string(b), nil
		case '\\':
			var err error
			if b, err = p.jsonEscape(b); err != nil {
				return "", err
			}
		default:
			b = append(b, c)
		}
	}
	return "", p.Malformed(at, "no closing double quote")
}

// jsonEscape appends what the escape behind a backslash stands for.
func (p *Cursor) jsonEscape(b []byte) ([]byte, error) {
	at := p.I
	c := p.Peek()
	p.I++
	switch c {
	case '"', '\\', '/':
		return append(b, c), nil
	case 'b':
		return append(b, '\b'), nil
	case 'f':
		return append(b, '\f'), nil
	case 'n':
		return append(b, '\n'), nil
	case 'r':
		return append(b, '\r'), nil
	case 't':
		return append(b, '\t'), nil
	case 'u':
		r := p.hex4()
		if utf16.IsSurrogate(r) && p.AcceptWord(`\u`) {
			r = utf16.DecodeRune(r, p.hex4())
		}
		if r > 0 && r != utf8.RuneError && !utf16.IsSurrogate(r) {
			return utf8.AppendRune(b, r), nil
		}
	}
	p.I = min(p.I, p.End)
	return nil, p.Malformed(at-1, "not a valid escape in a JSON string")
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
