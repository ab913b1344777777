package odata

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// fault is an answer that says what went wrong. Everything but cause is for the
// client.
type fault struct {
	status  int
	code    string
	message string
	// pos is a place in the request target; -1 when there is none.
	pos int
	// allow is the Allow header of a 405.
	allow string
	// cause is for the log.
	cause error
}

// errSlow ends the work of a database that takes too long.
var errSlow = errors.New("the database was too slow")

func badRequest(code, format string, args ...any) *fault {
	return &fault{status: http.StatusBadRequest, code: code, message: fmt.Sprintf(format, args...), pos: -1}
}

func notFound(message string) *fault {
	return &fault{status: http.StatusNotFound, code: "not_found", message: message, pos: -1}
}

func notAllowed(method, allow string) *fault {
	return &fault{
		status: http.StatusMethodNotAllowed, code: "method_not_allowed", pos: -1, allow: allow,
		message: "this resource answers " + allow + ", not " + method,
	}
}

func notAcceptable(offers string) *fault {
	return &fault{
		status: http.StatusNotAcceptable, code: "not_acceptable", pos: -1,
		message: "Accept or $format allows none of the formats of this resource: " + offers,
	}
}

// faultOf makes the answer for an error of another stage. It is the one place
// where errors get a status.
func faultOf(ctx context.Context, err error) *fault {
	var s *syntax.Error
	var p *plan.Error
	switch {
	case errors.As(err, &s):
		status := http.StatusBadRequest
		if s.NotImplemented() {
			status = http.StatusNotImplemented
		}
		return &fault{status: status, code: s.Code, message: s.Error(), pos: s.Pos}
	case errors.Is(context.Cause(ctx), errSlow):
		return &fault{status: http.StatusServiceUnavailable, code: "unavailable", message: "the database was too slow for this request", pos: -1, cause: err}
	case errors.As(err, &p):
		status, code := statusOf(p.Kind)
		return &fault{status: status, code: code, message: p.Error(), pos: p.Pos, cause: p.Cause}
	default:
		return &fault{status: http.StatusInternalServerError, code: "internal", message: "the service failed; its log tells why", pos: -1, cause: err}
	}
}

func statusOf(k plan.ErrorKind) (int, string) {
	switch k {
	case plan.NotFound:
		return http.StatusNotFound, "not_found"
	case plan.Unauthenticated:
		return http.StatusUnauthorized, "unauthenticated"
	case plan.Forbidden:
		return http.StatusForbidden, "forbidden"
	case plan.NotImplemented:
		return http.StatusNotImplemented, "not_implemented"
	case plan.Unavailable:
		return http.StatusServiceUnavailable, "unavailable"
	default:
		return http.StatusBadRequest, "bad_request"
	}
}

// fail answers with a fault (OData-JSON 21.1, OData-Protocol 9.4).
func (s *Service) fail(w http.ResponseWriter, q *request, f *fault) {
	if f.status >= http.StatusInternalServerError && f.status != http.StatusNotImplemented {
		s.opts.Logger.Error("odata request failed", "request_id", q.id, "status", f.status, "code", f.code, "error", f.cause)
	}
	b := append([]byte(`{"error":{"code":`), payload.AppendString(nil, f.code)...)
	b = payload.AppendString(append(b, `,"message":`...), f.message)
	if target := optionAt(q.target, f.pos); target != "" {
		b = payload.AppendString(append(b, `,"target":`...), target)
	}
	b = payload.AppendString(append(b, `,"innererror":{"request_id":`...), q.id)
	b = append(b, "}}}"...)

	h := w.Header()
	q.common(h)
	h.Set("Content-Type", "application/json;odata.metadata=minimal")
	h.Set("Cache-Control", "no-store")
	h.Del("Preference-Applied") // set for the answer that failed before its first byte
	if f.allow != "" {
		h.Set("Allow", f.allow)
	}
	if !q.inBatch && h.Get("X-Request-Id") == "" {
		h.Set("X-Request-Id", q.id)
	}
	w.WriteHeader(f.status)
	if q.method != http.MethodHead {
		_, _ = w.Write(b) // a client that is gone needs no answer
	}
}

// optionAt names the query option at a place in the request target.
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
	return name
}
