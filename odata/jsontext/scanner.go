package jsontext

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Scanner reads a text from At on. It is for one goroutine.
type Scanner struct {
	Text []byte
	At   int
}

// Kind is the sort of a token.
type Kind uint8

// The kinds of tokens.
const (
	String Kind = iota
	Number
	Truth
	Null
	Opening // of an object or an array, which is not read
)

// Token is a value that is no structure. Text is decoded for a String; a Number and a Truth are as they are. Text may be a part of
// Scanner.Text.
type Token struct {
	Kind Kind
	Text []byte
}

// Fault holds the reason for which a text is malformed. Its message is for the client.
type Fault struct { //nolint:errname // as write.Refusal
	// Pos is the byte offset in the text.
	Pos     int
	Message string
}

// Error is the message with its place.
func (f *Fault) Error() string { return fmt.Sprintf("%s at byte %d", f.Message, f.Pos) }

func fault(pos int, what string) error { return &Fault{pos, what} }

// Valid returns the fault of the first byte that is no UTF-8.
func (s *Scanner) Valid() error {
	if utf8.Valid(s.Text) {
		return nil
	}
	for i := 0; i < len(s.Text); {
		r, n := utf8.DecodeRune(s.Text[i:])
		if r == utf8.RuneError && n == 1 {
			return fault(i, "the body is not UTF-8")
		}
		i += n
	}
	return nil
}

// Peek passes over white space and returns the next byte; 0 at the end.
func (s *Scanner) Peek() byte {
	for s.At < len(s.Text) {
		switch c := s.Text[s.At]; c {
		case ' ', '\t', '\n', '\r':
			s.At++
		default:
			return c
		}
	}
	return 0
}

// next returns the next byte; 0 at the end.
func (s *Scanner) next() byte {
	if s.At < len(s.Text) {
		return s.Text[s.At]
	}
	return 0
}

func (s *Scanner) want(c byte, what string) error {
	if s.Peek() != c {
		return fault(s.At, "the body needs "+what+" here")
	}
	s.At++
	return nil
}

// End demands that nothing but white space is left.
func (s *Scanner) End() error {
	if s.Peek(); s.At < len(s.Text) {
		return fault(s.At, "there is something behind the end of the object")
	}
	return nil
}

// Token reads a value. Of a structure it reads nothing.
func (s *Scanner) Token() (Token, error) { return s.token(false) }

// token reads a value. With halves, half of a surrogate pair in a string is U+FFFD.
func (s *Scanner) token(halves bool) (Token, error) {
	switch c := s.Peek(); {
	case c == '"':
		return s.string(halves)
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == '{' || c == '[':
		return Token{Kind: Opening}, nil
	}
	for _, word := range [...]struct {
		text string
		kind Kind
	}{{"true", Truth}, {"false", Truth}, {"null", Null}} {
		if len(s.Text)-s.At >= len(word.text) && string(s.Text[s.At:s.At+len(word.text)]) == word.text {
			t := Token{Kind: word.kind, Text: s.Text[s.At : s.At+len(word.text)]}
			s.At += len(word.text)
			return t, nil
		}
	}
	if s.At >= len(s.Text) {
		return Token{}, fault(s.At, "the body ends too early")
	}
	return Token{}, fault(s.At, "the body is not JSON")
}

func (s *Scanner) number() (Token, error) {
	start := s.At
	digits := func() bool {
		from := s.At
		for c := s.next(); c >= '0' && c <= '9'; c = s.next() {
			s.At++
		}
		return s.At > from
	}
	if s.next() == '-' {
		s.At++
	}
	zero := s.next() == '0'
	whole := s.At
	ok := digits() && (!zero || s.At == whole+1)
	if ok && s.next() == '.' {
		s.At++
		ok = digits()
	}
	if c := s.next(); ok && (c == 'e' || c == 'E') {
		s.At++
		if c := s.next(); c == '+' || c == '-' {
			s.At++
		}
		ok = digits()
	}
	if !ok {
		return Token{}, fault(start, "the number is malformed")
	}
	return Token{Kind: Number, Text: s.Text[start:s.At]}, nil
}

// string reads a string. Its bytes are those of the text where it has no escapes.
func (s *Scanner) string(halves bool) (Token, error) {
	s.At++
	start := s.At
	var out []byte
	for copied := start; ; {
		switch c := s.next(); {
		case s.At >= len(s.Text):
			return Token{}, fault(start-1, "the string has no end")
		case c < 0x20:
			return Token{}, fault(s.At, "a control character in a string has to be escaped")
		case c == '"':
			t := Token{Kind: String, Text: s.Text[start:s.At:s.At]}
			if out != nil {
				t.Text = append(out, s.Text[copied:s.At]...)
			}
			s.At++
			return t, nil
		case c == '\\':
			if out = append(out, s.Text[copied:s.At]...); out == nil {
				out = []byte{}
			}
			var err error
			if out, err = s.escape(out, halves); err != nil {
				return Token{}, err
			}
			copied = s.At
		default:
			for s.At++; s.At < len(s.Text); s.At++ {
				if c := s.Text[s.At]; c < 0x20 || c == '"' || c == '\\' {
					break
				}
			}
		}
	}
}

// escape reads an escape sequence and appends what it means.
func (s *Scanner) escape(out []byte, halves bool) ([]byte, error) {
	start := s.At
	s.At++
	if s.At >= len(s.Text) {
		return nil, fault(start, "the escape sequence is malformed")
	}
	c := s.Text[s.At]
	s.At++
	switch c {
	case '"', '\\', '/':
		return append(out, c), nil
	case 'b':
		return append(out, '\b'), nil
	case 'f':
		return append(out, '\f'), nil
	case 'n':
		return append(out, '\n'), nil
	case 'r':
		return append(out, '\r'), nil
	case 't':
		return append(out, '\t'), nil
	case 'u':
		r, ok := s.hex()
		if !ok {
			break
		}
		if utf16.IsSurrogate(r) {
			if r = s.pair(r); r == utf8.RuneError && !halves {
				return nil, fault(start, "half of a surrogate pair is no character: the string is malformed")
			}
		}
		return utf8.AppendRune(out, r), nil
	}
	return nil, fault(start, "the escape sequence is malformed")
}

// pair returns the character of which high is the first half, if the second one follows; else U+FFFD, and reads nothing.
func (s *Scanner) pair(high rune) rune {
	start := s.At
	if !bytes.HasPrefix(s.Text[s.At:], []byte(`\u`)) {
		return utf8.RuneError
	}
	s.At += len(`\u`)
	low, ok := s.hex()
	r := utf16.DecodeRune(high, low)
	if !ok || r == utf8.RuneError {
		s.At = start
		return utf8.RuneError
	}
	return r
}

func (s *Scanner) hex() (rune, bool) {
	if len(s.Text)-s.At < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s.Text[s.At:s.At+4]), 16, 16)
	s.At += 4
	return rune(n), err == nil
}
