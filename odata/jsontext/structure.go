package jsontext

import (
	"bytes"
	"fmt"
)

// Object visits the members of an object; visit must read the value. No name may be there twice. fold returns the common spelling
// of names that count as the same; nil compares them as they are.
func (s *Scanner) Object(fold func(name []byte) []byte, visit func(name []byte, pos int) error) error {
	if err := s.want('{', "an object"); err != nil {
		return err
	}
	if s.Peek() == '}' {
		s.At++
		return nil
	}
	var seen names
	for {
		s.Peek()
		pos := s.At
		name, err := s.name()
		if err != nil {
			return err
		}
		short := name
		if fold != nil {
			short = fold(name)
		}
		if !seen.add(short) {
			return fault(pos, fmt.Sprintf("%.80q is there twice", name))
		}
		if err := visit(name, pos); err != nil {
			return err
		}
		if more, err := s.more('}', "a comma or the end of the object is missing"); !more {
			return err
		}
	}
}

// name reads the name of a member, and the colon behind it.
func (s *Scanner) name() ([]byte, error) {
	s.Peek()
	pos := s.At
	t, err := s.Token()
	if err != nil {
		return nil, err
	}
	if t.Kind != String {
		return nil, fault(pos, "the name of a member is missing")
	}
	return t.Text, s.want(':', "a colon")
}

// Array visits the elements of an array; visit must read them.
func (s *Scanner) Array(visit func(i int) error) error {
	if err := s.want('[', "an array"); err != nil {
		return err
	}
	if s.Peek() == ']' {
		s.At++
		return nil
	}
	for i := 0; ; i++ {
		if err := visit(i); err != nil {
			return err
		}
		if more, err := s.more(']', "a comma or the end of the array is missing"); !more {
			return err
		}
	}
}

// more reads a comma or the end of a structure, and reports whether it was a comma.
func (s *Scanner) more(closing byte, missing string) (bool, error) {
	switch s.Peek() {
	case ',':
		s.At++
		return true, nil
	case closing:
		s.At++
		return false, nil
	}
	return false, fault(s.At, missing)
}

// Skip passes over a value whose structures nest at most so deep. What is in its strings has to be text.
func (s *Scanner) Skip(depth int) error { return s.skip(depth, false) }

// Raw passes over a value like Skip and returns its bytes. Somebody else decides on half of a surrogate pair in its strings, and on members
// that are there twice.
func (s *Scanner) Raw(depth int) ([]byte, error) {
	s.Peek()
	start := s.At
	if err := s.skip(depth, true); err != nil {
		return nil, err
	}
	return s.Text[start:s.At:s.At], nil
}

func (s *Scanner) skip(depth int, halves bool) error {
	t, err := s.token(halves)
	if err != nil || t.Kind != Opening {
		return err
	}
	if depth == 0 {
		return fault(s.At, "the body nests too deep")
	}
	closing := byte(']')
	if s.next() == '{' {
		closing = '}'
	}
	s.At++
	if s.Peek() == closing {
		s.At++
		return nil
	}
	for {
		if closing == '}' {
			s.Peek()
			pos := s.At
			if name, err := s.token(halves); err != nil {
				return err
			} else if name.Kind != String {
				return fault(pos, "the name of a member is missing")
			}
			if err := s.want(':', "a colon"); err != nil {
				return err
			}
		}
		if err := s.skip(depth-1, halves); err != nil {
			return err
		}
		if more, err := s.more(closing, "a comma or the end is missing"); !more {
			return err
		}
	}
}

// names are those of an object so far. Few are compared one by one.
type names struct {
	few  [8][]byte
	n    int
	many map[string]bool
}

// add reports whether a name is not there yet, and adds it.
func (l *names) add(name []byte) bool {
	for _, other := range l.few[:min(l.n, len(l.few))] {
		if bytes.Equal(other, name) {
			return false
		}
	}
	if l.n < len(l.few) {
		l.few[l.n] = name
		l.n++
		return true
	}
	if l.many == nil {
		l.many = map[string]bool{}
	}
	before := len(l.many)
	l.many[string(name)] = true
	return len(l.many) > before
}
