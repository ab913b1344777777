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
	limits *Limits
	load   func(*http.Request) (auth.Session, error)
}

// NewAdmission returns an admission within limits. load reads the session of a
// request, or what stands for one, by whose user the request counts.
func NewAdmission(limits *Limits, load func(*http.Request) (auth.Session, error)) *Admission {
	return &Admission{limits, load}
}

// enter waits for the turn of a request. What was read of its session meanwhile is
// forgotten: the session may have ended.
//
// An asset counts by its network, so that nobody looks for a session.
func (a *Admission) enter(kind Kind, r *http.Request) (leave func(), err error) {
	if a == nil {
		return func() {}, nil
	}
	request, user := auth.RequestOf(r.Context()), ""
	if kind != Asset && (r.Header["Cookie"] != nil || r.Header["Authorization"] != nil) { // else there is no session
		s, _ := a.load(r) // a database that does not answer is for the handler to report
		user = s.UserID
	}
	key := request.CountsAs(user)
	if leave := a.limits.requests.TryEnter(key); leave != nil {
		return leave, nil
	}
	defer request.Forget()
	return enter(r.Context(), a.limits.requests, key)
}

// refused reports a client that went beyond a limit while its request was received. It
// counts by its network, since nobody may have looked yet who it is.
func (a *Admission) refused(request *auth.Request, limit string, why error) {
	if a != nil {
		a.limits.Refused(request.CountsAs(""), limit, why)
	}
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
