package batch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// parts reads a multipart batch; count bounds the requests in it.
type parts struct {
	out []Request
	max int
}

// errTruncated is the fault of a body whose boundary is missing or malformed.
var errTruncated = errors.New("the body ends before its closing boundary")

func readMultipart(r io.Reader, boundary string, limit int) ([]Request, error) {
	p := &parts{max: limit}
	mr := multipart.NewReader(r, boundary)
	for group := 1; ; group++ {
		part, err := mr.NextRawPart()
		if err == io.EOF { // bare after the last boundary; wrapped where that is missing
			return p.out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", group, errTruncated)
		}
		if err := p.add(part, group); err != nil {
			return nil, fmt.Errorf("part %d: %w", group, err)
		}
	}
}

// add reads a part: a request, or a change set of them (OData-Protocol 11.7.7.1).
func (p *parts) add(part *multipart.Part, group int) error {
	media, params, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
	if err != nil {
		return errors.New("the content type is missing or malformed")
	}
	switch media {
	case "application/http":
		return p.request(part, "")
	case "multipart/mixed":
		return p.changeSet(part, params["boundary"], "changeset "+strconv.Itoa(group))
	default:
		return fmt.Errorf("content type %s: expected application/http or multipart/mixed", media)
	}
}

func (p *parts) changeSet(r io.Reader, boundary, group string) error {
	if boundary == "" {
		return errors.New("the change set has no boundary")
	}
	before := len(p.out)
	mr := multipart.NewReader(r, boundary)
	for {
		part, err := mr.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("change set: %w", errTruncated)
		}
		if media, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type")); media != "application/http" {
			return errors.New("change set: a part is not application/http")
		}
		if err := p.request(part, group); err != nil {
			return fmt.Errorf("change set: %w", err)
		}
	}
	if len(p.out) == before {
		return errors.New("the change set is empty")
	}
	return nil
}

func (p *parts) request(part *multipart.Part, group string) error {
	if len(p.out) == p.max {
		return fmt.Errorf("%w: more than %d requests", ErrTooLarge, p.max)
	}
	raw, err := io.ReadAll(part)
	if err != nil {
		return err
	}
	r, err := parseRequest(raw)
	if err != nil {
		return err
	}
	r.ID, r.Group = part.Header.Get("Content-ID"), group
	if group != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		return errors.New("a change set holds no " + r.Method)
	}
	p.out = append(p.out, r)
	return nil
}

// parseRequest reads an HTTP request whose target may be relative. net/http
// would refuse such a target, and a request without the blank line that many
// clients leave out where there is no body.
func parseRequest(raw []byte) (Request, error) {
	br := bufio.NewReader(bytes.NewReader(bytes.TrimLeft(raw, "\r\n")))
	tp := textproto.NewReader(br)
	line, err := tp.ReadLine()
	if err != nil {
		return Request{}, errors.New("the request line is missing")
	}
	method, rest, _ := strings.Cut(line, " ")
	target, proto, ok := strings.Cut(rest, " ")
	if !ok || method == "" || target == "" || !strings.HasPrefix(proto, "HTTP/1.") || strings.Contains(proto, " ") {
		return Request{}, fmt.Errorf("request line %.80q: expected METHOD URL HTTP/1.1", line)
	}
	header, err := tp.ReadMIMEHeader()
	if err != nil && !errors.Is(err, io.EOF) {
		return Request{}, errors.New("a header is malformed")
	}
	body, err := io.ReadAll(br)
	if err != nil {
		return Request{}, err
	}
	return Request{Method: method, URL: target, Header: http.Header(header), Body: body}, nil
}
