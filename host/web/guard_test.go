package web_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// somebody is an authenticator with one answer for every request.
type somebody struct {
	who auth.Principal
	err error
}

func (s somebody) Authenticate(http.ResponseWriter, *http.Request) (auth.Principal, error) {
	return s.who, s.err
}

// A passage is a gate with what it did.
type passage struct {
	handler http.Handler
	passed  []auth.Principal
	failed  []error
	kept    []string
}

func newPassage(guard web.Guard, s somebody) *passage {
	p := &passage{}
	keep := func(_ http.ResponseWriter, _ *http.Request, _ auth.Session, page string) error {
		p.kept = append(p.kept, page)
		return nil
	}
	fail := func(w http.ResponseWriter, _ *http.Request, err error) {
		p.failed = append(p.failed, err)
		w.WriteHeader(fault.As(err).Status())
	}
	gate := web.NewGate(web.NewSite(web.SiteOptions{}), s, keep, fail)
	p.handler = gate.Guard(guard, func(_ http.ResponseWriter, _ *http.Request, who auth.Principal) { p.passed = append(p.passed, who) })
	return p
}

// serve sends a browser's request for a page.
func (p *passage) serve(method string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost/page?a=1", nil)
	r.Header.Set("Sec-Fetch-Mode", "navigate")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	p.handler.ServeHTTP(w, r)
	return w
}

func TestGuardAdmits(t *testing.T) {
	guest, open, settled := auth.Principal{}, auth.Principal{UserID: "7"}, auth.Principal{UserID: "7", Settled: true}
	tests := []struct {
		guard  web.Guard
		passes [3]bool // guest, open, settled
	}{
		{web.GuardNone, [3]bool{true, true, true}},
		{web.GuardSession, [3]bool{false, true, true}},
		{"", [3]bool{false, false, true}},
		{web.GuardSettled, [3]bool{false, false, true}},
	}
	for _, test := range tests {
		for i, who := range []auth.Principal{guest, open, settled} {
			p := newPassage(test.guard, somebody{who: who})
			w := p.serve("GET")
			if passed := len(p.passed) == 1 && p.passed[0].UserID == who.UserID; passed != test.passes[i] {
				t.Errorf("guard %q: %+v passes: %v", test.guard, who, passed)
			}
			if !test.passes[i] && (w.Header().Get("Location") != "/login" || len(p.kept) != 1 || p.kept[0] != "/page?a=1") {
				t.Errorf("guard %q: %+v is sent to %q, and %q is kept", test.guard, who, w.Header().Get("Location"), p.kept)
			}
		}
	}
}

// TestGuardInAnOutage holds that nobody is taken for a guest because it cannot be
// told who they are, not even where guests may pass.
func TestGuardInAnOutage(t *testing.T) {
	away := errors.New("the database is away")
	for _, guard := range []web.Guard{web.GuardNone, web.GuardSession, web.GuardSettled} {
		p := newPassage(guard, somebody{err: away})
		w := p.serve("GET")
		if len(p.passed) != 0 || len(p.kept) != 0 || w.Header().Get("Location") != "" {
			t.Errorf("guard %s: passed %v, kept %v, sent to %q", guard, p.passed, p.kept, w.Header().Get("Location"))
		}
		if len(p.failed) != 1 || !errors.Is(p.failed[0], away) {
			t.Errorf("guard %s: the faults are %v", guard, p.failed)
		}
	}
}

func TestGuardRefusesOtherSites(t *testing.T) {
	signedIn := somebody{who: auth.Principal{UserID: "7", Settled: true}}
	tests := []struct {
		name, method string
		header       []string
		status       int
	}{
		{"navigation from elsewhere", "GET", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, 200},
		{"own form", "POST", []string{"Origin", "http://localhost"}, 200},
		{"no browser", "POST", nil, 200},
		{"other origin", "POST", []string{"Origin", "https://evil.example"}, 403},
		{"user information", "DELETE", []string{"Origin", "http://evil@localhost"}, 403},
		{"by the browser's word", "PUT", []string{"Sec-Fetch-Site", "cross-site"}, 403},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newPassage(web.GuardSession, signedIn)
			if w := p.serve(test.method, test.header...); w.Code != test.status || (len(p.passed) == 1) != (test.status == 200) {
				t.Errorf("status %d, passed %v", w.Code, p.passed)
			}
		})
	}
}
