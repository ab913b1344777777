package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/host/admission"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
)

// Admission bounds what one client has under way. Nil admits everybody.
type Admission struct {
	site   *Site
	limits *Limits
	load   func(*http.Request) (auth.Session, error)
}

// NewAdmission returns an admission within limits. load reads the session of a
// request, or what stands for one, by whose user the request counts.
func NewAdmission(site *Site, limits *Limits, load func(*http.Request) (auth.Session, error)) *Admission {
	return &Admission{site, limits, load}
}

// enter waits for the turn of a request. It returns the request to go on with,
// which knows its session already unless it had to wait: then that may have ended.
//
// An asset counts by its network, so that nobody looks for a session.
func (a *Admission) enter(kind Kind, r *http.Request) (admitted *http.Request, leave func(), err error) {
	if a == nil {
		return r, func() {}, nil
	}
	loaded, key := r, a.site.ClientKey(r, "")
	if kind != Asset && (r.Header["Cookie"] != nil || r.Header["Authorization"] != nil) { // else there is no session
		loaded = r.WithContext(r.Context())
		key = a.key(loaded)
	}
	if leave := a.limits.requests.TryEnter(key); leave != nil {
		return loaded, leave, nil
	}
	leave, err = enter(r.Context(), a.limits.requests, key)
	return r, leave, err
}

// refused reports a client that went beyond a limit while its request came in. It
// counts by its network, since nobody may have looked yet who it is.
func (a *Admission) refused(r *http.Request, limit string, why error) {
	if a != nil {
		a.limits.Refused(a.site.ClientKey(r, ""), limit, why)
	}
}

// key is the user's where there is a session, else the network's. A database that
// does not answer is for the handler to report.
func (a *Admission) key(r *http.Request) string {
	s, err := a.load(r)
	if err != nil {
		return a.site.ClientKey(r, "")
	}
	return a.site.ClientKey(r, s.UserID)
}

// enter is that of the queue, with a fault for an error.
func enter(ctx context.Context, queue *admission.Queue, key string) (leave func(), err error) {
	leave, err = queue.Enter(ctx, key)
	if busy := new(admission.Busy); errors.As(err, &busy) {
		return nil, &fault.Fault{Code: fault.Busy, ByHost: busy.ByHost, RetryAfter: busy.RetryAfter, Cause: err}
	}
	if err != nil {
		return nil, &fault.Fault{Code: fault.Unavailable, Cause: err}
	}
	return leave, nil
}
