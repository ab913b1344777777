package payload

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON (RFC 8259) token by token, with positions.
type scanner struct {
	text []byte
	at   int
}

// tokenKind is the sort of a token.
type tokenKind uint8

// The kinds of tokens.
const (
	text tokenKind = iota
	number
	truth
	nothing
	opening // of an object or an array, which is not read
)

// token is a value that is no structure. text is decoded, number and truth are as they are.
type token struct {
	kind tokenKind
	text []byte
}

func (s *scanner) fault(pos int, what string) error { return &BodyError{Pos: pos, Message: what} }

// valid reports the first byte that is no UTF-8.
func (s *scanner) valid() error {
	if utf8.Valid(s.text) {
		return nil
	}
	for i := 0; i < len(s.text); {
		r, n := utf8.DecodeRune(s.text[i:])
		if r == utf8.RuneError && n == 1 {
			return s.fault(i, "the body is not UTF-8")
		}
		i += n
	}
	return nil
}

// blank passes over white space.
func (s *scanner) blank() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// peek returns the next byte; 0 at the end.
func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *scanner) want(c byte, what string) error {
	s.blank()
	if s.peek() != c {
		return s.fault(s.at, "the body needs "+what+" here")
	}
	s.at++
	return nil
}

// end demands that nothing but white space is left.
func (s *scanner) end() error {
	if s.blank(); s.at < len(s.text) {
		return s.fault(s.at, "there is something behind the end of the object")
	}
	return nil
}

// token reads a value. Of a structure it reads nothing.
func (s *scanner) token() (token, error) {
	s.blank()
	switch c := s.peek(); {
	case c == '"':
		return s.string()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == '{' || c == '[':
		return token{kind: opening}, nil
	}
	for _, word := range []struct {
		text string
		kind tokenKind
	}{{"true", truth}, {"false", truth}, {"null", nothing}} {
		if len(s.text)-s.at >= len(word.text) && string(s.text[s.at:s.at+len(word.text)]) == word.text {
			t := token{kind: word.kind, text: s.text[s.at : s.at+len(word.text)]}
			s.at += len(word.text)
			return t, nil
		}
	}
	if s.at >= len(s.text) {
		return token{}, s.fault(s.at, "the body ends too early")
	}
	return token{}, s.fault(s.at, "the body is not JSON")
}

func (s *scanner) number() (token, error) {
	start := s.at
	digits := func() bool {
		from := s.at
		for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
			s.at++
		}
		return s.at > from
	}
	if s.peek() == '-' {
		s.at++
	}
	zero := s.peek() == '0'
	whole := s.at
	ok := digits() && (!zero || s.at == whole+1)
	if ok && s.peek() == '.' {
		s.at++
		ok = digits()
	}
	if c := s.peek(); ok && (c == 'e' || c == 'E') {
		s.at++
		if c := s.peek(); c == '+' || c == '-' {
			s.at++
		}
		ok = digits()
	}
	if !ok {
		return token{}, s.fault(start, "the number is malformed")
	}
	return token{kind: number, text: s.text[start:s.at]}, nil
}

// string reads a string. Its bytes are those of the body where it has no escapes.
func (s *scanner) string() (token, error) {
	s.at++
	start := s.at
	var out []byte
	for copied := start; ; {
		switch c := s.peek(); {
		case s.at >= len(s.text):
			return token{}, s.fault(start-1, "the string has no end")
		case c < 0x20:
			return token{}, s.fault(s.at, "a control character in a string has to be escaped")
		case c == '"':
			t := token{kind: text, text: s.text[start:s.at]}
			if out != nil {
				t.text = append(out, s.text[copied:s.at]...)
			}
			s.at++
			return t, nil
		case c == '\\':
			if out = append(out, s.text[copied:s.at]...); out == nil {
				out = []byte{}
			}
			var err error
			if out, err = s.escape(out); err != nil {
				return token{}, err
			}
			copied = s.at
		default:
			s.at++
		}
	}
}

// escape reads an escape sequence and appends what it means.
func (s *scanner) escape(out []byte) ([]byte, error) {
	start := s.at
	s.at++
	c := s.peek()
	s.at++
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
		if ok && utf16.IsSurrogate(r) {
			low := rune(-1)
			if s.peek() == '\\' && s.at+1 < len(s.text) && s.text[s.at+1] == 'u' {
				s.at += 2
				low, ok = s.hex()
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				ok = false
			}
		}
		if ok {
			return utf8.AppendRune(out, r), nil
		}
	}
	return nil, s.fault(start, "the escape sequence is malformed")
}

func (s *scanner) hex() (rune, bool) {
	if len(s.text)-s.at < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s.text[s.at:s.at+4]), 16, 16)
	s.at += 4
	return rune(n), err == nil
}

// skip passes over a value.
func (s *scanner) skip(depth int) error {
	t, err := s.token()
	if err != nil || t.kind != opening {
		return err
	}
	if depth > maxBodyDepth {
		return s.fault(s.at, "the body nests too deep")
	}
	closing := byte(']')
	if s.peek() == '{' {
		closing = '}'
	}
	s.at++
	if s.blank(); s.peek() == closing {
		s.at++
		return nil
	}
	for {
		if closing == '}' {
			pos := s.at
			if name, err := s.token(); err != nil {
				return err
			} else if name.kind != text {
				return s.fault(pos, "the name of a member is missing")
			}
			if err := s.want(':', "a colon"); err != nil {
				return err
			}
		}
		if err := s.skip(depth + 1); err != nil {
			return err
		}
		s.blank()
		switch s.peek() {
		case ',':
			s.at++
			s.blank()
		case closing:
			s.at++
			return nil
		default:
			return s.fault(s.at, "a comma or the end is missing")
		}
	}
}
