package syntax

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// source is the input with its percent-encoding undone, and the way back from a
// decoded position to the raw one. Delimiters keep their places relative to the
// rest, so that the input can be split raw and parsed decoded (OData-URL 2.2).
type source struct {
	raw, text string
	// escapes are the positions in text of the bytes that were written %XX.
	escapes []int32
}

// newSource decodes raw. Before offset query "+" is a plus, from there on a space.
func newSource(raw string, query int, o Options) (*source, error) {
	s := &source{raw: raw, text: raw}
	if limit := o.maxLength(); len(raw) > limit {
		return nil, s.failRaw(limit, codeLimit, "the request is longer than %d bytes", limit)
	}
	percents := strings.Count(raw, "%")
	if percents == 0 && !strings.Contains(raw[query:], "+") {
		return s, s.check()
	}
	if percents > 0 {
		s.escapes = make([]int32, 0, percents)
	}
	var b strings.Builder
	b.Grow(len(raw) - 2*percents + 2)
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case c == '%':
			if i+2 >= len(raw) || !isHex(raw[i+1]) || !isHex(raw[i+2]) {
				return nil, s.failRaw(i, codeEncoding, "%% must be followed by two hexadecimal digits; a percent sign itself is %%25")
			}
			s.escapes = append(s.escapes, int32(b.Len()))
			c = unhex(raw[i+1])<<4 | unhex(raw[i+2])
			i += 2
		case c == '+' && i >= query:
			c = ' '
		}
		b.WriteByte(c)
	}
	s.text = b.String()
	return s, s.check()
}

// plainSource is for input that is not percent-encoded.
func plainSource(raw string, o Options) (*source, error) {
	s := &source{raw: raw, text: raw}
	if limit := o.maxLength(); len(raw) > limit {
		return nil, s.failRaw(limit, codeLimit, "the expression is longer than %d bytes", limit)
	}
	return s, s.check()
}

// check refuses what no name or value can hold. Tab and line breaks may be part
// of a string, other control characters are refused: PostgreSQL has no NUL, and
// logs want none of them.
func (s *source) check() error {
	for i := 0; i < len(s.text); i++ {
		c := s.text[i]
		if (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7f {
			return s.fail(i, codeEncoding, "control character U+%04X is not allowed", c)
		}
	}
	if utf8.ValidString(s.text) {
		return nil
	}
	for i := 0; i < len(s.text); {
		r, n := utf8.DecodeRuneInString(s.text[i:])
		if r == utf8.RuneError && n == 1 {
			return s.fail(i, codeEncoding, "not valid UTF-8")
		}
		i += n
	}
	return nil
}

// rawPos maps a position in text to the one in raw.
func (s *source) rawPos(pos int) int {
	if len(s.escapes) == 0 {
		return pos
	}
	n := sort.Search(len(s.escapes), func(i int) bool { return int(s.escapes[i]) >= pos })
	return pos + 2*n
}

// sentAs tells the raw byte at a position of text: '%' when it was escaped.
func (s *source) sentAs(pos int) byte {
	if raw := s.rawPos(pos); raw < len(s.raw) {
		return s.raw[raw]
	}
	return 0
}

func (s *source) fail(pos int, code, format string, args ...any) error {
	return s.failRaw(s.rawPos(pos), code, format, args...)
}

func (s *source) failRaw(pos int, code, format string, args ...any) error {
	pos = min(pos, len(s.raw))
	near := s.raw[pos:]
	if len(near) > maxNear {
		near = near[:maxNear] + "…"
	}
	return &Error{Pos: pos, Code: code, Msg: fmt.Sprintf(format, args...), Near: near}
}

// splitter walks over raw in order and tells the positions in text.
type splitter struct {
	src      *source
	raw, dec int
}

// at returns the position in text of the raw position, which must not be before
// that of the last call.
func (s *splitter) at(raw int) int {
	part := s.src.raw[s.raw:raw]
	s.dec += len(part)
	if len(s.src.escapes) > 0 {
		s.dec -= 2 * strings.Count(part, "%")
	}
	s.raw = raw
	return s.dec
}

func isHex(c byte) bool {
	return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
