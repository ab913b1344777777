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

// The page that a guest asked for survives every way to a settled session.
func TestIntendedSurvives(t *testing.T) {
	const page = "/dashboard?report=7"
	for name, flow := range map[string]func(t *testing.T, s *testSite, b *browser, o *orgs) string{
		"sign-in": func(t *testing.T, _ *testSite, b *browser, _ *orgs) string {
			return b.login(adaEmail, adaPassword, false).next(t).Target()
		},
		"wrong passwords first": func(t *testing.T, _ *testSite, b *browser, _ *orgs) string {
			b.login(adaEmail, "wrong", false).want(t, 422, "credentials_do_not_match")
			return b.login(adaEmail, adaPassword, false).next(t).Target()
		},
		"forgot and reset": func(t *testing.T, s *testSite, b *browser, _ *orgs) string {
			path, token := s.link(t, b, 1)
			b.get(path).want(t, 302, "")
			b.get("/login").want(t, 200, "")
			b.post("/auth/reset-password", resetBody(token, newPassword)).want(t, 200, "reset_success")
			b.get("/login").want(t, 200, "")
			return b.login(adaEmail, newPassword, false).next(t).Target()
		},
		"a step": func(t *testing.T, _ *testSite, b *browser, o *orgs) string {
			o.dispense = nil // asks for the organisation
			b.login(adaEmail, adaPassword, false).want(t, 200, "login_success")
			return b.post("/auth/intents/org-setup", orgForm("Engines")).next(t).Target()
		},
		"an expired session": func(t *testing.T, s *testSite, b *browser, _ *orgs) string {
			b.login(adaEmail, adaPassword, false).want(t, 200, "login_success")
			s.clock.Advance(3 * time.Hour)
			b.get(page).want(t, http.StatusFound, "")
			return b.login(adaEmail, adaPassword, false).next(t).Target()
		},
		"a device that comes back": func(t *testing.T, s *testSite, b *browser, _ *orgs) string {
			fresh := s.browser(t)
			fresh.login(adaEmail, adaPassword, true).want(t, 200, "login_success")
			b.setCookie("vestibule_remember", fresh.cookie("vestibule_remember"))
			return b.get("/login").Header.Get("Location")
		},
		"two tabs": func(t *testing.T, _ *testSite, b *browser, _ *orgs) string {
			b.get("/dashboard?tab=other").want(t, http.StatusFound, "")
			b.get(page).want(t, http.StatusFound, "")
			target := b.login(adaEmail, adaPassword, false).next(t).Target()
			b.get(page).want(t, http.StatusFound, "") // the other tab is in as well
			return target
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &orgs{dispense: func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) { return pluginsdk.Done(), nil }}
			s := newSite(t, sqliteStore(t), func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
			b := s.browser(t)
			b.get(page).want(t, http.StatusFound, "")
			if got := flow(t, s, b, o); got != page {
				t.Errorf("leads to %q, want %q", got, page)
			}
			if b.cookie("vestibule_guest") != "" {
				t.Error("the page is still kept")
			}
		})
	}
}
