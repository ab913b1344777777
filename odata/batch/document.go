package batch

import (
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/odata/jsontext"
)

// maxDepth bounds how deep the structures of a batch nest, as encoding/json does. That of a body is checked by whom the request is for.
const maxDepth = 10000

// document is a JSON document that is read member by member, in place.
type document struct{ jsontext.Scanner }

// object visits the members of an object; visit must read the value. Each name may be there once.
func (d *document) object(what string, visit func(name []byte, pos int) error) error {
	if c := d.Peek(); c != '{' && c != 0 {
		return d.unlike(what, "an object")
	}
	return d.Object(nil, visit)
}

// array visits the elements of an array; visit must read them.
func (d *document) array(what string, visit func(i int) error) error {
	if c := d.Peek(); c != '[' && c != 0 {
		return d.unlike(what, "an array")
	}
	return d.Array(visit)
}

// unlike is the fault of a value of another kind.
func (d *document) unlike(what, kind string) error {
	if _, err := d.Raw(maxDepth); err != nil {
		return err
	}
	return fmt.Errorf("%s is not %s", what, kind)
}

// text reads a string; null is the empty one. The text is before itself if it is the same.
func (d *document) text(name, before string) (string, error) {
	t, err := d.Token()
	switch {
	case err != nil || t.Kind == jsontext.Null:
		return "", err
	case t.Kind != jsontext.String:
		return "", fmt.Errorf("%.80s is not a string", name)
	case string(t.Text) == before:
		return before, nil
	}
	return string(t.Text), nil
}

// explain says what is wrong with a document, for the client.
func (d *document) explain(err error) error {
	if f, ok := errors.AsType[*jsontext.Fault](err); ok && f.Pos >= len(d.Text) {
		return errors.New("the body ends too early")
	}
	return err
}
