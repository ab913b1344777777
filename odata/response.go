package odata

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/header"
)

// errHead ends the writing of an answer of which only the headers are wanted.
var errHead = errors.New("only the headers were asked for")

// stall is how long a client may take to accept a block of a streamed answer.
const stall = time.Minute

// smallest is the size from which on compression pays.
const smallest = 1 << 10

// response sends one successful answer. It is the payload.Sink of a request:
// an answer that fits into one block gets a length and a hash of itself as its
// entity tag; a longer one is streamed.
type response struct {
	s     *Service
	w     http.ResponseWriter
	q     *request
	clock *workClock // nil where no database works
	// etag is set where it is known before the bytes are.
	etag string
	// keep takes an answer of one block; nil where it is not wanted.
	keep func(*kept)
	body body
	sent bool
}

// common sets the headers that every answer has, faults too.
func (q *request) common(h http.Header) {
	h.Set("OData-Version", q.version())
	if q.inBatch {
		return
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept, Accept-Encoding, OData-MaxVersion, Prefer")
}

// prepare sets the headers of a successful answer.
func (q *request) prepare(h http.Header, contentType string, private bool) {
	q.common(h)
	h.Set("Content-Type", contentType)
	// Everything must be asked for again, which an entity tag makes cheap.
	if private {
		h.Set("Cache-Control", "private, no-cache")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
}

// Send implements payload.Sink.
func (r *response) Send(block []byte, last bool) error {
	if r.clock != nil {
		r.clock.pause()
		defer r.clock.resume()
	}
	if !last || r.sent {
		r.allow(stall)
	}
	if !r.sent {
		if err := r.start(block, last); err != nil {
			return err
		}
	}
	if err := r.body.write(r.w, block); err != nil {
		return err
	}
	if !last {
		return nil
	}
	return r.end()
}

// again sends what was sent before.
func (r *response) again(a *kept, private bool) error {
	h := r.w.Header()
	r.q.prepare(h, a.contentType, private)
	if a.applied != "" {
		h.Set("Preference-Applied", a.applied)
	}
	r.q.timing.opened = r.q.timing.planned
	r.etag = a.etag
	return r.Send(a.body, true)
}

// begin starts an answer whose bytes come through Write.
func (r *response) begin() {
	r.sent = true
	if header.AcceptsGzip(r.q.header["Accept-Encoding"]) {
		r.w.Header().Set("Content-Encoding", "gzip")
		r.body.compress(r.w, &r.s.gzips)
	}
	r.w.WriteHeader(http.StatusOK)
}

// Write implements io.Writer, for a batch.
func (r *response) Write(p []byte) (int, error) {
	r.allow(stall)
	if err := r.body.write(r.w, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end ends an answer that was written with Write.
func (r *response) end() error {
	r.allow(0)
	return r.body.close()
}

// allow gives the client so long to take what is written next; 0 is for ever.
// A client that stops reading would hold a read transaction open otherwise.
func (r *response) allow(d time.Duration) {
	var until time.Time
	if d > 0 {
		until = time.Now().Add(d)
	}
	// Not every ResponseWriter has deadlines; then the host has to care.
	_ = http.NewResponseController(r.w).SetWriteDeadline(until)
}

// start decides on status and headers when the first block is there.
func (r *response) start(block []byte, last bool) error {
	r.sent = true
	h := r.w.Header()
	if r.etag == "" && last {
		r.etag = etagOf(block)
	}
	// A part of a batch has no tag: OpenUI5 writes it into whatever the part holds,
	// and gives up on the whole batch where that is a number or nothing.
	tagged := r.etag != "" && !r.q.inBatch
	if tagged {
		h.Set("ETag", r.etag)
	}
	if r.keep != nil && last {
		r.keep(&kept{
			contentType: h.Get("Content-Type"), applied: h.Get("Preference-Applied"), etag: r.etag, body: bytes.Clone(block),
		})
	}
	if !r.q.inBatch {
		h.Set("Server-Timing", r.q.timing.header(r.s.opts.Now()))
	}
	if tagged && header.MatchesETag(r.q.header["If-None-Match"], r.etag) {
		h.Del("Content-Type")
		r.w.WriteHeader(http.StatusNotModified)
		return errHead
	}
	if !r.q.inBatch && header.AcceptsGzip(r.q.header["Accept-Encoding"]) && (!last || len(block) >= smallest) {
		h.Set("Content-Encoding", "gzip")
		if r.q.method != http.MethodHead {
			r.body.compress(r.w, &r.s.gzips)
		}
	} else if last && !r.q.inBatch {
		h.Set("Content-Length", strconv.Itoa(len(block)))
	}
	r.w.WriteHeader(http.StatusOK)
	if r.q.method == http.MethodHead {
		return errHead
	}
	return nil
}

// etagOf makes a weak entity tag, as compression may change the bytes.
func etagOf(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = h.Write(p) // a hash takes everything
		_, _ = h.Write([]byte{0})
	}
	return `W/"` + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12]) + `"`
}

// header writes Server-Timing (W3C): parse, plan, query to the first row, and
// write to the first block, in milliseconds.
func (t timing) header(now time.Time) string {
	ms := func(from, to time.Time) float64 {
		if from.IsZero() || to.IsZero() {
			return 0
		}
		return float64(to.Sub(from).Microseconds()) / 1000
	}
	return fmt.Sprintf("parse;dur=%.3f, plan;dur=%.3f, query;dur=%.3f, write;dur=%.3f",
		ms(t.start, t.parsed), ms(t.parsed, t.planned), ms(t.planned, t.opened), ms(t.opened, now))
}
