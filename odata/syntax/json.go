package syntax

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// array consumes a JSON array whose items may be any expression (ABNF array).
func (p *parser) array() (Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	at := p.i
	if err := p.node(at); err != nil {
		return nil, err
	}
	l := &List{At: p.rawPos(at), Array: true}
	p.i++
	p.ws()
	if p.accept(']') {
		return l, nil
	}
	err := p.list(func() error {
		item, err := p.jsonValue()
		l.Items = append(l.Items, item)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.ws()
	return l, p.expect(']', "or \",\" in the array")
}

// object consumes a JSON object (ABNF object).
func (p *parser) object() (Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	at := p.i
	if err := p.node(at); err != nil {
		return nil, err
	}
	o := &Object{At: p.rawPos(at)}
	p.i++
	p.ws()
	if p.accept('}') {
		return o, nil
	}
	err := p.list(func() error {
		m := Member{Pos: p.rawPos(p.i)}
		var err error
		if m.Name, err = p.jsonString(); err != nil {
			return err
		}
		p.ws()
		if err = p.expect(':', "behind the member name"); err != nil {
			return err
		}
		p.ws()
		m.Value, err = p.jsonValue()
		o.Members = append(o.Members, m)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.ws()
	return o, p.expect('}', "or \",\" in the object")
}

// jsonValue consumes a string in double quotes or an expression (ABNF valueInUrl).
func (p *parser) jsonValue() (Expr, error) {
	if p.peek() != '"' {
		return p.expr()
	}
	at := p.i
	text, err := p.jsonString()
	return p.newLiteralExpr(at, text, err)
}

func (p *parser) newLiteralExpr(at int, text string, err error) (Expr, error) {
	l, err := p.newLiteral(at, String, text, err)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// jsonString consumes a string in double quotes (ABNF stringInUrl).
func (p *parser) jsonString() (string, error) {
	at := p.i
	if err := p.expect('"', "to start a member name or text"); err != nil {
		return "", err
	}
	from := p.i
	plain := strings.IndexAny(p.rest(), `"\`)
	if plain < 0 {
		return "", p.malformed(at, "no closing double quote")
	}
	if p.text[from+plain] == '"' {
		p.i = from + plain + 1
		return p.text[from : from+plain], nil
	}
	var b []byte
	for p.i < p.end {
		c := p.text[p.i]
		p.i++
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
	return "", p.malformed(at, "no closing double quote")
}

// jsonEscape appends what the escape behind a backslash stands for.
func (p *parser) jsonEscape(b []byte) ([]byte, error) {
	at := p.i
	c := p.peek()
	p.i++
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
		if utf16.IsSurrogate(r) && p.acceptWord(`\u`) {
			r = utf16.DecodeRune(r, p.hex4())
		}
		if r > 0 && r != utf8.RuneError && !utf16.IsSurrogate(r) {
			return utf8.AppendRune(b, r), nil
		}
	}
	p.i = min(p.i, p.end)
	return nil, p.malformed(at-1, "not a valid escape in a JSON string")
}

// hex4 consumes four hexadecimal digits; -1 if they are not there.
func (p *parser) hex4() rune {
	if p.end-p.i < 4 {
		return -1
	}
	n, err := strconv.ParseUint(p.text[p.i:p.i+4], 16, 16)
	if err != nil {
		return -1
	}
	p.i += 4
	return rune(n)
}
