package batch

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// multipartFormat writes a multipart/mixed answer (OData-Protocol 11.7.7.5).
// Its boundary is random, so that nobody can store data that contains it.
type multipartFormat struct {
	boundary string
	// group is the change set whose answers are being written, and inner their boundary.
	group, inner string
}

func newMultipartFormat() *multipartFormat {
	return &multipartFormat{boundary: "batchresponse_" + rand.Text()}
}

func (f *multipartFormat) contentType() string { return "multipart/mixed;boundary=" + f.boundary }

func (f *multipartFormat) open(io.Writer) error { return nil }

func (f *multipartFormat) head(w io.Writer, r Request, status int, h http.Header) error {
	if err := f.nest(w, r.Group, status); err != nil {
		return err
	}
	boundary, id := f.boundary, ""
	if f.group != "" {
		boundary = f.inner
	}
	if r.ID != "" {
		id = "Content-ID: " + r.ID + "\r\n"
	}
	_, err := fmt.Fprintf(w, "--%s\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n%s\r\nHTTP/1.1 %d %s\r\n",
		boundary, id, status, http.StatusText(status))
	if err != nil {
		return err
	}
	if err := h.Write(w); err != nil {
		return err
	}
	_, err = io.WriteString(w, "\r\n")
	return err
}

// nest begins and ends the part of a change set. A change set that succeeded is a part with a part for each of its
// requests, and one that failed is a single answer.
func (f *multipartFormat) nest(w io.Writer, group string, status int) error {
	if status >= http.StatusBadRequest {
		group = ""
	}
	if group == f.group {
		return nil
	}
	if f.group != "" {
		if _, err := io.WriteString(w, "--"+f.inner+"--\r\n"); err != nil {
			return err
		}
	}
	f.group = group
	if group == "" {
		return nil
	}
	f.inner = "changesetresponse_" + rand.Text()
	_, err := fmt.Fprintf(w, "--%s\r\nContent-Type: multipart/mixed;boundary=%s\r\n\r\n", f.boundary, f.inner)
	return err
}

func (f *multipartFormat) body(w io.Writer, b []byte) error {
	_, err := w.Write(b)
	return err
}

func (f *multipartFormat) end(w io.Writer) error {
	_, err := io.WriteString(w, "\r\n")
	return err
}

func (f *multipartFormat) close(w io.Writer) error {
	if err := f.nest(w, "", http.StatusOK); err != nil {
		return err
	}
	_, err := io.WriteString(w, "--"+f.boundary+"--\r\n")
	return err
}

// jsonFormat writes the answer of a JSON batch (OData-JSON 19.5). A JSON body
// stands as it is, text as a string, all else as base64url without padding.
type jsonFormat struct {
	answered bool
	kind     bodyKind
	started  bool
	buf      []byte // of the head, again for each answer
	text     []byte // held back to the end: a chunk may split a character
	base64   io.WriteCloser
}

type bodyKind uint8

const (
	bodyJSON bodyKind = iota
	bodyText
	bodyBinary
)

func (f *jsonFormat) contentType() string { return "application/json" }

func (f *jsonFormat) open(w io.Writer) error {
	_, err := io.WriteString(w, `{"responses":[`)
	return err
}

func (f *jsonFormat) head(w io.Writer, r Request, status int, h http.Header) error {
	f.started, f.text, f.base64 = false, nil, nil
	f.kind = kindOf(h.Get("Content-Type"))
	b := f.buf[:0]
	if f.answered {
		b = append(b, ',')
	}
	f.answered = true
	b = append(b, '{')
	if r.ID != "" { // a part of multipart/mixed may have none; then its place tells
		b = append(appendQuoted(append(b, `"id":`...), r.ID), ',')
	}
	if r.Group != "" {
		b = append(appendQuoted(append(b, `"atomicityGroup":`...), r.Group), ',')
	}
	b = append(strconv.AppendInt(append(b, `"status":`...), int64(status), 10), `,"headers":{`...)
	names := make([]string, 0, 16)
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		from := len(b)
		b = appendQuoted(b, name)
		for i, c := range b[from:] {
			if c >= 'A' && c <= 'Z' {
				b[from+i] += 'a' - 'A'
			}
		}
		b = appendQuoted(append(b, ':'), strings.Join(h[name], ", "))
	}
	f.buf = append(b, '}')
	_, err := w.Write(f.buf)
	return err
}

func (f *jsonFormat) body(w io.Writer, b []byte) error {
	if !f.started {
		f.started = true
		if err := f.startBody(w); err != nil {
			return err
		}
	}
	switch f.kind {
	case bodyText:
		f.text = append(f.text, b...)
		return nil
	case bodyBinary:
		_, err := f.base64.Write(b)
		return err
	default:
		_, err := w.Write(b)
		return err
	}
}

func (f *jsonFormat) startBody(w io.Writer) error {
	start := `,"body":`
	if f.kind == bodyBinary {
		start += `"`
		f.base64 = base64.NewEncoder(base64.RawURLEncoding, w)
	}
	return f.write(w, start)
}

// write writes a text without a copy of its own.
func (f *jsonFormat) write(w io.Writer, text string) error {
	f.buf = append(f.buf[:0], text...)
	_, err := w.Write(f.buf)
	return err
}

func (f *jsonFormat) end(w io.Writer) error {
	end := "}"
	switch {
	case f.base64 != nil:
		if err := f.base64.Close(); err != nil {
			return err
		}
		end = `"}`
	case f.text != nil:
		end = string(appendQuoted(nil, string(f.text))) + end
	}
	return f.write(w, end)
}

func (f *jsonFormat) close(w io.Writer) error {
	_, err := io.WriteString(w, "]}")
	return err
}

func kindOf(contentType string) bodyKind {
	media, _, _ := strings.Cut(contentType, ";")
	switch {
	case media == "" || media == "application/json":
		return bodyJSON
	case strings.HasPrefix(media, "text/") || media == "application/xml":
		return bodyText
	default:
		return bodyBinary
	}
}

// appendQuoted appends s as a JSON string, as encoding/json writes it. Most texts here have little to be escaped.
func appendQuoted(b []byte, s string) []byte {
	if strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' || c == '<' || c == '>' || c == '&' }) {
		quoted, _ := json.Marshal(s) // a string always marshals
		return append(b, quoted...)
	}
	return scalar.AppendString(b, s)
}
