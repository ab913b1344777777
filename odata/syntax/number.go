package syntax

import (
	"strconv"
	"strings"
)

// numeric consumes what starts with a digit or a sign: numbers, GUIDs, dates,
// times. Numbers stay text, so that decimals keep every digit.
func (p *parser) numeric() (*Literal, error) {
	s := p.rest()
	if scanGUID(s) > 0 {
		return p.guid()
	}
	if n := scanDate(s); n > 0 {
		return p.dateOrTimestamp(n)
	}
	if n := scanTime(s); n > 0 {
		return p.finish(p.i+n, TimeOfDay, s[:n])
	}
	return p.number()
}

// finish consumes up to position to, where the literal must end.
func (p *parser) finish(to int, kind LiteralKind, text string) (*Literal, error) {
	from := p.i
	p.i = to
	switch c := p.peek(); {
	case c == '.' || c == '\'' || isDigit(c) || p.scanIdent(to) > to:
		if kind <= Double && (c|0x20 == 'l' || c|0x20 == 'm' || c|0x20 == 'f' || c|0x20 == 'd') {
			return nil, p.malformed(to, "numbers have no suffix since OData 4.0; leave it out")
		}
		return nil, p.malformed(to, "%q cannot follow %s", c, p.text[from:to])
	}
	return p.newLiteral(from, kind, text, nil)
}

// number consumes a number (ABNF decimalLiteral and what is built on it).
func (p *parser) number() (*Literal, error) {
	from, i, kind := p.i, p.i, Integer
	if c := p.peek(); c == '+' || c == '-' {
		i++
	}
	if strings.HasPrefix(p.text[i:p.end], "INF") { // only ever behind "-"
		return p.finish(i+3, Double, p.text[from:i+3])
	}
	i += digits(p.text[i:p.end])
	if p.peekAt(i) == '.' {
		n := digits(p.text[i+1 : p.end])
		if n == 0 {
			return nil, p.malformed(i, "a digit must follow the decimal point")
		}
		i, kind = i+1+n, Decimal
	}
	text := strings.TrimPrefix(p.text[from:i], "+")
	if p.peekAt(i)|0x20 == 'e' {
		exponent := i + 1
		sign := p.sign(exponent)
		if sign != "" {
			exponent++
		}
		n := digits(p.text[exponent:p.end])
		if n == 0 {
			return nil, p.malformed(i, "a digit must follow the exponent")
		}
		i, kind = exponent+n, Double
		text += "e" + strings.TrimPrefix(sign, "+") + p.text[exponent:i]
	}
	if kind == Integer && len(text) > 18 {
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			kind = Decimal
		}
	}
	return p.finish(i, kind, text)
}

// sign returns "+", "-" or "" for the byte at i. In a query a plain "+" has become
// a space; inside a literal, where no space can be, it still is the sign that the
// grammar allows (ABNF SIGN).
func (p *parser) sign(i int) string {
	switch p.peekAt(i) {
	case '+':
		return "+"
	case '-':
		return "-"
	case ' ':
		if p.sentAs(i) == '+' {
			return "+"
		}
	}
	return ""
}

func (p *parser) guid() (*Literal, error) {
	n := p.i + guidLength
	return p.finish(n, GUID, p.text[p.i:n])
}

const guidLength = 36

// scanGUID returns the length of a GUID at the start of s, else 0 (ABNF guid).
func scanGUID(s string) int {
	if len(s) < guidLength || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return 0
	}
	for i := 0; i < guidLength; i++ {
		if i != 8 && i != 13 && i != 18 && i != 23 && !isHex(s[i]) {
			return 0
		}
	}
	return guidLength
}

// digits counts the digits at the start of s.
func digits(s string) int {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}
