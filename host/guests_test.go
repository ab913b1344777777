package host_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Guests write nothing, whatever pages they ask for: strangers cannot fill the
// database. The page is kept all the same.
func TestGuestsWriteNoRow(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), nil)
		count := func() (n int) {
			for _, table := range []string{"sessions", "counters", "remember_tokens", "outbox", "guest_keys"} {
				n += len(rows(t, s.db, "vestibule_"+table))
			}
			return n
		}
		before := count()
		for i := range 50 {
			stranger := s.browser(t)
			stranger.get(fmt.Sprintf("/login?redirect=/dashboard?n=%d", i)).want(t, 200, "")
			stranger.get(fmt.Sprintf("/dashboard?n=%d", i)).want(t, 302, "")
		}
		if n := count(); n != before {
			t.Errorf("%d rows, %d before: guests write rows", n, before)
		}
		b := s.browser(t)
		b.get("/login?redirect=/dashboard?n=7").want(t, 200, "")
		if got := b.login(adaEmail, adaPassword, false).next(t).Target(); got != "/dashboard?n=7" {
			t.Errorf("target %q", got)
		}
	})
}

// The page that a guest asked for survives every way to a settled session, on every
// database.
func TestIntendedSurvives(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		db := open()
		for _, flow := range intendedFlows() {
			t.Run(flow.name, func(t *testing.T) {
				o := &orgs{dispense: func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) { return pluginsdk.Done(), nil }}
				s := newSite(t, db, func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
				b := s.browser(t)
				b.get(intendedPage).want(t, http.StatusFound, "")
				if got := flow.run(t, s, b, o); got != intendedPage {
					t.Errorf("leads to %q, want %q", got, intendedPage)
				}
				if b.cookie("vestibule_guest") != "" {
					t.Error("the page is still kept")
				}
			})
		}
	})
}

const intendedPage = "/dashboard?report=7"

// An intendedFlow takes a guest who was turned away to the target of the sign-in.
type intendedFlow struct {
	name string
	run  func(t *testing.T, s *testSite, b *browser, o *orgs) string
}

// intendedFlows ends with the one that changes the password.
func intendedFlows() []intendedFlow {
	in := func(t *testing.T, b *browser) string { return b.login(adaEmail, adaPassword, false).next(t).Target() }
	return []intendedFlow{
		{"sign-in", func(t *testing.T, _ *testSite, b *browser, _ *orgs) string { return in(t, b) }},
		{"wrong passwords first", func(t *testing.T, _ *testSite, b *browser, _ *orgs) string {
			b.login(adaEmail, "wrong", false).want(t, 422, "credentials_do_not_match")
			return in(t, b)
		}},
		{"a step", func(t *testing.T, _ *testSite, b *browser, o *orgs) string {
			o.dispense = nil // asks for the organisation
			b.login(adaEmail, adaPassword, false).want(t, 200, "login_success")
			b.get("/dashboard?turned=away").want(t, http.StatusFound, "") // back to the step, which stands in the way
			b.get(intendedPage).want(t, http.StatusFound, "")
			return b.post("/auth/intents/org-setup", orgForm("Engines")).next(t).Target()
		}},
		{"a session that ends during a step", func(t *testing.T, s *testSite, b *browser, o *orgs) string {
			o.dispense = nil
			b.login(adaEmail, adaPassword, false).want(t, 200, "login_success")
			if err := s.admin.RevokeUser(t.Context(), adaEmail); err != nil {
				t.Fatal(err)
			}
			b.post("/auth/intents/org-setup", orgForm("Engines")).want(t, 401, "unauthenticated")
			b.get(intendedPage).want(t, http.StatusFound, "")
			b.login(adaEmail, adaPassword, false).want(t, 200, "login_success")
			return b.post("/auth/intents/org-setup", orgForm("Engines")).next(t).Target()
		}},
		{"an expired session", func(t *testing.T, s *testSite, b *browser, _ *orgs) string {
			b.login(adaEmail, adaPassword, false).want(t, 200, "login_success")
			s.clock.Advance(3 * time.Hour)
			b.get(intendedPage).want(t, http.StatusFound, "")
			return in(t, b)
		}},
		{"a device that comes back", func(t *testing.T, s *testSite, b *browser, _ *orgs) string {
			fresh := s.browser(t)
			fresh.login(adaEmail, adaPassword, true).want(t, 200, "login_success")
			b.setCookie("vestibule_remember", fresh.cookie("vestibule_remember"))
			return b.get("/login").Header.Get("Location")
		}},
		{"two tabs", func(t *testing.T, _ *testSite, b *browser, _ *orgs) string {
			b.get("/dashboard?tab=other").want(t, http.StatusFound, "")
			b.get(intendedPage).want(t, http.StatusFound, "")
			target := in(t, b)
			b.get(intendedPage).want(t, http.StatusFound, "") // the other tab is in as well
			return target
		}},
		{"two hosts", func(t *testing.T, s *testSite, b *browser, o *orgs) string {
			other := newSite(t, s.db, func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
			at := other.browser(t)
			at.setCookie("vestibule_guest", b.cookie("vestibule_guest"))
			b.forget("vestibule_guest")
			return in(t, at)
		}},
		{"forgot and reset", func(t *testing.T, s *testSite, b *browser, _ *orgs) string {
			path, token := s.link(t, b, 1)
			b.get(path).want(t, http.StatusFound, "")
			b.get("/login").want(t, 200, "")
			b.post("/auth/reset-password", resetBody(token, newPassword)).want(t, 200, "reset_success")
			b.get(path).want(t, http.StatusFound, "") // used by now: the screen says so
			b.get("/login").want(t, 200, "")
			return b.login(adaEmail, newPassword, false).next(t).Target()
		}},
	}
}

// A logout forgets the page that a guest of this browser asked for: it does not lead the
// next person there.
func TestLogoutForgetsTheGuestsPage(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	for _, name := range []string{"a guest", "somebody signed in"} {
		t.Run(name, func(t *testing.T) {
			b := s.browser(t)
			b.get("/dashboard?secret=1").want(t, 302, "")
			if b.cookie("vestibule_guest") == "" {
				t.Fatal("the page is not kept")
			}
			if name != "a guest" {
				kept := b.cookie("vestibule_guest")
				b.login(adaEmail, adaPassword, false).want(t, 200, "")
				b.setCookie("vestibule_guest", kept) // as another tab may have set it meanwhile
			}
			b.do("POST", "/logout", "", "").want(t, 303, "")
			if got := b.cookie("vestibule_guest"); got != "" {
				t.Errorf("after the logout the browser keeps %q", got)
			}
			if got := b.login(adaEmail, adaPassword, false).next(t).Target(); got != "/dashboard" {
				t.Errorf("the next person is led to %q", got)
			}
		})
	}
}
