package fault_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
)

func TestStatus(t *testing.T) {
	for code, want := range map[string]int{
		fault.Malformed: 400, fault.Unauthenticated: 401, fault.CrossOrigin: 403, fault.NotFound: 404, fault.UnknownIntent: 404,
		fault.MethodNotAllowed: 405, fault.IntentNotCurrent: 409, fault.TooLarge: 413, fault.UnsupportedMedia: 415,
		fault.Misdirected: 421, fault.Internal: 500, fault.RouteNotFound: 500, fault.HandlerMissing: 501,
		fault.DispenserContract: 502, fault.UpstreamUnavailable: 502,
		fault.DispenserUnavailable: 503, fault.HandlerUnavailable: 503, fault.Unavailable: 503, fault.DatabaseUnavailable: 503, "a code that is new": 500,
	} {
		if got := (&fault.Fault{Code: code}).Status(); got != want {
			t.Errorf("%s: %d, want %d", code, got, want)
		}
	}
}

func TestWrite(t *testing.T) {
	secret := errors.New("connection to db.internal refused")
	for name, test := range map[string]struct {
		err         error
		status      int
		body, retry string
	}{
		"a code":      {&fault.Fault{Code: fault.NotFound}, 404, `{"message":"not_found","request_id":"r1"}`, ""},
		"a field":     {fault.Invalid("email", "email"), 422, `{"message":"email","errors":{"email":["email"]},"request_id":"r1"}`, ""},
		"two of one":  {&fault.Fault{Fields: []fault.Field{{Field: "a", Code: "x"}, {Field: "a", Code: "y"}}}, 422, `{"message":"x","errors":{"a":["x","y"]},"request_id":"r1"}`, ""},
		"a cause":     {fmt.Errorf("login: %w", &fault.Fault{Code: fault.Unavailable, Cause: secret, RetryAfter: 1500 * time.Millisecond}), 503, `{"message":"unavailable","request_id":"r1"}`, "2"},
		"a plain one": {secret, 500, `{"message":"internal_error","request_id":"r1"}`, ""},
		"too many":    {fault.Throttled("login", 61*time.Second), 429, `{"message":"auth_throttle|61|2","errors":{"login":["auth_throttle|61|2"]},"request_id":"r1"}`, "61"},
		"a moment":    {fault.Throttled("login", 0), 429, `{"message":"auth_throttle|1|1","errors":{"login":["auth_throttle|1|1"]},"request_id":"r1"}`, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			fault.As(test.err).Write(w, "r1")
			h := w.Header()
			if w.Code != test.status || strings.TrimSpace(w.Body.String()) != test.body || h.Get("Retry-After") != test.retry {
				t.Errorf("%d %s, Retry-After %q; want %d %s, %q", w.Code, w.Body, h.Get("Retry-After"), test.status, test.body, test.retry)
			}
			if h.Get("Cache-Control") != "no-store" || h.Get("Content-Type") != "application/json; charset=utf-8" {
				t.Errorf("header %v", h)
			}
		})
	}
}

// The cause is in the error, for the log, and can be asked for.
func TestCause(t *testing.T) {
	cause := errors.New("disk full")
	err := error(&fault.Fault{Code: fault.Internal, Cause: cause})
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("error %v", err)
	}
}
