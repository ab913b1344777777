package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/time/rate"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/target"
)

// LocationHeader is where a proxy that asked for a status finds the sign-in.
const LocationHeader = "X-Vestibule-Location"

// VerifyOptions are what a [Verify] is made of; all are required.
type VerifyOptions struct {
	Site *Site
	// Sessions tells who makes a request by the session cookie alone: what it set on
	// the answer would be lost on the way to the browser. Tokens does so by a machine
	// token as well.
	Sessions, Tokens auth.Authenticator
	// Policy refuses what the host itself would refuse.
	Policy     *Policy
	Assertions *Assertions
	Fail       Fail
	Logger     hclog.Logger
}

// Verify is forward auth: it tells a proxy whether to pass a request on to an
// application, and as whose. It changes nothing but the touch of the session. It is
// safe for concurrent use.
type Verify struct {
	VerifyOptions
	origins crossOrigin
	strange *rate.Sometimes
}

// NewVerify returns a handler for GET /auth/verify.
func NewVerify(o VerifyOptions) *Verify {
	return &Verify{o, newCrossOrigin(o.Site), &rate.Sometimes{First: 1, Interval: time.Minute}}
}

// ServeHTTP answers 200 with the identity headers, each of them always there so that
// the proxy overwrites what a client sent, or else turns the request away: with 401
// or 403, or with 302 or 303 where the proxy wants a navigation sent to the sign-in.
func (v *Verify) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	asked, err := v.question(r)
	if err != nil {
		v.Fail(w, r, err)
		return
	}
	r = asked.request // errors and log lines are about the client's request, not the proxy's question
	by, fail := v.Sessions, v.Fail
	if asked.tokens {
		by, fail = v.Tokens, v.Site.Challenging(v.Fail)
	}
	auth.RequestOf(r.Context()).WithIdentity()
	who, admitted, err := decide(v.origins, by, asked.guard, w, r, mayOpenSocket(r))
	if err == nil && admitted {
		err = v.identify(w, r, who)
	}
	switch {
	case err != nil:
		fail(w, r, err)
	case !admitted:
		v.turnAway(w, r, asked, who, fail)
	default:
		w.WriteHeader(http.StatusOK)
	}
}

// identify sets the identity headers. A field that is empty tells the proxy to
// overwrite the client's all the same.
func (v *Verify) identify(w http.ResponseWriter, r *http.Request, who auth.Principal) error {
	user, err := identityOf(r.Context(), who, false)
	if err != nil {
		return err
	}
	assertion, err := v.Assertions.about(r, VerifyAudience, who, user, nil)
	if err != nil {
		return err
	}
	h := w.Header()
	for _, name := range v.Policy.names { // which no route of the host has put in
		if _, set := h[name]; !set {
			h.Set(name, "")
		}
	}
	setUser(h, user)
	told := [...]string{unfinished(who), assertion} // one array for both headers
	h[StepHeader], h[AssertionHeader] = told[0:1:1], told[1:2:2]
	return nil
}

// turnAway is that of a [Gate] by way of a proxy. The page that was asked for goes
// along in the address, so that nothing has to be kept here.
func (v *Verify) turnAway(w http.ResponseWriter, r *http.Request, asked question, who auth.Principal, fail Fail) {
	if !IsNavigation(r) {
		fail(w, r, refusal(who))
		return
	}
	signIn := v.Site.Base(r) + "/login"
	if page := target.LocalPath(r.RequestURI); page != "" && len(page) <= auth.MaxIntended {
		signIn += "?redirect=" + url.QueryEscape(page)
	}
	if !asked.redirect {
		w.Header().Set(LocationHeader, signIn)
		fail(w, r, &fault.Fault{Code: fault.Unauthenticated})
		return
	}
	status := http.StatusSeeOther
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		status = http.StatusFound
	}
	w.Header().Set("Location", signIn)
	w.WriteHeader(status)
}

// A question is what a proxy wants to know.
type question struct {
	// request is the client's request, as the proxy tells of it.
	request          *http.Request
	guard            Guard
	tokens, redirect bool
}

// question reads what the proxy asks, and about which request.
func (v *Verify) question(r *http.Request) (question, error) {
	if remote, ok := parseAddr(r.RemoteAddr); !ok || !contains(v.Site.o.TrustedProxies, remote) {
		v.warn("/auth/verify was asked by a sender that is no trusted proxy; add it to server.trusted_proxies if it is yours", "sender", r.RemoteAddr)
		return question{}, &fault.Fault{Code: fault.UntrustedProxy, Cause: fmt.Errorf("%s is not in server.trusted_proxies", r.RemoteAddr)}
	}
	request, err := v.forwarded(r)
	if err != nil {
		return question{}, err
	}
	asked := question{request: request}
	if r.URL.RawQuery != "" && r.URL.RawQuery == request.URL.RawQuery {
		v.warn("/auth/verify is asked with the client's query, which is refused; write a query into the proxy's configuration, such as ?deny=status")
		return question{}, malformed("query", "that_of_the_client", "the proxy asks with the client's query, by which a client could choose the guard: write one into its configuration, such as /auth/verify?guard=settled")
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return question{}, malformed("query", "invalid", "the query of /auth/verify cannot be read")
	}
	// choose returns what the query says of one thing, and where it says nothing the first choice.
	choose := func(name string, choices ...string) string {
		said := query[name]
		switch {
		case len(said) == 0:
			return choices[0]
		case len(said) > 1 || !slices.Contains(choices, said[0]):
			err = malformed(name, "invalid", "the proxy's configuration asks /auth/verify for something that there is not")
		}
		return said[0]
	}
	asked.guard = Guard(choose("guard", string(GuardSettled), string(GuardSession), string(GuardNone)))
	asked.tokens = choose("tokens", "false", "true") == "true"
	asked.redirect = choose("deny", "status", "redirect") == "redirect"
	if err != nil {
		return question{}, err
	}
	if err := v.Policy.checkSpelling(request.Header); err != nil {
		return question{}, err
	}
	return asked, v.judge(request)
}

// warn tells the operator of a proxy that cannot work as it is configured, once a
// minute.
func (v *Verify) warn(what string, args ...any) {
	v.strange.Do(func() { v.Logger.Warn(what, args...) })
}

func malformed(field, code, cause string) error {
	return &fault.Fault{Code: fault.Malformed, Fields: []fault.Field{{Field: field, Code: code}}, Cause: errors.New(cause)}
}
