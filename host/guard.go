package host

import (
	"context"
	"errors"
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/route"
)

type sessionKey struct{}

// identity returns the session that a guard found for the request.
func identity(ctx context.Context) (auth.Session, bool) {
	s, ok := ctx.Value(sessionKey{}).(auth.Session)
	return s, ok
}

// Guard lets pass only who the guard admits, as for the configured routes: a
// guest who asks for a page goes to /login and comes back afterwards, and who
// asks for data gets 401.
func (h *Host) Guard(g Guard, next http.Handler) http.Handler {
	return h.wrap("", page, h.guarded(g, next))
}

// UserID returns who is signed in, "" for a guest, in a handler behind Guard.
func UserID(r *http.Request) string {
	s, _ := identity(r.Context())
	return s.UserID
}

func (h *Host) guarded(g Guard, next http.Handler) http.Handler {
	if g == GuardNone {
		return next
	}
	check := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := h.pipeline.Identify(w, r)
		if err != nil {
			h.pipeline.Fail(w, r, err)
			return
		}
		if !s.SignedIn() || g == GuardSettled && !s.Settled() {
			h.turnAway(w, r, s)
			return
		}
		w.Header().Set("Cache-Control", "private, no-cache")
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, s)))
	})
	return h.sameOrigin(check)
}

// turnAway sends a browser to the login, which resumes, and tells a program that
// nobody is signed in.
func (h *Host) turnAway(w http.ResponseWriter, r *http.Request, s auth.Session) {
	if !route.WantsPage(r) {
		h.pipeline.Fail(w, r, &fault.Fault{Code: fault.Unauthenticated})
		return
	}
	if err := h.pipeline.KeepIntended(w, r, s, r.URL.RequestURI()); err != nil {
		h.pipeline.Fail(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, "/login", http.StatusFound)
}

// crossOrigin refuses what another site makes a browser send.
type crossOrigin struct {
	site *site
	std  *http.CrossOriginProtection
}

func newCrossOrigin(s *site) crossOrigin {
	std := http.NewCrossOriginProtection()
	if u := s.o.Server.PublicURL; u != nil {
		// Behind a proxy that rewrites Host the comparison with Host would fail. The
		// URL has been checked to be an origin.
		_ = std.AddTrustedOrigin(auth.Origin(u))
	}
	return crossOrigin{s, std}
}

// check compares Origin exactly as well: the standard check lets an origin with
// user information and one of http on the same host pass when Sec-Fetch-Site is
// missing.
func (c crossOrigin) check(r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != c.site.Base(r) {
		return errors.New("origin is not that of this site")
	}
	return c.std.Check(r)
}

func (h *Host) sameOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.guard.check(r); err != nil {
			h.pipeline.Fail(w, r, &fault.Fault{Code: fault.CrossOrigin, Cause: err})
			return
		}
		next.ServeHTTP(w, r)
	})
}
