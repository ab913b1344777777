package lex

import (
	"strconv"
	"strings"
)

// numeric consumes what starts with a digit or a sign: numbers, GUIDs, dates,
// times. Numbers stay text, so that decimals keep every digit.
func (p *Cursor) numeric() (Token, bool) {
	s := p.Rest()
	if scanGUID(s) > 0 {
		return p.guid()
	}
	if n := scanDate(s); n > 0 {
		return p.dateOrTimestamp(n)
	}
	if n := scanTime(s); n > 0 {
		return p.finish(p.I+n, TimeOfDay, s[:n])
	}
	return p.number()
}

// finish consumes up to position to, where the literal must end.
func (p *Cursor) finish(to int, kind Kind, text string) (Token, bool) {
	from := p.I
	p.I = to
	switch c := p.Peek(); {
	case c == '.' || c == '\'' || IsDigit(c) || p.ScanIdent(to) > to:
		panic(p.Malformed(to, "%q cannot follow %s", c, p.Text[from:to]))
	}
	return Token{Kind: kind, Text: text}, true
}

// number consumes a number (ABNF decimalLiteral and what is built on it).
func (p *Cursor) number() (Token, bool) {
	from, i, kind := p.I, p.I, Integer
	if c := p.Peek(); c == '+' || c == '-' {
		i++
	}
	if strings.HasPrefix(p.Text[i:p.End], "INF") { // only ever behind "-"
		return p.finish(i+3, Double, p.Text[from:i+3])
	}
	i += Digits(p.Text[i:p.End])
	if p.PeekAt(i) == '.' {
		n := Digits(p.Text[i+1 : p.End])
		if n == 0 {
			panic(p.Malformed(i, "a digit must follow the decimal point"))
		}
		i, kind = i+1+n, Decimal
	}
	text := strings.TrimPrefix(p.Text[from:i], "+")
	if p.PeekAt(i)|0x20 == 'e' {
		exponent := i + 1
		sign := p.sign(exponent)
		if sign != "" {
			exponent++
		}
		n := Digits(p.Text[exponent:p.End])
		if n == 0 {
			panic(p.Malformed(i, "a digit must follow the exponent"))
		}
		i, kind = exponent+n, Double
		text += "e" + strings.TrimPrefix(sign, "+") + p.Text[exponent:i]
	}
	if kind == Integer && len(text) > 18 {
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			kind = Decimal
		}
	}
	if as, ok := suffixKind(p.PeekAt(i), kind); ok {
		i, kind = i+1, as
	}
	return p.finish(i, kind, text)
}

// suffixKind gives the kind that the letter behind a number of some kind asks for,
// as OData 2 had them and SAP Cloud SDK, DevExtreme and others go on sending: 5L is
// an Edm.Int64, 400m an Edm.Decimal, 1.5d an Edm.Double, 2f an Edm.Single, each in
// either case.
func suffixKind(c byte, kind Kind) (Kind, bool) {
	switch c | 0x20 {
	case 'l':
		return Integer, kind == Integer
	case 'm':
		return Decimal, true
	case 'd':
		return Double, true
	case 'f':
		return Single, true
	}
	return kind, false
}

// sign returns "+", "-" or "" for the byte at i. In a query a plain "+" has become
// a space; inside a literal, where no space can be, it still is the sign that the
// grammar allows (ABNF SIGN).
func (p *Cursor) sign(i int) string {
	switch p.PeekAt(i) {
	case '+':
		return "+"
	case '-':
		return "-"
	case ' ':
		if p.SentAs(i) == '+' {
			return "+"
		}
	}
	return ""
}

func (p *Cursor) guid() (Token, bool) {
	n := p.I + guidLength
	return p.finish(n, GUID, p.Text[p.I:n])
}

const guidLength = 36

// scanGUID returns the length of a GUID at the start of s, else 0 (ABNF guid).
func scanGUID(s string) int {
	if len(s) < guidLength || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return 0
	}
	for i := range guidLength {
		if i != 8 && i != 13 && i != 18 && i != 23 && !isHex(s[i]) {
			return 0
		}
	}
	return guidLength
}

// Digits counts the digits at the start of s.
func Digits(s string) int {
	i := 0
	for i < len(s) && IsDigit(s[i]) {
		i++
	}
	return i
}
