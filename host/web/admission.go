package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/host/admission"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
)

// admit waits for the turn of a request. What was read of its session meanwhile is
// forgotten: the session may have ended.
//
// An asset counts by its network, so that nobody looks for a session.
func (m *Middleware) admit(kind Kind, r *http.Request) (leave func(), err error) {
	request, user := auth.RequestOf(r.Context()), ""
	if kind != Asset && (r.Header["Cookie"] != nil || r.Header["Authorization"] != nil) { // else there is no session
		s, _ := m.load(r) // a database that does not answer is for the handler to report
		user = s.UserID
	}
	key := request.CountsAs(user)
	if leave := m.limits.requests.TryEnter(key); leave != nil {
		return leave, nil
	}
	defer request.Forget()
	return enter(r.Context(), m.limits.requests, key)
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
