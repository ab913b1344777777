package uitest

import (
	"io/fs"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// accountOf is the answer of GET /auth/account for somebody who has one of everything.
func accountOf() obj {
	return obj{
		"user": obj{"id": "1", "name": "Ada Lovelace", "email": "ada@example.com"}, "recent": 0, "password": true,
		"passkeys": []obj{
			{"id": "p1", "name": "Mac", "created": "2026-03-02T08:00:00Z", "last_used": "2026-11-20T10:15:00Z"},
			{"id": "p2", "name": "Security key with a name that is rather long for a narrow page", "created": "2026-05-02T08:00:00Z", "last_used": nil},
		},
		"identities": []obj{{"name": "company", "label": "Company account", "linked": "2026-05-02T08:00:00Z"}},
		"devices":    []obj{{"id": "d1", "created": "2026-05-02T08:00:00Z", "last_used": "2026-11-20T10:15:00Z", "browser": "Firefox on Linux"}},
		"sessions": []obj{
			{"id": "s1", "created": "2026-11-24T08:00:00Z", "last_seen": "2026-11-24T08:15:00Z", "current": true, "browser": "Chrome on Windows"},
			{"id": "s2", "created": "2026-11-23T08:00:00Z", "last_seen": "2026-11-24T07:15:00Z", "current": false, "browser": nil},
		},
		"tokens": true, "steps": []obj{{"plugin": "totp", "title": "Second factor"}},
	}
}

// openAccount makes the page that of a settled person who wants to see the account.
func openAccount(more ...func(h *host)) func(h *host) {
	return func(h *host) {
		h.set("session", "settled")
		h.set("passkeys", true)
		h.answer("GET /auth/account", says(200, accountOf()))
		h.answer("GET /auth/tokens", says(200, obj{"tokens": []obj{
			{"id": "t1", "name": "Excel", "route": nil, "created": "2026-05-02T08:00:00Z", "expires": "2027-05-02T08:00:00Z", "last_used": nil},
		}}))
		for _, f := range more {
			f(h)
		}
	}
}

// passkeysOn makes the sign-in page that of a host with passkeys. The options are never there: what the browser would
// offer is no part of the page.
func passkeysOn(more ...func(h *host)) func(h *host) {
	return func(h *host) {
		h.set("passkeys", true)
		h.answer("POST /auth/passkeys/options", says(404, fault("not_found", "")))
		for _, f := range more {
			f(h)
		}
	}
}

// withoutPasswords makes the sign-in page that of a host where passkeys alone sign people in.
func withoutPasswords(more ...func(h *host)) func(h *host) {
	return passkeysOn(append(more, func(h *host) { h.set("password", obj{"min_length": 12, "sign_in": false}) })...)
}

func accountStates() []state {
	const there, dialog = `document.querySelector('#sessions-title')`, `document.querySelector('dialog')`
	confirmation := says(403, fault("confirmation_required", ""))
	bare := accountOf()
	bare["passkeys"], bare["identities"], bare["devices"], bare["steps"], bare["tokens"] = nil, nil, nil, nil, false
	click := func(selector string) func(b *tab) { return func(b *tab) { b.Click(selector) } }
	return []state{
		{name: "signin-passkey", until: `document.querySelector('#passkey')`, setup: passkeysOn()},
		{name: "signin-passkey-failed", act: click("#passkey"), until: strip, setup: passkeysOn()},
		{name: "signin-passkey-alone", until: pressedIn, setup: withoutPasswords()},
		{name: "account", query: "&account", setup: openAccount(), until: there},
		{name: "account-bare", query: "&account", setup: openAccount(answering("GET /auth/account", says(200, bare))), until: there},
		{
			name: "account-refused", query: "&account", act: click("#sessions-end-s2"), until: `document.querySelector('section .strip')`,
			setup: openAccount(answering("DELETE /auth/account/sessions/s2", says(404, fault("not_found", "")))),
		},
		{name: "account-rename", query: "&account", setup: openAccount(), act: click("#passkeys-rename-p1"), until: dialog},
		{name: "account-remove", query: "&account", setup: openAccount(), act: click("#passkeys-remove-p2"), until: dialog},
		{name: "account-password", query: "&account", setup: openAccount(), act: click("#password-change"), until: dialog},
		{name: "account-token", query: "&account", setup: openAccount(), act: click("#tokens-add"), until: dialog},
		{
			name: "account-token-made", query: "&account", act: func(b *tab) {
				b.Click("#tokens-add")
				b.Ready("#name")
				b.Fill("#name", "Excel")
				b.Click("dialog " + pressed)
			}, until: `document.querySelector('#token')`,
			setup: openAccount(answering("POST /auth/tokens", says(201, obj{"id": "t2", "token": "vst_0123456789abcdefghijklmnopqrstuvwxyz0123456789abcde"}))),
		},
		{
			name: "account-confirm", query: "&account", act: func(b *tab) {
				b.Click("#passkeys-add")
				b.Ready("#current_password")
				b.Fill("#current_password", "wrong")
				b.Click("dialog " + pressed)
			}, until: `document.querySelector('#current_password-error').checkVisibility()`,
			setup: openAccount(answering("POST /auth/account/passkeys/options", confirmation),
				answering("POST /auth/account/confirm", says(422, fault("credentials_do_not_match", "password")))),
		},
		{
			name: "offer", act: func(b *tab) {
				b.Click(".tick:has(#passkey_offer)")
				credentials(b)
			}, until: `document.querySelector('h1')?.textContent.match(/passkey/i)`,
			setup: passkeysOn(answering("POST /auth/login", says(200, loggedIn(redirectTo("/dashboard"))))),
		},
	}
}

const pressedIn = `document.querySelector('button[type=submit]')`

// authenticator gives the browser of the tab one with a fingerprint that is always right.
func authenticator(b *tab) webauthn.AuthenticatorID {
	b.T.Helper()
	browsertest.Call(b.Tab, webauthn.Enable, webauthn.EnableParams{})
	return browsertest.Call(b.Tab, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
		Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal, HasResidentKey: true,
			HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		},
	}).AuthenticatorID
}

// A change that needs a fresh proof is made once the person has given one, and everything is done by keyboard alone.
func TestAccountByKeyboard(t *testing.T) {
	h := newHost(t)
	openAccount()(h)
	var confirmed bool
	h.answer("DELETE /auth/tokens/t1", func(w http.ResponseWriter, _ *http.Request) {
		if !confirmed {
			writeJSON(w, 403, fault("confirmation_required", ""))
			return
		}
		h.answer("GET /auth/tokens", says(200, obj{"tokens": []obj{}}))
		w.WriteHeader(204)
	})
	h.answer("POST /auth/account/confirm", func(w http.ResponseWriter, _ *http.Request) {
		confirmed = true
		w.WriteHeader(204)
	})
	b := open(t)
	b.Visit(h.URL + "/login?account")
	b.Ready("#tokens-remove-t1")
	b.Focused("h1")
	for range 40 {
		if browsertest.Eval[bool](b.Tab, `document.activeElement.id === 'tokens-remove-t1'`) {
			break
		}
		b.Press(kb.Tab)
	}
	b.Focused("#tokens-remove-t1")
	b.Press(kb.Enter)
	b.Focused("dialog " + pressed)
	b.Press(kb.Escape) // nothing has happened
	b.Wait(`!document.querySelector('dialog')`)
	b.Focused("#tokens-remove-t1")
	b.Press(kb.Enter)
	b.Focused("dialog " + pressed)
	b.Press(kb.Enter)
	b.Focused("#current_password")
	b.Press("correct horse", kb.Enter)
	b.See("The token is removed.")
	b.Wait(`!document.querySelector('dialog') && !document.querySelector('#tokens-remove-t1')`)
	b.Focused("#tokens-title") // what had the focus is gone
	want := []map[string]any{{"password": "correct horse"}}
	if d := cmp.Diff(want, h.posted("/auth/account/confirm")); d != "" {
		t.Errorf("confirmed with (-want +got):\n%s", d)
	}
}

// Who has changed their mind, whose session has ended, and whose step is open: each ends where they expect it.
func TestAccountElsewhere(t *testing.T) {
	h := newHost(t)
	openAccount(answering("POST /auth/account/steps/totp", says(200, obj{"next": redirectTo("/totp")})),
		answering("GET /totp", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<title>Codes</title>")) }))(h)
	b := open(t)
	b.Visit(h.URL + "/login?account")
	b.Click("#steps-open-totp")
	b.At(h.URL + "/totp")
	h.answer("POST /auth/account/steps/totp", says(401, fault("unauthenticated", "")))
	b.Visit(h.URL + "/login?account")
	b.Ready("#steps-open-totp")
	h.answer("GET /login", func(w http.ResponseWriter, r *http.Request) {
		h.answer("GET /login", nil)
		http.Redirect(w, r, "/login?redirect=%2Flogin%3Faccount", http.StatusFound)
	})
	b.Click("#steps-open-totp")
	b.Ready("#login")
	b.At(h.URL + "/login?redirect=%2Flogin%3Faccount")
	h.answer("GET /auth/account", says(403, fault("unsettled", "")))
	h.answer("GET /auth/intents/current", says(200, obj{"next": orgSetup()}))
	b.Visit(h.URL + "/login?account")
	b.See("Welcome, Ada Lovelace")
}

// A sign-in page with passkeys takes four requests, and one for the challenge once it is there. The account screen is
// loaded for those who see it.
func TestPasskeyPageRequests(t *testing.T) {
	h := newHost(t)
	passkeysOn()(h)
	b := open(t)
	b.Visit(h.URL + "/login")
	b.Ready("#passkey")
	b.Wait(`document.readyState === 'complete' && document.querySelector('.logo').complete`)
	var gets []string
	for _, r := range h.requested() {
		if r != "POST /auth/passkeys/options" {
			gets = append(gets, r)
		}
	}
	if len(gets) > 4 {
		t.Errorf("%d requests: %v", len(gets), gets)
	}
}

// The offer is there once on a device, and whoever does not take it goes on at once, as does everybody for whom it fails.
func TestOfferIsInNobodysWay(t *testing.T) {
	h := newHost(t)
	passkeysOn(answering("POST /auth/login", says(200, loggedIn(redirectTo("/dashboard")))))(h)
	b := open(t)
	b.Visit(h.URL + "/login#/orders/17")
	b.Ready("#passkey_offer")
	credentials(b)
	b.At(h.URL + "/dashboard#/orders/17")
	b.Visit(h.URL + "/login")
	b.Ready("#passkey")
	if browsertest.Eval[bool](b.Tab, `document.querySelector('#passkey_offer') !== null`) {
		t.Error("the device is asked twice")
	}
	for name, c := range map[string]struct{ status int }{"a step is open": {403}, "the session has ended": {401}} {
		t.Run(name, func(t *testing.T) {
			h.answer("POST /auth/account/passkeys/options", says(c.status, fault("unsettled", "")))
			other := open(t)
			other.Visit(h.URL + "/login#/orders/17")
			other.Click(".tick:has(#passkey_offer)")
			credentials(other)
			other.See("Create a passkey")
			submit(other)
			other.At(h.URL + "/dashboard#/orders/17")
		})
	}
	broken := open(t)
	for _, name := range accountFiles(t, h) {
		h.answer("GET /ui/auth/"+name, says(404, obj{}))
	}
	broken.Visit(h.URL + "/login#/orders/17")
	broken.Click(".tick:has(#passkey_offer)")
	credentials(broken)
	broken.At(h.URL + "/dashboard#/orders/17")
}

// accountFiles are the files of the module with the account screen.
func accountFiles(t *testing.T, h *host) []string {
	t.Helper()
	names, err := fs.Glob(h.dist, "assets/account-*.js")
	if err != nil || len(names) == 0 {
		t.Fatalf("no module for the account: %v", err)
	}
	return names
}
