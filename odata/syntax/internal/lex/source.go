package lex

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// Source is the input with its percent-encoding undone, and the way back from a
// decoded position to the raw one. Delimiters keep their places relative to the
// rest, so that the input can be split raw and parsed decoded (OData-URL 2.2).
type Source struct {
	Raw  string // as sent
	Text string // decoded
	// escapes are the positions in Text of the bytes that were written %XX.
	escapes []int32
}

// Decode undoes the percent-encoding of raw. Before offset query "+" is a plus,
// from there on a space.
func Decode(raw string, query int) (*Source, error) {
	s := &Source{Raw: raw, Text: raw}
	percents := strings.Count(raw, "%")
	if percents == 0 && !strings.Contains(raw[query:], "+") {
		return s, s.check()
	}
	if percents > 0 {
		s.escapes = make([]int32, 0, percents)
	}
	var b strings.Builder
	b.Grow(max(0, len(raw)-2*percents)) // negative only when escapes are bad
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case c == '%':
			if i+2 >= len(raw) || !isHex(raw[i+1]) || !isHex(raw[i+2]) {
				return nil, s.FailRaw(i, CodeEncoding, "%% must be followed by two hexadecimal digits; a percent sign itself is %%25")
			}
			s.escapes = append(s.escapes, int32(b.Len()))
			c = unhex(raw[i+1])<<4 | unhex(raw[i+2])
			i += 2
		case c == '+' && i >= query:
			c = ' '
		}
		b.WriteByte(c)
	}
	s.Text = b.String()
	return s, s.check()
}

// Plain is for input that is not percent-encoded.
func Plain(raw string) (*Source, error) {
	s := &Source{Raw: raw, Text: raw}
	return s, s.check()
}

// check refuses what no name or value can hold: control characters other than tab and
// line breaks outside of the quotes of a string, and NUL, which PostgreSQL has not.
func (s *Source) check() error {
	quoted := false
	for i := range len(s.Text) {
		c := s.Text[i]
		if c == '\'' {
			quoted = !quoted
		}
		control := c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f
		if control && (c == 0 || !quoted) {
			return s.Fail(i, CodeEncoding, "control character U+%04X is not allowed", c)
		}
	}
	if utf8.ValidString(s.Text) {
		return nil
	}
	for i := 0; i < len(s.Text); {
		r, n := utf8.DecodeRuneInString(s.Text[i:])
		if r == utf8.RuneError && n == 1 {
			return s.Fail(i, CodeEncoding, "not valid UTF-8")
		}
		i += n
	}
	return nil
}

// RawPos maps a position in text to the one in raw.
func (s *Source) RawPos(pos int) int {
	if len(s.escapes) == 0 {
		return pos
	}
	n := sort.Search(len(s.escapes), func(i int) bool { return int(s.escapes[i]) >= pos })
	return pos + 2*n
}

// SentAs tells the raw byte at a position of text: '%' when it was escaped.
func (s *Source) SentAs(pos int) byte {
	if raw := s.RawPos(pos); raw < len(s.Raw) {
		return s.Raw[raw]
	}
	return 0
}

// Fail makes an error at a position of Text.
func (s *Source) Fail(pos int, code, format string, args ...any) error {
	return s.FailRaw(s.RawPos(pos), code, format, args...)
}

// FailRaw makes an error at a position of Raw.
func (s *Source) FailRaw(pos int, code, format string, args ...any) error {
	pos = min(pos, len(s.Raw))
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = clip(text, maxQuoted)
		}
	}
	return &SyntaxError{Pos: pos, Code: code, Msg: fmt.Sprintf(format, args...), Near: clip(s.Raw[pos:], maxNear)}
}

// clip cuts text that is too long, and shows that it did.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// OffsetMap maps positions in Raw to positions in Text, in ascending order.
type OffsetMap struct {
	src      *Source
	raw, dec int
}

// NewOffsetMap returns an OffsetMap at the start of s.
func NewOffsetMap(s *Source) *OffsetMap { return &OffsetMap{src: s} }

// Raw is the raw position of the last call of At.
func (s *OffsetMap) Raw() int { return s.raw }

// At returns the position in Text of the raw position, which must not be before
// that of the last call.
func (s *OffsetMap) At(raw int) int {
	part := s.src.Raw[s.raw:raw]
	s.dec += len(part)
	if len(s.src.escapes) > 0 {
		s.dec -= 2 * strings.Count(part, "%")
	}
	s.raw = raw
	return s.dec
}

func isHex(c byte) bool {
	return IsDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func unhex(c byte) byte {
	if IsDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// IsDigit tells whether c is a decimal digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }
