package odata

import (
	"errors"
	"net/http"
	"time"
)

// Refused is what Options.Caller returns for a request with credentials that are no
// good. It is answered with 401, or with 429 where there were too many.
type Refused struct { //nolint:errname // an answer: errors.As(err, &refused)
	// RetryAfter is when it makes sense to come back; zero for 401.
	RetryAfter time.Duration
	// Cause is for the log.
	Cause error
}

// Error says what is wrong with the request.
func (r *Refused) Error() string {
	if r.RetryAfter > 0 {
		return "too many requests of this client had credentials that are not valid; try again later"
	}
	return "the credentials are not valid"
}

// Unwrap gives the cause.
func (r *Refused) Unwrap() error { return r.Cause }

// caller returns who asks. A [*Refused] of Options.Caller becomes 401 or 429; any other error is an outage, 503.
func (s *Service) caller(w http.ResponseWriter, r *http.Request) (Caller, *fault) {
	c, err := s.opts.Caller(w, r)
	if refused, ok := errors.AsType[*Refused](err); ok {
		f := &fault{status: http.StatusUnauthorized, code: "unauthenticated", message: refused.Error(), pos: -1, cause: err}
		if refused.RetryAfter > 0 {
			f.status, f.code, f.retryAfter = http.StatusTooManyRequests, "too_many_attempts", refused.RetryAfter
		}
		return Caller{}, f
	}
	if err != nil {
		return Caller{}, &fault{
			status: http.StatusServiceUnavailable, code: "unavailable", pos: -1, cause: err,
			message: "it cannot be told who asks; try again later",
		}
	}
	return c, nil
}
