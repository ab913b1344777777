package odata

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/header"
)

// errHead ends the writing of an answer of which only the headers are wanted.
var errHead = errors.New("only the headers were asked for")

// minGzip is the size in bytes from which on an answer is compressed.
const minGzip = 1 << 10

// response sends one successful answer. It is a payload.Sink: an answer that
// fits into one block gets a length and an entity tag; a longer one is streamed.
type response struct {
	stream
	q     *request
	now   func() time.Time
	clock *workClock // nil where no database works
	// etag is set where it is known before the bytes are.
	etag string
	// keep gets an answer of one block, which must be copied, after etag is set;
	// nil where nobody wants it.
	keep func(block []byte)
	sent bool
}

// setCommon sets the headers that every answer has, faults too.
func setCommon(h http.Header, q *request) {
	h.Set("OData-Version", q.version())
	if q.inBatch {
		return
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept, Accept-Encoding, OData-MaxVersion, Prefer")
}

// setSuccess sets the headers of a successful answer.
func setSuccess(h http.Header, q *request, contentType string, private bool) {
	setCommon(h, q)
	h.Set("Content-Type", contentType)
	// Clients must revalidate every answer, which an entity tag makes cheap.
	if private {
		h.Set("Cache-Control", "private, no-cache")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
}

// Send implements payload.Sink.
func (r *response) Send(block []byte, last bool) error {
	if err := r.q.left.takeBytes(len(block)); err != nil {
		return err
	}
	if r.clock != nil {
		r.clock.pause()
		defer r.clock.resume()
	}
	if !last || r.sent {
		r.extendWriteDeadline(stall)
	}
	if !r.sent {
		if err := r.begin(block, last); err != nil {
			return err
		}
	}
	if err := r.write(block); err != nil {
		return err
	}
	if !last {
		return nil
	}
	return r.end()
}

// begin decides on status and headers when the first block is there.
func (r *response) begin(block []byte, last bool) error {
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
		r.keep(block)
	}
	if !r.q.inBatch {
		h.Set("Server-Timing", r.q.timing.header(r.now()))
	}
	if tagged && header.MatchesETag(r.q.header["If-None-Match"], r.etag) {
		h.Del("Content-Type")
		r.w.WriteHeader(http.StatusNotModified)
		return errHead
	}
	head := r.q.method == http.MethodHead
	if (!last || len(block) >= minGzip) && r.q.acceptsGzip() {
		h.Set("Content-Encoding", "gzip")
		if !head {
			r.compress()
		}
	} else if last && !r.q.inBatch {
		h.Set("Content-Length", strconv.Itoa(len(block)))
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
