package batch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// document is a JSON document that is read member by member.
type document struct{ *json.Decoder }

// object visits the members of an object; visit must read the value. Each name may be there once.
func (d document) object(what string, visit func(name string) error) error {
	if err := d.open(what, '{', "an object"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return explain(err, what)
		}
		name, _ := t.(string) // the decoder takes nothing else
		if seen[name] {
			return fmt.Errorf("%.80q is there twice", name)
		}
		seen[name] = true
		if err := visit(name); err != nil {
			return err
		}
	}
	return d.end(what)
}

// array visits the elements of an array; visit must read them.
func (d document) array(what string, visit func(i int) error) error {
	if err := d.open(what, '[', "an array"); err != nil {
		return err
	}
	for i := 0; d.More(); i++ {
		if err := visit(i); err != nil {
			return err
		}
	}
	return d.end(what)
}

func (d document) open(what string, begin json.Delim, kind string) error {
	t, err := d.Token()
	if err != nil {
		return explain(err, what)
	}
	if t != begin {
		return fmt.Errorf("%s is not %s", what, kind)
	}
	return nil
}

func (d document) end(what string) error {
	if _, err := d.Token(); err != nil {
		return explain(err, what)
	}
	return nil
}

// value reads a value.
func (d document) value(name string, into any) error {
	if err := d.Decode(into); err != nil {
		return explain(err, name)
	}
	return nil
}

// text reads a string; null is the empty one.
func (d document) text(name string, into *string) error {
	var raw json.RawMessage
	if err := d.value(name, &raw); err != nil {
		return err
	}
	text, err := unquoted(name, raw)
	*into = text
	return err
}

// unquoted is the text of a JSON string. One with half of a surrogate pair is none.
func unquoted(name string, raw json.RawMessage) (text string, err error) {
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", explain(err, name)
	}
	if halfPair(raw) {
		return "", fmt.Errorf("%.80q has half of a surrogate pair, which is no character", name)
	}
	return text, nil
}

// halfPair reports whether an escape sequence of a JSON string is one half of a surrogate pair without the other.
func halfPair(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if i++; raw[i] != 'u' {
			continue
		}
		r := unit(raw[i+1:])
		i += 4
		if !utf16.IsSurrogate(r) {
			continue
		}
		if len(raw) < i+3 || raw[i+1] != '\\' || raw[i+2] != 'u' || utf16.DecodeRune(r, unit(raw[i+3:])) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

// unit reads the four digits of an escape sequence in JSON that is well-formed.
func unit(raw []byte) rune {
	n, _ := strconv.ParseUint(string(raw[:4]), 16, 16)
	return rune(n)
}

// explain names what is wrong with a JSON value, for the client.
func explain(err error, name string) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the body ends too early")
	case errors.As(err, &syntax):
		return fmt.Errorf("the body is not JSON at byte %d", syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Errorf("%.80s cannot be a JSON %s", name, kind.Value)
	}
	return errors.New("the body cannot be read")
}
