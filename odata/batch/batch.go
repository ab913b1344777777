package batch

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
)

// Request is one request of a batch.
type Request struct {
	// ID is the Content-ID of a part or the id of a JSON request; in a
	// multipart batch it may be empty.
	ID string
	// Method and URL stand as sent; the URL is absolute, an absolute path, or
	// relative to the service root.
	Method, URL string
	Header      http.Header
	Body        []byte
	// Group tells the change set or atomicity group; empty for a request of
	// its own.
	Group string
	// DependsOn names requests or groups that must have succeeded before.
	DependsOn []string
	// Conditional tells that the request has a condition (if), which is not evaluated: such a request is 424
	// (OData-JSON 19.1).
	Conditional bool
}

// Limits bound a batch: the number of its requests and the bytes of its body. Zero
// values stand for 1000 requests and 1 MiB.
type Limits struct {
	Parts int
	Bytes int64
}

// Errors of a batch as a whole; errors.Is tells them.
var (
	// ErrMediaType tells that the content type is neither multipart/mixed nor
	// application/json.
	ErrMediaType = errors.New("a batch is multipart/mixed with a boundary, or application/json")
	// ErrTooLarge tells that a batch exceeds its Limits.
	ErrTooLarge = errors.New("the batch is too large")
)

// Batch is the requests of a batch and the format that they came in.
type Batch struct {
	Requests []Request
	json     bool
}

// Read reads the body of a batch request. Errors are ErrMediaType, ErrTooLarge, or a description for the client of
// what is malformed.
func Read(contentType string, body io.Reader, limits Limits) (Batch, error) {
	if limits.Parts == 0 {
		limits.Parts = 1000
	}
	if limits.Bytes == 0 {
		limits.Bytes = 1 << 20
	}
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return Batch{}, ErrMediaType
	}
	r := &limited{r: body, left: limits.Bytes}
	var b Batch
	switch {
	case media == "multipart/mixed" && params["boundary"] != "":
		b.Requests, err = readMultipart(r, params["boundary"], limits.Parts)
	case media == "application/json":
		b.json = true
		b.Requests, err = readJSON(r, limits.Parts)
	default:
		err = ErrMediaType
	}
	if r.left < 0 {
		err = ErrTooLarge
	}
	if err != nil {
		return Batch{}, fmt.Errorf("read batch: %w", err)
	}
	return b, nil
}

// OneAnswer tells whether a group that failed has one answer for all its
// requests, as a change set has (OData-Protocol 11.7.7.5), or one for each.
func (b Batch) OneAnswer() bool { return !b.json }

// StopsAtFault tells whether requests behind the first fault stay unanswered where
// the client prefers neither: so in multipart/mixed (OData-Protocol 11.7.2), while
// in JSON every request is processed (OData-JSON 19.4).
func (b Batch) StopsAtFault() bool { return !b.json }

// The media types of batches, without the parameters of multipart/mixed.
const (
	Multipart = "multipart/mixed"
	JSON      = "application/json"
)

// MediaTypes are the formats of an answer, that of the requests first.
func (b Batch) MediaTypes() []string {
	if b.json {
		return []string{JSON, Multipart}
	}
	return []string{Multipart, JSON}
}

// Writer gives the writer for the answers, in one of MediaTypes.
func (b Batch) Writer(w io.Writer, media string) *Writer {
	if media == JSON {
		return &Writer{w: w, format: &jsonFormat{}}
	}
	return &Writer{w: w, format: newMultipartFormat()}
}

// limited is a reader that fails once more than left bytes were read; left is then
// negative, even where the reader above replaces the error.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, ErrTooLarge
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	if l.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}
