package odata

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// errHead ends the writing of an answer of which only the headers are wanted.
var errHead = errors.New("only the headers were asked for")

// minGzip is the size in bytes from which on an answer is compressed.
const minGzip = 1 << 10

// response sends one successful answer. It is a payload.Sink: an answer that
// fits into one block gets a length and an entity tag; a longer one is streamed.
type response struct {
	w http.ResponseWriter
	// body is what leads to the client; the parts of a batch share one.
	body *spool
	q    *request
	now  func() time.Time
	// own is body where the answer is no part of a batch.
	own spool
	// rows are open until giveBack, with the clock that bounds the source's work.
	rows  plan.Rows
	clock *workClock
	// etag is set where it is known before the bytes are; the others are made of the bytes.
	etag string
	// mixed reports that the answer shows more than the entity whose tag etag is, so that it is never 304.
	mixed bool
	// keep gets an answer of one block, which must be copied, after etag is set;
	// nil where nobody wants it.
	keep func(block []byte)
	// trailer is a header that is known only at the end of an answer that does not fit
	// into one block; empty for none.
	trailer string
	sent    bool
	// packed reports that the answer is compressed already. size is its length where that is known before the last block.
	packed bool
	size   int
}

// setCommon sets the headers that every answer has, faults too.
func setCommon(h http.Header, q *request) {
	v := [...]string{q.version(), "nosniff", "Accept, Accept-Encoding, OData-MaxVersion, Prefer"} // one array for all
	h["Odata-Version"] = v[0:1:1]
	if q.inBatch {
		return
	}
	h["X-Content-Type-Options"], h["Vary"] = v[1:2:2], v[2:3:3]
}

// setSuccess sets the headers of a successful answer.
func setSuccess(h http.Header, q *request, contentType string, private bool) {
	setCommon(h, q)
	// Clients must revalidate every answer, which an entity tag makes cheap.
	v := [...]string{contentType, "no-cache"}
	if private {
		v[1] = "private, no-cache"
	}
	h["Content-Type"], h["Cache-Control"] = v[0:1:1], v[1:2:2]
}

// Send implements payload.Sink. The source is closed as soon as nothing more is
// to be read, so that it never waits for the client to take the last blocks.
func (r *response) Send(block []byte, last bool) error {
	if err := r.q.left.takeBytes(len(block)); err != nil {
		return err
	}
	if last {
		r.giveBack()
	}
	if last && !r.sent && !r.q.inBatch {
		if err := r.begin(block, last); err != nil {
			return err
		}
		return errors.Join(r.body.write(block), r.body.end())
	}
	if !r.sent {
		if err := r.begin(block, last); err != nil {
			return err
		}
	}
	if r.q.inBatch {
		_, err := r.w.Write(block)
		return err
	}
	if _, err := r.body.Write(block); err != nil || !last {
		return err
	}
	return r.body.finish()
}

// document sends a document as it is kept, or uncompressed.
func (r *response) document(d *packed) error {
	r.etag, r.size = d.tag, int(d.size)
	if gzip, only := r.q.acceptsGzip(); gzip && (only || d.size >= minGzip) {
		r.packed = true
		return r.Send(d.gzip, true)
	}
	return d.send(r.Send)
}

// response makes the response to q. Call stop when the handler returns.
func (s *answering) response(w http.ResponseWriter, q *request) *response {
	r := &response{w: w, q: q, now: s.opts.Now, body: q.out}
	if r.body == nil {
		r.own.open(w, s.spools, s.opts.SlowReader, q.caller)
		r.body = &r.own
	}
	return r
}

// stop closes the source and ends what an answer that broke off left running.
func (r *response) stop() {
	if r.rows != nil {
		r.clock.cancel(nil) // drivers drop a connection whose context has ended, and would read the rest of its rows otherwise
	}
	r.giveBack()
	r.own.stop()
}

// hold takes over the rows that are open for the answer.
func (r *response) hold(rows plan.Rows, clock *workClock) {
	r.rows, r.clock, r.body.clock = rows, clock, clock
}

// giveBack closes the rows, and gives back with them what the source holds.
func (r *response) giveBack() {
	if r.rows == nil {
		return
	}
	_ = r.rows.Close() // nothing was written that could be lost
	r.clock.stop()     // ends the context, at which drivers drop a connection that is in use
	r.rows, r.body.clock = nil, nil
}

// begin decides on status and headers when the first block is there.
func (r *response) begin(block []byte, last bool) error {
	r.sent = true
	h := r.w.Header()
	if r.etag == "" && last {
		r.etag = etagOf(block)
	}
	// A part of a batch has a tag only where it asked by one: OpenUI5 writes it into
	// whatever the part holds, and gives up on the whole batch where that is a number
	// or nothing.
	tagged := r.etag != "" && (!r.q.inBatch || r.q.header["If-None-Match"] != nil)
	if tagged {
		h.Set("ETag", r.etag)
	}
	if r.keep != nil && last {
		r.keep(block)
	}
	if !r.q.inBatch {
		h.Set("Server-Timing", r.q.timing.header(r.now()))
	}
	if tagged && !r.mixed && header.MatchesETag(r.q.header["If-None-Match"], r.etag) {
		h.Del("Content-Type")
		r.w.WriteHeader(http.StatusNotModified)
		return errHead
	}
	head := r.q.method == http.MethodHead
	gzip, only := r.q.acceptsGzip()
	gzip = gzip && (only || !last || len(block) >= minGzip)
	if gzip || r.packed {
		h.Set("Content-Encoding", "gzip")
	}
	switch {
	case gzip && !r.packed:
		if !head {
			r.body.compress()
		}
	case r.q.inBatch:
	case last:
		h.Set("Content-Length", strconv.Itoa(len(block)))
	case r.size > 0:
		h.Set("Content-Length", strconv.Itoa(r.size))
	}
	if !last && r.trailer != "" && !r.q.inBatch {
		h.Set("Trailer", r.trailer)
	}
	r.w.WriteHeader(http.StatusOK)
	if head {
		return errHead
	}
	return nil
}

// noContent answers without a body.
func (r *response) noContent() {
	r.w.Header().Del("Content-Type")
	r.w.WriteHeader(http.StatusNoContent)
}

// etagOf makes an entity tag of what an answer consists of or depends on. It is
// weak, because compression may change the bytes. The hash is a cryptographic one:
// who may write one value of an answer must not be able to hide from caches what
// others change in it.
func etagOf(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = h.Write(p) // a hash takes everything
		_, _ = h.Write([]byte{0})
	}
	return `W/"` + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12]) + `"`
}

// timing is when the stages of an answer ended.
type timing struct{ start, parsed, planned, admitted, opened time.Time }

// header writes Server-Timing (W3C): parse, plan, query to the first row, and
// write to the first block, in milliseconds.
func (t timing) header(now time.Time) string {
	b := make([]byte, 0, 96)
	b = appendMS(append(b, "parse;dur="...), t.start, t.parsed)
	b = appendMS(append(b, ", plan;dur="...), t.parsed, t.planned)
	b = appendMS(append(b, ", query;dur="...), t.planned, t.opened)
	b = appendMS(append(b, ", write;dur="...), t.opened, now)
	return string(b)
}

// appendMS appends the milliseconds between two marks with three decimals; 0.000 where one is zero, or the clock was turned back.
func appendMS(b []byte, from, to time.Time) []byte {
	us := int64(0)
	if !from.IsZero() && !to.IsZero() {
		us = max(0, to.Sub(from).Microseconds())
	}
	b = append(strconv.AppendInt(b, us/1000, 10), '.')
	return append(b, byte('0'+us/100%10), byte('0'+us/10%10), byte('0'+us%10))
}

// observe reports the stages of a request that ends now. Marks of stages that it did
// not come to, or that it did without, are zero.
func (t timing) observe(report func(stage string, took time.Duration), now time.Time) {
	began, stage := t.start, "parse"
	for _, next := range []struct {
		at    time.Time
		stage string
	}{{t.parsed, "plan"}, {t.planned, "wait"}, {t.admitted, "database"}, {t.opened, "write"}} {
		if next.at.IsZero() {
			continue
		}
		if stage != "wait" || next.stage == "database" {
			report(stage, next.at.Sub(began))
		}
		began, stage = next.at, next.stage
	}
	report(stage, now.Sub(began))
}
