package web

import (
	"net/http"
	"net/url"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
)

// Guard is who may pass a route or an entity set: "settled", "session" or
// "none".
type Guard string

// The guards. GuardSettled, which the zero value stands for, also demands that the
// intent loop has ended, or that it holds the person where the request goes.
const (
	GuardSettled Guard = "settled"
	GuardSession Guard = "session"
	GuardNone    Guard = "none"
)

// admits reports whether a principal may pass with a request.
func (g Guard) admits(who auth.Principal, r *http.Request) bool {
	switch g {
	case GuardNone:
		return true
	case GuardSession:
		return who.SignedIn()
	}
	return who.Settled || opens(who, r)
}

// Fail answers a request with the fault that err is, or with an internal error.
type Fail func(w http.ResponseWriter, r *http.Request, err error)

// A Handler answers a request that has passed a guard; who is its principal.
type Handler func(w http.ResponseWriter, r *http.Request, who auth.Principal)

// A Gate holds what a guard needs to turn people away. It is safe for concurrent
// use.
type Gate struct {
	authenticator auth.Authenticator
	keep          KeepIntended
	origins       crossOrigin
	fail          Fail
}

// KeepIntended keeps the intended URL until after the sign-in.
type KeepIntended func(w http.ResponseWriter, r *http.Request, s auth.Session, page string) error

// NewGate returns a gate that asks the authenticator who makes a request.
func NewGate(site *Site, authenticator auth.Authenticator, keep KeepIntended, fail Fail) *Gate {
	return &Gate{authenticator, keep, newCrossOrigin(site), fail}
}

// CrossOrigin returns the code of a fault if another site made a browser send the request, and the request is no plain GET; else
// nothing.
func (g *Gate) CrossOrigin(r *http.Request) string {
	if g.origins.check(r) != nil {
		return fault.CrossOrigin
	}
	return ""
}

// Guard passes on the requests of principals that the guard admits, and refuses
// those that another site makes a browser send. A navigation of a guest goes to
// /login and comes back afterwards, any other request gets 401. A user with a
// step open goes to /login as well, or gets 403 with the step. GuardNone admits
// everybody, and tells who they are unless another site made the browser send the
// request.
func (g *Gate) Guard(guard Guard, next Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, admitted, err := decide(g.origins, g.authenticator, guard, w, r, isWebSocket(r))
		if err != nil {
			g.fail(w, r, err)
			return
		}
		if !admitted {
			g.turnAway(w, r, who)
			return
		}
		if guard != GuardNone {
			w.Header().Set("Cache-Control", "private, no-cache")
		}
		next(w, r, who)
	})
}

// decide returns who makes the request, and whether the guard admits them; an error
// where that cannot be told, or where another site made the browser send the request.
// Behind GuardNone a request of another site passes as a guest's. socket is set for a
// request that may open a WebSocket.
func decide(origins crossOrigin, by auth.Authenticator, guard Guard, w http.ResponseWriter, r *http.Request, socket bool) (who auth.Principal, admitted bool, err error) {
	if err := origins.checkAs(r, socket); err != nil {
		if guard == GuardNone {
			return auth.Principal{}, true, nil
		}
		return auth.Principal{}, false, err
	}
	if who, err = by.Authenticate(w, r); err != nil {
		return who, false, err
	}
	return who, guard.admits(who, r), nil
}

// turnAway redirects a navigation to the login, which resumes an open step, and
// answers any other request with 401 or with 403 and the step.
func (g *Gate) turnAway(w http.ResponseWriter, r *http.Request, who auth.Principal) {
	if !IsNavigation(r) {
		g.fail(w, r, refusal(who))
		return
	}
	status, login := http.StatusSeeOther, "/login"
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		status = http.StatusFound
		page := r.URL.RequestURI()
		if who.Session.Unasked && len(page) <= auth.MaxIntended {
			login += "?redirect=" + url.QueryEscape(page) // each tab comes back to its own
		} else if err := g.keep(w, r, who.Session, page); err != nil {
			g.fail(w, r, err)
			return
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, login, status)
}

func refusal(who auth.Principal) *fault.Fault {
	if !who.SignedIn() {
		return &fault.Fault{Code: fault.Unauthenticated}
	}
	f := &fault.Fault{Code: fault.Unsettled}
	if who.Session.Intent != nil {
		f.Next = who.Session.Intent.Envelope()
	}
	return f
}
