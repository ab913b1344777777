package host

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/route"
)

// proxy hands requests on to an application with the identity of who is signed
// in.
func (h *Host) proxy(target *url.URL) http.Handler {
	p := route.NewProxy(target, func(w http.ResponseWriter, r *http.Request, err error) {
		h.pipeline.Fail(w, r, &fault.Fault{Code: fault.UpstreamUnavailable, Cause: err})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, err := h.visitor(w, r)
		if err != nil {
			h.pipeline.Fail(w, r, err)
			return
		}
		client, _ := h.site.Client(r)
		scheme, _, _ := strings.Cut(h.site.Base(r), "://")
		p.ServeHTTP(w, r, route.Visit{
			UserID: user.ID, Email: user.Email, Name: user.Name,
			Client: client, Scheme: scheme, RequestID: requestID(r.Context()),
		})
	})
}

// visitor returns who is signed in, the zero User for nobody.
func (h *Host) visitor(w http.ResponseWriter, r *http.Request) (auth.User, error) {
	s, guarded := identity(r.Context())
	if !guarded {
		var err error
		if s, err = h.pipeline.Identify(w, r); err != nil {
			return auth.User{}, err
		}
	}
	if !s.SignedIn() {
		return auth.User{}, nil
	}
	user, err := h.o.Store.Users().FindByID(r.Context(), s.UserID)
	if errors.Is(err, auth.ErrNotFound) {
		return user, &fault.Fault{Code: fault.Unauthenticated, Cause: err}
	}
	return user, err
}
