package batch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/odata/jsontext"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// jsonReader reads the requests of a batch in JSON.
type jsonReader struct {
	document
	out []Request
	// known are the ids and groups of the requests so far.
	known map[string]bool
	// headers is the text of the last headers, header what it means. Requests of one client have much in common.
	headers []byte
	header  http.Header
}

// jsonRequest is a request object (OData-JSON 19.1).
type jsonRequest struct {
	Request
	hasURL bool
	// body is the text of the body, which begins at a byte of the batch.
	body []byte
	at   int
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
	d := &jsonReader{document: document{jsontext.Scanner{Text: raw}}, known: map[string]bool{}}
	found := false
	err = d.object("the body", func(name []byte, _ int) error {
		if string(name) != "requests" {
			_, err := d.Raw(maxDepth)
			return err
		}
		found = true
		return d.array("requests", func(i int) error {
			if i == limit {
				return fmt.Errorf("%w: more than %d requests", ErrTooLarge, limit)
			}
			req, err := d.request()
			if err != nil {
				return fmt.Errorf("requests[%d]: %w", i, d.explain(err))
			}
			d.out = append(d.out, req)
			return nil
		})
	})
	switch {
	case err != nil:
		return nil, d.explain(err)
	case !found:
		return nil, errors.New("there is no requests array")
	case d.End() != nil:
		return nil, errors.New("data after the batch object")
	}
	return d.out, nil
}

// last returns the request before the one that is read.
func (d *jsonReader) last() Request {
	if len(d.out) == 0 {
		return Request{}
	}
	return d.out[len(d.out)-1]
}

// request reads a request object.
func (d *jsonReader) request() (Request, error) {
	j, last := jsonRequest{}, d.last()
	if err := d.object("a request", func(name []byte, _ int) error { return d.member(&j, name, &last) }); err != nil {
		return Request{}, err
	}
	if j.Group != "" && d.known[j.Group] && last.Group != j.Group {
		return Request{}, fmt.Errorf("the requests of atomicityGroup %.80q are not adjacent", j.Group)
	}
	return d.finish(&j)
}

// member reads one member of a request object. last is the request before.
func (d *jsonReader) member(j *jsonRequest, name []byte, last *Request) (err error) {
	switch string(name) {
	case "id":
		j.ID, err = d.text("id", "")
	case "method":
		j.Method, err = d.text("method", last.Method)
	case "url":
		j.hasURL = true
		j.URL, err = d.text("url", last.URL)
	case "atomicityGroup":
		j.Group, err = d.text("atomicityGroup", last.Group)
	case "headers":
		j.Header, err = d.readHeaders()
	case "body":
		d.Peek()
		j.at = d.At
		j.body, err = d.Raw(maxDepth)
	case "dependsOn":
		j.DependsOn, err = d.names("dependsOn")
	default:
		var other []byte
		other, err = d.Raw(maxDepth)
		j.Conditional = j.Conditional || string(name) == "if" && string(other) != "null"
	}
	return err
}

// readHeaders reads the headers of a request. Those that have the same text as the last ones are the same.
func (d *jsonReader) readHeaders() (http.Header, error) {
	d.Peek()
	start := d.At
	if d.headers != nil && bytes.HasPrefix(d.Text[start:], d.headers) {
		d.At += len(d.headers)
		return d.header, nil
	}
	h := http.Header{}
	err := d.object("headers", func(name []byte, _ int) error {
		value, err := d.text(string(name), "")
		if err != nil {
			return err
		}
		key := http.CanonicalHeaderKey(string(name))
		if h[key] != nil {
			return fmt.Errorf("the header %.80q is there twice", name)
		}
		h[key] = []string{value}
		return nil
	})
	if err == nil {
		d.headers, d.header = d.Text[start:d.At], h
	}
	return h, err
}

// names reads an array of strings; null is an empty one.
func (d *jsonReader) names(what string) (list []string, err error) {
	if d.Peek() == 'n' {
		_, err = d.Token()
		return nil, err
	}
	err = d.array(what, func(int) error {
		name, err := d.text(what, "")
		list = append(list, name)
		return err
	})
	return list, err
}

// finish checks a request object that was read.
func (d *jsonReader) finish(j *jsonRequest) (Request, error) {
	known := d.known
	switch {
	case j.ID == "":
		return Request{}, errors.New("id is missing")
	case strings.ContainsFunc(j.ID, unicode.IsControl), strings.ContainsFunc(j.Group, unicode.IsControl):
		return Request{}, errors.New("id or atomicityGroup holds a control character")
	case known[j.ID] || j.ID == j.Group:
		return Request{}, fmt.Errorf("id %.80q is taken", j.ID)
	case j.Method == "":
		return Request{}, errors.New("method is missing")
	case !j.hasURL:
		return Request{}, errors.New("url is missing")
	}
	for _, id := range j.DependsOn {
		if !known[id] {
			return Request{}, fmt.Errorf("dependsOn names %.80q, which does not come before", id)
		}
	}
	known[j.ID] = true
	if j.Group != "" {
		known[j.Group] = true
	}
	if j.Header == nil {
		j.Header = http.Header{}
	}
	out, err := j.Request, error(nil)
	out.Method = strings.ToUpper(j.Method)
	out.Body, err = d.bodyOf(j)
	return out, err
}

// bodyOf gives the bytes of a body: a JSON value with its own bytes, or a string with text, or with what is neither in base64url
// (OData-JSON 19.1).
func (d *jsonReader) bodyOf(j *jsonRequest) ([]byte, error) {
	raw := j.body
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	binary := kindOf(strings.ToLower(j.Header.Get("Content-Type"))) == bodyBinary
	if raw[0] != '"' {
		if binary {
			return nil, errors.New("a body that is neither JSON nor text is a string in base64url")
		}
		return raw, nil
	}
	t, err := (&jsontext.Scanner{Text: d.Text, At: j.at}).Token()
	if err != nil {
		return nil, err
	}
	if !binary {
		return t.Text, nil
	}
	b, ok := scalar.FromBase64(t.Text)
	if !ok {
		return nil, errors.New("a body that is neither JSON nor text is a string in base64url")
	}
	return b, nil
}
