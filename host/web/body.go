package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// errSlowBody ends the reading of a body that comes too slowly.
var errSlowBody = fmt.Errorf("the body has not come within %v and a second more for each %d bytes", bodyGrace, bodyRate)

// A client has bodyGrace for the body of a request, and a second more for each
// bodyRate bytes that have come.
const (
	bodyGrace = 5 * time.Second
	bodyRate  = 4 << 10
)

// pacedBody is a request body with deadlines. They also hold for a body that no
// handler reads, because the server skips it before the next request.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	start   time.Time
	read    int64
	late    func(error) // told once of a body whose reader waited in vain
}

// paceBody puts deadlines on the body of a request, if it has one. late is called
// when a handler reads the body and it comes too slowly.
func paceBody(w http.ResponseWriter, r *http.Request, late func(error)) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	b := &pacedBody{ReadCloser: r.Body, control: http.NewResponseController(w), start: time.Now(), late: late}
	b.extend()
	r.Body = b
}

// Read implements io.Reader. Behind the end the server itself waits for the
// client, without a limit.
func (b *pacedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	switch {
	case err == nil:
		b.extend()
	case err == io.EOF:
		_ = b.control.SetReadDeadline(time.Time{})
	case errors.Is(err, os.ErrDeadlineExceeded):
		if b.late != nil {
			b.late(fmt.Errorf("%w: %d bytes came", errSlowBody, b.read))
			b.late = nil
		}
	}
	return n, err
}

func (b *pacedBody) extend() {
	// Not every ResponseWriter has deadlines; then its server has to bound reads.
	_ = b.control.SetReadDeadline(b.start.Add(bodyGrace + time.Duration(b.read)*time.Second/bodyRate))
}
