package batch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"
)

// jsonRequest is a request object of a JSON batch (OData-JSON 19.1).
type jsonRequest struct {
	ID             *string           `json:"id"`
	Method         string            `json:"method"`
	URL            *string           `json:"url"`
	Headers        map[string]string `json:"headers"`
	Body           json.RawMessage   `json:"body"`
	AtomicityGroup string            `json:"atomicityGroup"`
	DependsOn      []string          `json:"dependsOn"`
	If             *string           `json:"if"`
}

func readJSON(r io.Reader, limit int) ([]Request, error) {
	dec := json.NewDecoder(r)
	var doc struct {
		Requests *[]jsonRequest `json:"requests"`
	}
	if err := dec.Decode(&doc); err != nil {
		return nil, explain(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data after the batch object")
	}
	if doc.Requests == nil {
		return nil, errors.New("there is no requests array")
	}
	if len(*doc.Requests) > limit {
		return nil, fmt.Errorf("%w: more than %d requests", ErrTooLarge, limit)
	}
	out := make([]Request, 0, len(*doc.Requests))
	known := map[string]bool{}
	for i, j := range *doc.Requests {
		group := j.AtomicityGroup
		if group != "" && known[group] && out[i-1].Group != group {
			return nil, fmt.Errorf("requests[%d]: the requests of atomicityGroup %.80q are not adjacent", i, group)
		}
		req, err := j.request(known)
		if err != nil {
			return nil, fmt.Errorf("requests[%d]: %w", i, err)
		}
		out = append(out, req)
	}
	return out, nil
}

// explain tells a client what is wrong with a body; the messages of encoding/json
// are about Go types.
func explain(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the body ends too early")
	case errors.As(err, &syntax):
		return fmt.Errorf("the body is not JSON at byte %d", syntax.Offset)
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Errorf("%s cannot be a JSON %s", kind.Field, kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("the body is a JSON %s: expected an object with requests", kind.Value)
	}
	return errors.New("the body cannot be read")
}

// request checks a request object. known holds the ids and groups before it, and
// gets its own (OData-JSON 19.1: ids are unique, dependsOn names earlier ones).
func (j jsonRequest) request(known map[string]bool) (Request, error) {
	switch {
	case j.ID == nil || *j.ID == "":
		return Request{}, errors.New("id is missing")
	case strings.ContainsFunc(*j.ID+j.AtomicityGroup, unicode.IsControl):
		return Request{}, errors.New("id or atomicityGroup holds a control character")
	case known[*j.ID] || *j.ID == j.AtomicityGroup:
		return Request{}, fmt.Errorf("id %.80q is taken", *j.ID)
	case j.Method == "":
		return Request{}, errors.New("method is missing")
	case j.URL == nil:
		return Request{}, errors.New("url is missing")
	}
	for _, d := range j.DependsOn {
		if !known[d] {
			return Request{}, fmt.Errorf("dependsOn names %.80q, which does not come before", d)
		}
	}
	known[*j.ID] = true
	if j.AtomicityGroup != "" {
		known[j.AtomicityGroup] = true
	}
	req := Request{
		ID: *j.ID, Method: strings.ToUpper(j.Method), URL: *j.URL,
		Header: http.Header{}, Group: j.AtomicityGroup, DependsOn: j.DependsOn, Conditional: j.If != nil,
	}
	for name, value := range j.Headers {
		req.Header.Add(name, value)
	}
	var err error
	req.Body, err = jsonBody(j.Body)
	return req, err
}

// jsonBody gives the bytes of a body: a JSON string is text, null is none, other
// JSON itself.
func jsonBody(raw json.RawMessage) ([]byte, error) {
	if string(raw) == "null" {
		return nil, nil
	}
	if len(raw) == 0 || raw[0] != '"' {
		return raw, nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	return []byte(text), nil
}
