package odata

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/batch"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// fault is an error answer. All its fields but cause are for the client.
type fault struct {
	status  int
	code    string
	message string
	// pos is a place in the request target as it was sent; -1 when there is none.
	pos int
	// quotes makes the message quote the target behind pos. See located.
	quotes bool
	// allow is the Allow header of a 405.
	allow string
	// retryAfter becomes the Retry-After header; zero sends none.
	retryAfter time.Duration
	// limit names the limit that the request goes beyond; empty for none, and for
	// those that Options.Admit knows.
	limit string
	// details are the properties that the fault is about.
	details []detail
	// contentIDs are the requests of a change set that the details are about; nil if they are about the one that is answered.
	contentIDs []string
	// cause is for the log.
	cause error
}

// detail says what is wrong with one property (OData-JSON 21.1).
type detail struct {
	// target is the path of the property.
	target, code, message string
}

// Error makes a fault an error, so that every stage can end a request with it.
func (f *fault) Error() string { return f.message }

// Unwrap gives the cause.
func (f *fault) Unwrap() error { return f.cause }

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
	var slow *slowError
	var refusal *write.Refusal
	switch {
	case errors.As(err, &s):
		status := http.StatusBadRequest
		if s.NotImplemented() {
			status = http.StatusNotImplemented
		}
		return &fault{status: status, code: s.Code, message: s.Msg, pos: s.Pos, quotes: true, limit: limitOf(err)}
	case errors.As(context.Cause(ctx), &slow):
		return &fault{status: http.StatusServiceUnavailable, code: "unavailable", message: slow.Error(), pos: -1, limit: timeoutLimit, cause: err}
	case errors.As(err, &p):
		status, code := statusOf(p.Kind)
		return &fault{status: status, code: code, message: p.Message, pos: p.Pos, limit: limitOf(err), cause: p.Cause}
	case errors.As(err, &refusal):
		return refusalFault(refusal)
	default:
		return &fault{status: http.StatusInternalServerError, code: "internal", message: "the service failed; its log tells why", pos: -1, cause: err}
	}
}

// codeUnsettled is the code of 403 for a caller who has signed in and has a step open.
const codeUnsettled = "unsettled"

func statusOf(k plan.ErrorKind) (int, string) {
	switch k {
	case plan.NotFound:
		return http.StatusNotFound, "not_found"
	case plan.Unauthenticated:
		return http.StatusUnauthorized, "unauthenticated"
	case plan.Forbidden:
		return http.StatusForbidden, codeUnsettled
	case plan.NotImplemented:
		return http.StatusNotImplemented, "not_implemented"
	case plan.TooLarge:
		return http.StatusBadRequest, "limit"
	case plan.Unavailable:
		return http.StatusServiceUnavailable, "unavailable"
	default:
		return http.StatusBadRequest, "bad_request"
	}
}

// The names of limits beside those of plan.Limits: configuration keys, and a word
// without a dot for what has none.
const (
	timeoutLimit = "odata.limits.timeout"
	slowLimit    = "odata.limits.slow_reader"
	// fixedLimit are the limits that cannot be changed, such as how long a request
	// may be and how deep expressions may nest.
	fixedLimit = "odata_fixed"
)

// LimitNames are the names that Options.Refused may get.
func LimitNames() []string {
	names := []string{timeoutLimit, slowLimit, fixedLimit}
	for _, key := range []string{"max_top", "expand_depth", "filter_nodes", "apply_steps", "apply_groups", "rows", "bytes"} {
		names = append(names, "odata.limits."+key)
	}
	return names
}

// limitOf names the limit that ended a request, empty for none.
func limitOf(err error) string {
	if f, ok := errors.AsType[*fault](err); ok {
		return f.limit
	}
	if _, ok := errors.AsType[*slowError](err); ok {
		return timeoutLimit
	}
	if p, ok := errors.AsType[*plan.Error](err); ok && p.Kind == plan.TooLarge {
		if p.Limit != "" {
			return p.Limit
		}
		return fixedLimit
	}
	if s, ok := errors.AsType[*syntax.Error](err); ok && s.Code == "limit" {
		return fixedLimit
	}
	switch {
	case errors.Is(err, errSlowReader):
		return slowLimit
	case errors.Is(err, errStalled), errors.Is(err, batch.ErrTooLarge):
		return fixedLimit
	}
	return ""
}

// stalled names the reason of a write that ended at a deadline of this package.
func stalled(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.Join(errStalled, err)
	}
	return err
}
