package odata

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/odata/payload"
)

// reporter ends requests that failed.
type reporter struct {
	log     hclog.Logger
	refused func(c Caller, limit string, why error)
}

// report ends a request with its error: a *fault is an answer. After any other
// error bytes are out already, so the connection is broken with
// http.ErrAbortHandler; JSON that ends well would look complete.
func (e reporter) report(w http.ResponseWriter, q *request, err error) {
	if err == nil {
		return
	}
	var f *fault
	switch {
	case errors.Is(err, errHead), errors.Is(err, errAgain):
	case errors.As(err, &f):
		e.fail(w, q, f)
	default:
		level := hclog.Error
		limit := limitOf(err)
		switch {
		case limit != "":
			level = hclog.Debug
			e.refuse(q, limit, err)
		case q.ctx.Err() != nil: // the client left
			level = hclog.Debug
		}
		e.log.Log(level, "odata answer broken off", "request_id", q.id, "error", err)
		panic(http.ErrAbortHandler)
	}
}

// refuse reports a request that goes beyond a limit, with what it asked for.
func (e reporter) refuse(q *request, limit string, why error) {
	e.refused(q.caller, limit, fmt.Errorf("%.120q: %w", q.path, why))
}

// fail answers with a fault (OData-JSON 21.1, OData-Protocol 9.4).
func (e reporter) fail(w http.ResponseWriter, q *request, f *fault) {
	f = f.located(q.target)
	// Options.Admit logs that it is busy. A client that has left is no error, a change that may have been made is.
	if f.limit != "" {
		e.refuse(q, f.limit, f)
		e.log.Debug("odata request refused", "request_id", q.id, "status", f.status, "limit", f.limit, "error", f.cause)
	} else if f.status >= http.StatusInternalServerError && f.status != http.StatusNotImplemented && f.code != "busy" {
		level := hclog.Error
		if q.ctx.Err() != nil && f.code != codeUnknown {
			level = hclog.Debug
		}
		e.log.Log(level, "odata request failed", "request_id", q.id, "status", f.status, "code", f.code, "error", f.cause)
	}
	if f.code == codeUnsettled && !q.inBatch && q.unsettled != nil && q.unsettled(w) {
		return
	}
	h := w.Header()
	setCommon(h, q)
	h.Set("Content-Type", "application/json;odata.metadata=minimal")
	h.Set("Content-Language", "en")
	h.Set("Cache-Control", "no-store")
	for _, name := range []string{"Preference-Applied", "Content-Disposition", "Link"} {
		h.Del(name) // set for the answer that failed before its first byte
	}
	if f.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.retryAfter.Seconds()))))
	}
	if f.status == http.StatusUnauthorized && !q.inBatch && q.challenge != nil {
		q.challenge(h)
	}
	if f.allow != "" {
		h.Set("Allow", f.allow)
	}
	if !q.inBatch && h.Get("X-Request-Id") == "" {
		h.Set("X-Request-Id", q.id)
	}
	w.WriteHeader(f.status)
	if q.method != http.MethodHead {
		_, _ = w.Write(faultBody(q, f)) // a client that is gone needs no answer
	}
}

func faultBody(q *request, f *fault) []byte {
	b := append([]byte(`{"error":{"code":`), payload.AppendString(nil, f.code)...)
	b = payload.AppendString(append(b, `,"message":`...), f.message)
	if target := optionAt(q.target, f.pos); target != "" {
		b = payload.AppendString(append(b, `,"target":`...), target)
	}
	b = appendDetails(b, q, f)
	b = payload.AppendString(append(b, `,"innererror":{"request_id":`...), q.id)
	if f.code == codeUnsettled && q.caller.Next != nil {
		b = append(append(b, `,"next":`...), q.caller.Next...)
	}
	return append(b, "}}}"...)
}

// appendDetails appends the details of a fault. In a group of requests each one, or else the fault, names the request
// (Core.ContentID).
func appendDetails(b []byte, q *request, f *fault) []byte {
	request := func(id string) {
		if id != "" {
			b = payload.AppendString(append(b, `,"@Core.ContentID":`...), id)
		}
	}
	if len(f.details) == 0 {
		request(q.contentID)
		return b
	}
	b = append(b, `,"details":[`...)
	for i, d := range f.details {
		if i > 0 {
			b = append(b, ',')
		}
		b = payload.AppendString(append(b, `{"code":`...), d.code)
		b = payload.AppendString(append(b, `,"message":`...), d.message)
		if d.target != "" {
			b = payload.AppendString(append(b, `,"target":`...), d.target)
		}
		// OpenUI5 takes a detail without a severity for no error.
		b = append(b, `,"@Common.numericSeverity":4`...)
		if f.contentIDs != nil {
			request(f.contentIDs[i])
		} else {
			request(q.contentID)
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// optionAt names the query option at a place in the request target, decoded.
func optionAt(target string, pos int) string {
	start := strings.IndexByte(target, '?')
	if start < 0 || pos <= start || pos > len(target) {
		return ""
	}
	if i := strings.LastIndexByte(target[:pos], '&'); i > start {
		start = i
	}
	pair, _, _ := strings.Cut(target[start+1:], "&")
	name, _, _ := strings.Cut(pair, "=")
	if decoded, err := url.QueryUnescape(name); err == nil {
		return decoded
	}
	return name
}

// maxNear is how many bytes of the target a message quotes.
const maxNear = 24

// located returns the fault with its place at the end of the message: the byte offset in the decoded target, and what
// the target has there where the fault quotes it. People read the decoded target; an encoded one is not theirs.
func (f *fault) located(target string) *fault {
	if f.pos < 0 {
		return f
	}
	at := min(f.pos, len(target))
	out := *f
	out.message += " (at position " + strconv.Itoa(at-2*strings.Count(target[:at], "%"))
	if f.quotes {
		out.message += near(target, at)
	}
	out.message += ")"
	return &out
}

// near quotes the target from a place on, decoded where that is possible.
func near(target string, at int) string {
	rest, decode := target[at:], url.PathUnescape
	if rest == "" {
		return ", the end"
	}
	if strings.Contains(target[:at], "?") {
		decode = url.QueryUnescape
	}
	if decoded, err := decode(rest); err == nil && utf8.ValidString(decoded) {
		rest = decoded
	}
	if len(rest) > maxNear {
		rest = strings.ToValidUTF8(rest[:maxNear], "") + "…"
	}
	return ": " + strconv.Quote(rest)
}
