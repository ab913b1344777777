package host_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey/passkeytest"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// proves asks for a fresh proof by an identity, and comes back as somebody.
func (b *browser) proves(who string) answer {
	b.t.Helper()
	a := b.post("/auth/account/confirm/company", map[string]any{})
	a.want(b.t, 200, "")
	return b.returns("company", stateIn(b.t, a.json(b.t)["url"].(string)), who)
}

// proof returns Ada's identity with a proof made at a time.
func proof(subject string, at time.Time) pluginsdk.IdentityResult {
	return pluginsdk.Identified(pluginsdk.Identity{Subject: subject, Email: adaEmail, EmailVerified: true, AuthTime: at})
}

// An identity makes a session recent that is no longer, if the person proves anew at the provider that they are the same.
func TestConfirmByIdentity(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		f := newProvider()
		s := newSite(t, open(), withIdentity(f, "never", false))
		b := s.signedIn(t)
		b.post("/auth/account/confirm/company", map[string]any{}).want(t, 404, "not_found")
		b.links("company", "ada").leadsTo(t, "/login?account")
		s.clock.Advance(11 * time.Minute)
		b.delete("/auth/account/identities/company").want(t, 403, "confirmation_required")
		b.post("/auth/account/identities/company", map[string]any{}).want(t, 403, "confirmation_required")
		now := s.clock.Now()
		f.people["fresh"], f.people["other"] = proof("ada", now), proof("bob", now)
		f.people["old"], f.people["a moment ago"] = proof("ada", now.Add(-31*time.Second)), proof("ada", now.Add(-30*time.Second))
		f.people["ahead"] = proof("ada", now.Add(31*time.Second))
		before := b.cookie(sessionName)
		for _, who := range []string{"other", "old", "ahead", "ada"} { // the last one has no time
			b.proves(who).want(t, 403, "identity_proof")
			if b.account(t)["recent"] != 0.0 {
				t.Errorf("recent by %s", who)
			}
		}
		b.proves("eve").want(t, 403, "identity_refused")
		b.proves("a moment ago").leadsTo(t, "/login?account")
		if b.account(t)["recent"] != 600.0 || b.cookie(sessionName) != before {
			t.Error("not recent, or another session")
		}
		s.clock.Advance(11 * time.Minute)
		f.people["fresh"] = proof("ada", s.clock.Now())
		b.proves("fresh").leadsTo(t, "/login?account")
		b.delete("/auth/account/identities/company").want(t, 204, "")
		b.post("/auth/account/confirm/company", map[string]any{}).want(t, 404, "not_found")
		b.post("/auth/account/confirm/other", map[string]any{}).want(t, 404, "not_found")
		last := f.begun[len(f.begun)-1]
		if !last.Fresh || last.LoginHint != adaEmail || !f.finished[len(f.finished)-1].Fresh {
			t.Errorf("asked %+v", last)
		}
		log := s.log.String()
		for _, line := range []string{"reason=another_identity", "reason=time", "reason=no_time", "event=confirm ", "by=identity:company"} {
			if !strings.Contains(log, line) {
				t.Errorf("the log lacks %q", line)
			}
		}
	})
}

// Failed proofs count for the login name, as wrong passwords do.
func TestFailedProofsCount(t *testing.T) {
	f := newProvider()
	s := newSite(t, sqliteStore(t), withIdentity(f, "never", false))
	b := s.signedIn(t)
	b.links("company", "ada").leadsTo(t, "/login?account")
	f.people["other"] = proof("bob", s.clock.Now())
	for range 5 {
		b.proves("other").want(t, 403, "identity_proof")
	}
	f.people["fresh"] = proof("ada", s.clock.Now())
	if a := b.proves("fresh"); a.StatusCode != 429 {
		t.Errorf("the sixth: %d %s", a.StatusCode, a.body)
	}
	s.clock.Advance(time.Minute + time.Second)
	f.people["fresh"] = proof("ada", s.clock.Now())
	b.proves("fresh").leadsTo(t, "/login?account")
}

// Who may link, and what is linked already.
func TestLinkRefusals(t *testing.T) {
	f := newProvider()
	s := newSite(t, sqliteStore(t), withIdentity(f, "never", false))
	guest := s.browser(t)
	guest.post("/auth/account/identities/company", map[string]any{}).want(t, 401, "unauthenticated")
	guest.delete("/auth/account/identities/company").want(t, 401, "unauthenticated")
	guest.post("/auth/account/confirm/company", map[string]any{}).want(t, 401, "unauthenticated")
	guest.post("/auth/account/identities/company", map[string]any{}, "Origin", "https://evil.example").want(t, 403, "cross_origin")
	b := s.signedIn(t)
	b.post("/auth/account/identities/other", map[string]any{}).want(t, 404, "not_found")
	b.delete("/auth/account/identities/company").want(t, 404, "not_found")

	// The proof is too old when the provider answers.
	a := b.post("/auth/account/identities/company", map[string]any{})
	s.clock.Advance(9*time.Minute + 59*time.Second)
	first := stateIn(t, a.json(t)["url"].(string))
	a = b.post("/auth/account/identities/company", map[string]any{})
	s.clock.Advance(2 * time.Second)
	b.returns("company", first, "ada").want(t, 400, "identity_state")
	b.returns("company", stateIn(t, a.json(t)["url"].(string)), "ada").want(t, 403, "confirmation_required")
	s.has(t, 1)

	// Somebody else has it.
	if _, err := s.admin.AddUser(t.Context(), "bob@example.com", "Bob", adaPassword+"!"); err != nil {
		t.Fatal(err)
	}
	bob := s.browser(t)
	bob.login("bob@example.com", adaPassword+"!", false).want(t, 200, "")
	bob.links("company", "bob").leadsTo(t, "/login?account")
	b = s.signedIn(t)
	b.links("company", "bob").want(t, 403, "identity_taken")
	s.has(t, 2, "company bob 2")

	// Two tabs link the same one, and two different ones.
	var states []string
	for range 3 {
		states = append(states, stateIn(t, b.post("/auth/account/identities/company", map[string]any{}).json(t)["url"].(string)))
	}
	b.returns("company", states[0], "ada").leadsTo(t, "/login?account")
	b.returns("company", states[1], "ada").leadsTo(t, "/login?account")
	b.returns("company", states[2], "nameless").want(t, 403, "identity_taken")
	s.has(t, 2, "company ada 1", "company bob 2")

	// A person who is unsettled may do nothing of it.
	gated, g := newProvider(), &gate{}
	g.answers(pluginsdk.Redirect("/app/terms").Hold(), nil)
	s = newSite(t, sqliteStore(t), withIdentity(gated, "never", false, func(o *host.Options) { o.Dispenser = g }))
	b = s.signedIn(t)
	b.post("/auth/account/identities/company", map[string]any{}).want(t, 403, "unsettled")
	b.delete("/auth/account/identities/company").want(t, 403, "unsettled")
	b.post("/auth/account/confirm/company", map[string]any{}).want(t, 403, "unsettled")
}

// Of a passkey and identities that are ended at once at two hosts one stays where there is no other way to sign in.
func TestLastIdentityAtTwoHosts(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		f := newProvider()
		off := withIdentity(f, "never", false, func(o *host.Options) {
			o.Identities = append(o.Identities, host.Identity{Name: "other", Provider: f})
		})
		first := passkeySite(t, open(), off)
		b := first.browser(t)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		b.links("company", "ada").leadsTo(t, "/login?account")
		b.links("other", "ada").leadsTo(t, "/login?account")
		b.enrol(passkeytest.New(b.base), "Key").want(t, 201, "")
		if err := first.db.Users().SetPassword(t.Context(), first.user.ID, "!", "secret"); err != nil {
			t.Fatal(err)
		}
		second := passkeySite(t, open(), off)
		list, err := first.db.Passkeys().List(t.Context(), first.user.ID, 20)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		var all sync.WaitGroup
		paths := []string{"identities/company", "identities/other", "passkeys/" + list[0].ID}
		statuses := make([]int, len(paths))
		for i, path := range paths {
			at := *b
			at.base = []string{first.URL, second.URL}[i%2]
			all.Go(func() { statuses[i] = at.delete("/auth/account/" + path).StatusCode })
		}
		all.Wait()
		left, err := first.db.Passkeys().List(t.Context(), first.user.ID, 20)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(left) + len(first.linkedTo(t)); n != 1 {
			t.Errorf("%d ways are left; statuses %v", n, statuses)
		}
	})
}

// Where nobody signs in with a password, an identity is a way to sign in, and one that is no longer configured is none.
func TestIdentitiesWithoutPasswords(t *testing.T) {
	f := newProvider()
	db := sqliteStore(t)
	s := newSite(t, db, withIdentity(f, "never", false))
	linkedAda(t, s)
	off := newSite(t, db, withIdentity(f, "never", false, func(o *host.Options) { o.Auth.PasswordOff, o.Auth.PasskeysOff = true, true }))
	b := off.browser(t)
	b.by("company", "ada").leadsTo(t, "/dashboard")
	boot := off.browser(t).get("/auth/bootstrap").json(t)
	buttons, ok := boot["identities"].([]any)
	if !ok || len(buttons) != 1 || buttons[0].(map[string]any)["url"] != "/auth/identity/company" || boot["password"].(map[string]any)["sign_in"] != false {
		t.Errorf("bootstrap %v", boot)
	}
	b.delete("/auth/account/identities/company").want(t, 409, "last_way_to_sign_in")
	without := newSite(t, db, nil)
	without.browser(t).get("/auth/identity/company").want(t, 404, "not_found")
	if boot := without.browser(t).get("/auth/bootstrap").json(t); len(boot["identities"].([]any)) != 0 || boot["pending"] != nil {
		t.Errorf("bootstrap %v", boot)
	}
}

// Mails about the password name the identities, which a new password does not end; a sign-in with one ends the password's rest.
func TestIdentitiesInMails(t *testing.T) {
	f := newProvider()
	s := newSite(t, sqliteStore(t), withIdentity(f, "never", false))
	linkedAda(t, s)
	s.browser(t).post("/auth/forgot-password", map[string]any{"email": adaEmail}).want(t, 200, "")
	found := false
	for _, m := range s.letters(t, 2) {
		found = found || strings.Contains(m, "still sign you in") && strings.Contains(m, "Company account, linked on 4 May 2026")
	}
	if !found {
		t.Error("no mail names the identity")
	}
}

func TestAdminIdentities(t *testing.T) {
	f := newProvider()
	s := newSite(t, sqliteStore(t), withIdentity(f, "never", false))
	linkedAda(t, s)
	if _, err := s.db.AddUser(t.Context(), "bob@example.com", "Bob", weakHash()); err != nil {
		t.Fatal(err)
	}
	for email, n := range map[string]int{"": 1, adaEmail: 1, "bob@example.com": 0} {
		if list, err := s.admin.Identities(t.Context(), email, 10); err != nil || len(list) != n {
			t.Errorf("%q: %v, %v", email, list, err)
		}
	}
	list, err := s.admin.Identities(t.Context(), "", 10)
	if err != nil || list[0] != (host.LinkedIdentity{Name: "company", Subject: "ada", Email: adaEmail, Linked: list[0].Linked}) || !list[0].Linked.Equal(s.clock.Now()) {
		t.Fatal(list, err)
	}
	if err := s.admin.UnlinkIdentity(t.Context(), "bob@example.com", "company"); err == nil || !strings.Contains(err.Error(), "bob@example.com has no identity of the name company") {
		t.Errorf("another's: %v", err)
	}
	if err := s.db.Users().SetPassword(t.Context(), s.user.ID, "!", ""); err != nil { // the last way to sign in as well
		t.Fatal(err)
	}
	if err := s.admin.UnlinkIdentity(t.Context(), adaEmail, "company"); err != nil {
		t.Error(err)
	}
	var subject string
	if err := s.db.Reader().Get(&subject, `SELECT subject FROM vestibule_audit WHERE act = 'identity_unlink' AND operator NOT LIKE 'user %'`); err != nil || subject != adaEmail+" company" {
		t.Errorf("audited %q, %v", subject, err)
	}
	s.browser(t).by("company", "ada").want(t, 403, "identity_unknown")
}
