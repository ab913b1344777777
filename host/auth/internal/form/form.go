package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
)

// maxBody is the largest request body, 64 KiB.
const maxBody = 64 << 10

// maxDepth bounds how deeply a JSON body may nest.
const maxDepth = 32

// A Form is a decoded request body. Values of a JSON body keep their types; those
// of a form-encoded one are strings.
type Form struct {
	Values map[string]any
	// JSON tells a JSON body from a form-encoded one.
	JSON bool
}

// Read decodes the body of a request. It fails with a Fault.
func Read(r *http.Request) (Form, error) {
	body, err := readBody(r)
	if err != nil {
		return Form{}, err
	}
	header := r.Header.Get("Content-Type")
	if header == "" && len(body) == 0 {
		return Form{}, nil
	}
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return Form{}, &fault.Fault{Code: fault.UnsupportedMedia, Cause: fmt.Errorf("content encoding %q", enc)}
	}
	kind, params, err := mime.ParseMediaType(header)
	if cs := params["charset"]; err != nil || cs != "" && !strings.EqualFold(cs, "utf-8") {
		return Form{}, &fault.Fault{Code: fault.UnsupportedMedia, Cause: fmt.Errorf("content type %q", header)}
	}
	var values map[string]any
	switch kind {
	case "application/json":
		values, err = parseJSON(body)
	case "application/x-www-form-urlencoded":
		values, err = parseForm(body)
	default:
		return Form{}, &fault.Fault{Code: fault.UnsupportedMedia, Cause: fmt.Errorf("content type %q", header)}
	}
	if err != nil {
		return Form{}, &fault.Fault{Code: fault.Malformed, Cause: err}
	}
	return Form{Values: values, JSON: kind == "application/json"}, nil
}

// Discard checks the body of a request that has no fields, as Read does. It
// accepts an empty body of any content type: clients often announce JSON and
// send nothing.
func Discard(r *http.Request) error {
	if r.ContentLength == 0 {
		return nil
	}
	_, err := Read(r)
	return err
}

func readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		return nil, &fault.Fault{Code: fault.TooLarge}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, &fault.Fault{Code: fault.Malformed, Cause: fmt.Errorf("read body: %w", err)}
	}
	if len(body) > maxBody {
		return nil, &fault.Fault{Code: fault.TooLarge}
	}
	return body, nil
}

// parseJSON reads one JSON object. Unlike json.Unmarshal it refuses duplicate
// keys, of which another reader might believe the other one.
func parseJSON(body []byte) (map[string]any, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("body is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	v, err := readValue(d, 0)
	if err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("body is not a JSON object")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data after the JSON object")
	}
	return object, nil
}

func readValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("JSON nested too deeply")
	}
	t, err := d.Token()
	if err != nil {
		return nil, fmt.Errorf("parse JSON: %w", err)
	}
	switch t {
	case json.Delim('{'):
		return readObject(d, depth)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := readValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	}
	return t, nil
}

func readObject(d *json.Decoder, depth int) (any, error) {
	object := map[string]any{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("parse JSON: %w", err)
		}
		key, ok := t.(string)
		if !ok {
			return nil, errors.New("JSON key is not a string")
		}
		if _, dup := object[key]; dup {
			return nil, errors.New("duplicate JSON key")
		}
		if object[key], err = readValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("parse JSON: %w", err)
	}
	return object, nil
}

func parseForm(body []byte) (map[string]any, error) {
	query, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, errors.New("bad form encoding")
	}
	values := map[string]any{}
	for name, list := range query {
		if len(list) > 1 {
			return nil, errors.New("duplicate form field")
		}
		if !utf8.ValidString(list[0]) {
			return nil, errors.New("form field is not UTF-8")
		}
		values[name] = list[0]
	}
	return values, nil
}

// Text returns a string field, empty when absent or null.
func (f Form) Text(name string) (string, error) {
	switch v := f.Values[name].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", WrongType(name, "a string", v)
	}
}

// Flag returns a boolean field, false when absent or null.
func (f Form) Flag(name string) (bool, error) {
	switch v := f.Values[name].(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	case string:
		if !f.JSON {
			return v == "true" || v == "1" || v == "on", nil
		}
	}
	return false, WrongType(name, "a boolean", f.Values[name])
}

// WrongType is the fault of a field whose JSON type is not the wanted one.
func WrongType(name, want string, got any) error {
	return &fault.Fault{Code: fault.Malformed, Cause: fmt.Errorf("field %q is a JSON %T, want %s", name, got, want)}
}

// Texts reads string fields in order into targets and fails with "required" for
// those that are empty.
func (f Form) Texts(fields ...Field) error {
	var missing []fault.Field
	for _, x := range fields {
		v, err := f.Text(x.Name)
		if err != nil {
			return err
		}
		if !x.Secret {
			v = strings.TrimSpace(v)
		}
		if v == "" && !x.Optional {
			missing = append(missing, fault.Field{Field: x.Name, Code: "required"})
		}
		*x.Into = v
	}
	if missing != nil {
		return &fault.Fault{Fields: missing}
	}
	return nil
}

// A Field names a text field and where its value goes. White space around it is
// dropped unless it is a secret.
type Field struct {
	Name   string
	Into   *string
	Secret bool
	// Optional fields may be empty.
	Optional bool
}
