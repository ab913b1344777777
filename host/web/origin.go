package web

import (
	"errors"
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
)

// crossOrigin refuses what another site makes a browser send: requests that change
// something, and WebSockets.
type crossOrigin struct {
	site *Site
	std  *http.CrossOriginProtection
}

func newCrossOrigin(s *Site) crossOrigin {
	std := http.NewCrossOriginProtection()
	if u := s.o.PublicURL; u != nil {
		// Behind a proxy that rewrites Host the comparison with Host would fail. The
		// URL has been checked to be an origin.
		_ = std.AddTrustedOrigin(auth.Origin(u))
	}
	return crossOrigin{s, std}
}

// check returns a fault for a request of another site. It compares Origin exactly
// as well: the standard check lets an origin with user information and one of
// http on the same host pass when Sec-Fetch-Site is missing.
func (c crossOrigin) check(r *http.Request) error { return c.checkAs(r, isWebSocket(r)) }

// checkAs is check for a request of which somebody else tells whether it may open a
// WebSocket.
func (c crossOrigin) checkAs(r *http.Request, socket bool) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		if !socket {
			return nil
		}
		// A page elsewhere may open a WebSocket and read what comes back.
		as := *r
		as.Method = http.MethodPost
		r = &as
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != c.site.Base(r) {
		return &fault.Fault{Code: fault.CrossOrigin, Cause: errors.New("origin is not that of this site")}
	}
	if err := c.std.Check(r); err != nil {
		return &fault.Fault{Code: fault.CrossOrigin, Cause: err}
	}
	return nil
}
