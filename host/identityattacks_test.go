package host_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A page elsewhere can send any browser to a callback, with an image. That is no failed sign-in of the network, where nobody
// could sign in any more.
func TestForeignCallbacksLockNobodyOut(t *testing.T) {
	f := newProvider()
	s := newSite(t, sqliteStore(t), withIdentity(f, "never", false, func(o *host.Options) { o.Auth.ClientAttempts = 5 }))
	s.signedIn(t).links("company", "ada").leadsTo(t, "/login?account")
	victim := s.browser(t)
	state := victim.leaves("company", "")
	for range 6 {
		victim.returns("company", strings.Repeat("A", 43), "ada").want(t, 400, "identity_state")
		victim.get("/auth/identity/company/callback?a=1&a=2").want(t, 400, "malformed_request")
	}
	victim.returns("company", state, "ada").leadsTo(t, "/dashboard")
	s.browser(t).login(adaEmail, adaPassword, false).want(t, 200, "login_success")
	// A state that was spent has a cost: it counts.
	replay := s.browser(t)
	state = replay.leaves("company", "")
	cookie := replay.cookie("vestibule_identity")
	for range 6 {
		replay.forget(sessionName)
		replay.setCookie("vestibule_identity", cookie)
		replay.returns("company", state, "ada")
	}
	if a := s.browser(t).get("/auth/identity/company"); a.StatusCode != 429 {
		t.Errorf("after five replays: %d", a.StatusCode)
	}
}

// An image or a frame in a page elsewhere begins nothing: a hundred at once would use up the attempts of the network.
func TestImagesElsewhereBeginNothing(t *testing.T) {
	f := newProvider()
	s := newSite(t, sqliteStore(t), withIdentity(f, "never", false))
	b := s.browser(t)
	for _, dest := range []string{"image", "iframe", "empty", ""} {
		for _, site := range []string{"cross-site", "same-site"} {
			a := b.get("/auth/identity/company?redirect=/evil", "Sec-Fetch-Site", site, "Sec-Fetch-Dest", dest)
			a.want(t, 403, "cross_origin")
			if len(a.Cookies()) > 0 {
				t.Errorf("cookies %v", a.Cookies())
			}
		}
	}
	if len(f.begun) > 0 || len(rows(t, s.db, "vestibule_counters")) > 0 {
		t.Error("it was counted, or the plugin was asked")
	}
	b.get("/auth/identity/company", "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Dest", "iframe").want(t, 302, "")
}

// The query of a callback holds what the provider gave to this provider's plugin alone. Dispensers learn nothing of it.
func TestDispensersSeeNoCallback(t *testing.T) {
	f, o := newProvider(), &orgs{}
	s := newSite(t, sqliteStore(t), withIdentity(f, "verified_email", false, func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o }))
	verify(t, s)
	for _, query := range []string{"", "?lang=de"} {
		b := s.browser(t)
		state := b.leaves("company", query)
		b.returns("company", state, "ada").leadsTo(t, "/login"+query)
		r := o.requests[len(o.requests)-1]
		if strings.Contains(r.Query, state) || strings.Contains(r.Query, "who=") {
			t.Errorf("the dispenser got %q", r.Query)
		}
		if r.Path != "/auth/identity/company/callback" || r.Locale != f.finished[len(f.finished)-1].Locale {
			t.Errorf("the dispenser got %+v", r)
		}
	}
}

// Letters beyond ASCII that only look alike in another case are another person's address.
func TestLinkByAddressComparesLetters(t *testing.T) {
	for name, address := range map[string]string{"kelvin": "\u212Aate@example.com", "dotted": "kate\u0130@example.com"} {
		t.Run(name, func(t *testing.T) {
			f := newProvider()
			f.people["eve"] = somebody("eve", address)
			s := newSite(t, sqliteStore(t), withIdentity(f, "verified_email", true))
			s.execute(t, `UPDATE users SET email = '`+strings.ToLower(address)+`', email_verified_at = '2026-01-01 00:00:00'`)
			b := s.browser(t)
			b.by("company", "eve").want(t, 403, "identity_unknown")
			b.nobody(t)
			s.has(t, 1)
		})
	}
}

// The sign-in page names a pending identity by nothing that a stranger can choose to look like the person's own account.
func TestPendingIdentityShowsNoClaimedAddress(t *testing.T) {
	f := newProvider()
	f.people["claims"] = pluginsdk.Identified(pluginsdk.Identity{Subject: "eve", Email: adaEmail, Name: "Eve"})
	f.people["named"] = pluginsdk.Identified(pluginsdk.Identity{Subject: "eve", Name: adaEmail})
	s := newSite(t, sqliteStore(t), withIdentity(f, "confirm", false))
	for who, want := range map[string]string{"claims": "Eve", "named": "", "ada": adaEmail} {
		b := s.browser(t)
		b.by("company", who).leadsTo(t, "/login")
		if got := b.get("/auth/bootstrap").json(t)["pending"].(map[string]any)["account"]; got != want {
			t.Errorf("%s is shown as %v, want %q", who, got, want)
		}
	}
}

// A link that is pending ends with the rule that has allowed it.
func TestPendingIdentityNeedsTheRule(t *testing.T) {
	f := newProvider()
	db := sqliteStore(t)
	b := newSite(t, db, withIdentity(f, "confirm", false)).browser(t)
	b.by("company", "bob").leadsTo(t, "/login")
	now := newSite(t, db, withIdentity(f, "never", false))
	b.base = now.URL
	if shown := b.get("/auth/bootstrap").json(t)["pending"]; shown != nil {
		t.Errorf("shown %v", shown)
	}
	b.login(adaEmail, adaPassword, false).want(t, 200, "login_success")
	now.has(t, 1)

	// The same for one that a session has taken.
	g := &gate{}
	g.answers(pluginsdk.Redirect("/app/factor").Hold(), nil)
	held := func(o *host.Options) { o.Dispenser = g }
	b = newSite(t, db, withIdentity(f, "confirm", false, held)).browser(t)
	b.by("company", "bob").leadsTo(t, "/login")
	b.login(adaEmail, adaPassword, false).want(t, 200, "login_success")
	now = newSite(t, db, withIdentity(f, "never", false, held))
	b.base = now.URL
	g.answers(pluginsdk.Done(), nil)
	b.post("/auth/intents/redirect", map[string]any{"code": "2"}).want(t, 200, "")
	now.has(t, 1)
}

// Another site can send a browser to a provider, where it may be signed in as the attacker. What comes back is not left
// pending for the next sign-in: that takes the button of our own page.
func TestLinkBegunElsewhere(t *testing.T) {
	f := newProvider()
	s := newSite(t, sqliteStore(t), withIdentity(f, "confirm", false))
	linkedAda(t, s)
	for site, status := range map[string]int{"cross-site": 403, "same-site": 403, "same-origin": 302, "none": 302} {
		begins := func(who string) answer {
			b := s.browser(t)
			a := b.get("/auth/identity/company", "Sec-Fetch-Site", site, "Sec-Fetch-Dest", "document")
			a.want(t, 302, "")
			back := b.returns("company", stateIn(t, a.Header.Get("Location")), who, "Sec-Fetch-Site", "cross-site")
			if pending := b.cookie("vestibule_link") != ""; pending != (status == 302 && who != "ada") {
				t.Errorf("%s of %s: pending %t", who, site, pending)
			}
			return back
		}
		begins("ada").leadsTo(t, "/dashboard")
		if got := begins("bob").StatusCode; got != status {
			t.Errorf("%s: %d, want %d", site, got, status)
		}
	}
}

// A provider that signs somebody in without asking gives no fresh proof, and says so.
func TestOldProofIsNotRecent(t *testing.T) {
	f := newProvider()
	s := newSite(t, sqliteStore(t), withIdentity(f, "never", false))
	linkedAda(t, s)
	for age, want := range map[time.Duration]float64{time.Hour: 0, 4 * time.Minute: 360, -time.Hour: 600} {
		f.people["earlier"] = proof("ada", s.clock.Now().Add(-age))
		b := s.browser(t)
		b.by("company", "earlier").leadsTo(t, "/dashboard")
		if got := b.account(t)["recent"]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("recent %v after %v, want %v", got, age, want)
		}
	}
}
