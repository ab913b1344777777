package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// jsonRequest is a request object (OData-JSON 19.1).
type jsonRequest struct {
	id, method, group string
	url               *string
	header            http.Header
	body              json.RawMessage
	dependsOn         []string
	conditional       bool
}

// readJSON reads a batch member by member: encoding/json itself takes names in any case, lets a second member of a name complete
// the value of the first one, and replaces what is no text.
func readJSON(r io.Reader, limit int) ([]Request, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(raw) {
		return nil, errors.New("the body is not UTF-8")
	}
	d := document{json.NewDecoder(bytes.NewReader(raw))}
	var out []Request
	found, known := false, map[string]bool{}
	err = d.object("the body", func(name string) error {
		if name != "requests" {
			return d.value(name, new(json.RawMessage))
		}
		found = true
		return d.array(name, func(i int) error {
			if i == limit {
				return fmt.Errorf("%w: more than %d requests", ErrTooLarge, limit)
			}
			req, err := d.request(out, known)
			if err != nil {
				return fmt.Errorf("requests[%d]: %w", i, err)
			}
			out = append(out, req)
			return nil
		})
	})
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, errors.New("there is no requests array")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data after the batch object")
	}
	return out, nil
}

// request reads a request object. before are the requests before it, known their ids and groups.
func (d document) request(before []Request, known map[string]bool) (Request, error) {
	j := jsonRequest{header: http.Header{}}
	if err := d.object("a request", func(name string) error { return d.member(&j, name) }); err != nil {
		return Request{}, err
	}
	if j.group != "" && known[j.group] && before[len(before)-1].Group != j.group {
		return Request{}, fmt.Errorf("the requests of atomicityGroup %.80q are not adjacent", j.group)
	}
	return j.request(known)
}

// member reads one member of a request object.
func (d document) member(j *jsonRequest, name string) error {
	switch name {
	case "id":
		return d.text(name, &j.id)
	case "method":
		return d.text(name, &j.method)
	case "url":
		j.url = new(string)
		return d.text(name, j.url)
	case "atomicityGroup":
		return d.text(name, &j.group)
	case "headers":
		return d.object(name, func(name string) error {
			var value string
			if err := d.text(name, &value); err != nil {
				return err
			}
			if j.header[http.CanonicalHeaderKey(name)] != nil {
				return fmt.Errorf("the header %.80q is there twice", name)
			}
			j.header.Set(name, value)
			return nil
		})
	case "body":
		return d.value(name, &j.body)
	case "dependsOn":
		return d.value(name, &j.dependsOn)
	}
	var other json.RawMessage
	err := d.value(name, &other)
	j.conditional = j.conditional || name == "if" && string(other) != "null"
	return err
}

func (j jsonRequest) request(known map[string]bool) (Request, error) {
	switch {
	case j.id == "":
		return Request{}, errors.New("id is missing")
	case strings.ContainsFunc(j.id+j.group, unicode.IsControl):
		return Request{}, errors.New("id or atomicityGroup holds a control character")
	case known[j.id] || j.id == j.group:
		return Request{}, fmt.Errorf("id %.80q is taken", j.id)
	case j.method == "":
		return Request{}, errors.New("method is missing")
	case j.url == nil:
		return Request{}, errors.New("url is missing")
	}
	for _, d := range j.dependsOn {
		if !known[d] {
			return Request{}, fmt.Errorf("dependsOn names %.80q, which does not come before", d)
		}
	}
	known[j.id] = true
	if j.group != "" {
		known[j.group] = true
	}
	body, err := jsonBody(j.body, j.header.Get("Content-Type"))
	return Request{
		ID: j.id, Method: strings.ToUpper(j.method), URL: *j.url,
		Header: j.header, Body: body, Group: j.group, DependsOn: j.dependsOn, Conditional: j.conditional,
	}, err
}

// jsonBody gives the bytes of a body: a JSON value with its own bytes, or a string with text, or with what is neither in base64url
// (OData-JSON 19.1).
func jsonBody(raw json.RawMessage, contentType string) ([]byte, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	binary := kindOf(strings.ToLower(contentType)) == bodyBinary
	if raw[0] != '"' {
		if binary {
			return nil, errors.New("a body that is neither JSON nor text is a string in base64url")
		}
		return raw, nil
	}
	text, err := unquoted("body", raw)
	if err != nil || !binary {
		return []byte(text), err
	}
	b, ok := scalar.FromBase64([]byte(text))
	if !ok {
		return nil, errors.New("a body that is neither JSON nor text is a string in base64url")
	}
	return b, nil
}
