package web

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
)

// The challenges of a 401 where machine tokens are taken (RFC 6750 3, RFC 7617 2.1).
const (
	bearerChallenge = `Bearer realm="Vestibule"`
	basicChallenge  = `Basic realm="Vestibule", charset="UTF-8"`
)

// Challenge sets the header WWW-Authenticate of a 401 where machine tokens are taken.
// Basic is offered to programs alone, since a browser would ask its user for a
// password, and only where nobody on the way reads it.
func (s *Site) Challenge(h http.Header, r *http.Request) {
	h.Set("WWW-Authenticate", bearerChallenge)
	if s.unread() && !fromBrowser(r) {
		h.Add("WWW-Authenticate", basicChallenge)
	}
}

// unread reports whether what is sent to the site is encrypted, or stays on this
// machine.
func (s *Site) unread() bool {
	if s.Secure() || s.o.PublicURL == nil { // which is allowed on loopback only
		return true
	}
	name := s.o.PublicURL.Hostname()
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

// fromBrowser reports whether a request shows any sign of a browser.
func fromBrowser(r *http.Request) bool {
	for name := range r.Header {
		if strings.HasPrefix(name, "Sec-Fetch-") {
			return true
		}
	}
	for _, name := range []string{"Origin", "Cookie", "X-Requested-With"} {
		if len(r.Header.Values(name)) > 0 {
			return true
		}
	}
	return strings.Contains(strings.ToLower(strings.Join(r.Header.Values("Accept"), ",")), "text/html")
}

// Challenging returns fail with a challenge for each 401.
func (s *Site) Challenging(fail Fail) Fail {
	return func(w http.ResponseWriter, r *http.Request, err error) {
		if fault.As(err).Status() == http.StatusUnauthorized {
			s.Challenge(w.Header(), r)
		}
		fail(w, r, err)
	}
}

// Refused reports whether an error of an authenticator is that the request itself is
// refused, with 401 or, where retryAfter is not zero, with 429.
func Refused(err error) (retryAfter time.Duration, ok bool) {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Status() != http.StatusUnauthorized && f.Status() != http.StatusTooManyRequests {
		return 0, false
	}
	return f.RetryAfter, true
}
