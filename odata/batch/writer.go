package batch

import (
	"io"
	"net/http"
)

// Writer writes the answers of a batch one after the other. It is for one
// goroutine. The first write error is kept and returned by Close.
type Writer struct {
	w      io.Writer
	format format
	opened bool
	err    error
}

// format is the difference between multipart and JSON.
type format interface {
	contentType() string
	open(w io.Writer) error
	head(w io.Writer, r Request, status int, h http.Header) error
	body(w io.Writer, b []byte) error
	end(w io.Writer) error
	close(w io.Writer) error
}

// ContentType is the media type of the answer as a whole.
func (w *Writer) ContentType() string { return w.format.contentType() }

// Part starts the answer to r. Finish it before starting the next.
func (w *Writer) Part(r Request) *Part {
	w.start()
	return &Part{w: w, request: r}
}

// Close ends the answer and gives the first error of writing.
func (w *Writer) Close() error {
	w.start()
	w.do(w.format.close)
	return w.err
}

func (w *Writer) start() {
	if !w.opened {
		w.opened = true
		w.do(w.format.open)
	}
}

func (w *Writer) do(f func(io.Writer) error) {
	if w.err == nil {
		w.err = f(w.w)
	}
}

// Part is the http.ResponseWriter of one answer in a batch.
type Part struct {
	w       *Writer
	request Request
	header  http.Header
	status  int
}

// Header gives the headers of the part; they count until the first write.
func (p *Part) Header() http.Header {
	if p.header == nil {
		p.header = http.Header{}
	}
	return p.header
}

// SetHeader makes h the headers of the part.
func (p *Part) SetHeader(h http.Header) { p.header = h }

// Status is the status that was written; 0 before.
func (p *Part) Status() int { return p.status }

// WriteHeader starts the part with its status and headers.
func (p *Part) WriteHeader(status int) {
	if p.status != 0 {
		return
	}
	p.status = status
	p.w.do(func(w io.Writer) error { return p.w.format.head(w, p.request, status, p.header) })
}

// Write writes bytes of the body.
func (p *Part) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	if len(b) > 0 {
		p.w.do(func(w io.Writer) error { return p.w.format.body(w, b) })
	}
	if p.w.err != nil {
		return 0, p.w.err
	}
	return len(b), nil
}

// Finish ends the part.
func (p *Part) Finish() {
	p.WriteHeader(http.StatusOK)
	p.w.do(p.w.format.end)
}
