package host_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey/passkeytest"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// passkeySite starts a host whose pages are on localhost, where browsers have passkeys.
func passkeySite(t *testing.T, db *store.DB, change func(*host.Options)) *testSite {
	t.Helper()
	s := newSite(t, db, change)
	s.URL = strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	return s
}

// options asks for options and returns them.
func (b *browser) options(path string) []byte {
	b.t.Helper()
	a := b.post(path, map[string]any{})
	a.want(b.t, 200, "")
	return []byte(a.body)
}

// enrol makes a passkey of who is signed in.
func (b *browser) enrol(a *passkeytest.Authenticator, name string) answer {
	b.t.Helper()
	credential, err := a.Create(b.options("/auth/account/passkeys/options"))
	if err != nil {
		b.t.Fatal(err)
	}
	return b.post("/auth/account/passkeys", map[string]any{"credential": credential, "name": name})
}

// signed returns what an authenticator answers to the sign-in page.
func (b *browser) signed(a *passkeytest.Authenticator) json.RawMessage {
	b.t.Helper()
	credential, err := a.Get(b.options("/auth/passkeys/options"))
	if err != nil {
		b.t.Fatal(err)
	}
	return credential
}

func (b *browser) passkeyLogin(a *passkeytest.Authenticator) answer {
	b.t.Helper()
	return b.post("/auth/passkeys/login", map[string]any{"credential": b.signed(a)})
}

// withPasskey returns an authenticator with a passkey of Ada's.
func (s *testSite) withPasskey(t *testing.T, change func(*passkeytest.Authenticator)) *passkeytest.Authenticator {
	t.Helper()
	a := passkeytest.New(s.URL)
	if change != nil {
		change(a)
	}
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	b.enrol(a, "Phone").want(t, 201, "")
	return a
}

func TestPasskeys(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := passkeySite(t, open(), nil)
		b := s.browser(t)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		a := passkeytest.New(s.URL)
		made := b.enrol(a, " My phone ")
		made.want(t, 201, "")
		entry := made.json(t)
		if entry["name"] != "My phone" || entry["created"] != "2026-05-04T12:00:00Z" || entry["last_used"] != nil || entry["id"] == "" || len(entry) != 4 {
			t.Errorf("made %s", made.body)
		}
		if _, err := a.Create(b.options("/auth/account/passkeys/options")); err == nil {
			t.Error("the options do not exclude the passkey that there is")
		}
		s.clock.Advance(time.Minute)

		guest := s.browser(t)
		guest.get("/dashboard?tab=2").want(t, 302, "")
		in := guest.passkeyLogin(a)
		in.want(t, 200, "login_success")
		if in.next(t).Target() != "/dashboard?tab=2" {
			t.Errorf("leads to %s", in.body)
		}
		guest.get("/dashboard").want(t, 302, "")
		if c := guest.cookie("vestibule_passkey"); c != "" {
			t.Errorf("the cookie of challenges is still there: %s", c)
		}
		list, err := s.db.Passkeys().List(t.Context(), s.user.ID, 10)
		if err != nil || len(list) != 1 || !list[0].Used.Equal(s.clock.Now()) {
			t.Errorf("kept %+v, %v", list, err)
		}

		id := entry["id"].(string)
		guest.do("PATCH", "/auth/account/passkeys/"+id, "application/json", `{"name":"Old phone"}`).want(t, 204, "")
		if list, _ := s.db.Passkeys().List(t.Context(), s.user.ID, 10); list[0].Name != "Old phone" {
			t.Errorf("renamed to %q", list[0].Name)
		}
		guest.do("DELETE", "/auth/account/passkeys/"+id, "", "").want(t, 204, "")
		guest.do("DELETE", "/auth/account/passkeys/"+id, "", "").want(t, 404, "not_found")
		guest.do("PATCH", "/auth/account/passkeys/"+id, "application/json", `{"name":"x"}`).want(t, 404, "not_found")
		a.Origin = s.URL
		s.browser(t).passkeyLogin(a).want(t, 422, "passkey_not_accepted")
		var audited []string
		if err := s.db.Reader().Select(&audited, `SELECT act FROM vestibule_audit ORDER BY at, act`); err != nil || !slices.Equal(sorted(audited), []string{"passkey_add", "passkey_delete", "passkey_rename"}) {
			t.Errorf("audited %v, %v", audited, err)
		}
	})
}

// Two hosts behind one address: what one begins the other ends.
func TestPasskeyOnTwoHosts(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		public := func(o *host.Options) { o.Server.PublicURL = mustURL("https://app.example.com") }
		one, two := newSite(t, open(), public), newSite(t, open(), public)
		a := passkeytest.New("https://app.example.com")
		b := one.browser(t)
		jar := secureJar{}
		b.Jar = jar
		header := []string{"Origin", "https://app.example.com"}
		b.post("/auth/login", map[string]any{"login": adaEmail, "password": adaPassword}, header...).want(t, 200, "")
		options := b.post("/auth/account/passkeys/options", map[string]any{}, header...)
		options.want(t, 200, "")
		credential, err := a.Create([]byte(options.body))
		if err != nil {
			t.Fatal(err)
		}
		b.base = two.URL
		b.post("/auth/account/passkeys", map[string]any{"credential": credential, "name": "Key"}, header...).want(t, 201, "")
		guest := one.browser(t)
		guest.Jar = secureJar{}
		options = guest.post("/auth/passkeys/options", map[string]any{}, header...)
		if credential, err = a.Get([]byte(options.body)); err != nil {
			t.Fatal(err)
		}
		guest.base = two.URL
		guest.post("/auth/passkeys/login", map[string]any{"credential": credential}, header...).want(t, 200, "login_success")
		guest.base = one.URL
		guest.post("/auth/passkeys/login", map[string]any{"credential": credential}, header...).want(t, 422, "passkey_not_accepted")
		if c := options.Cookies(); len(c) != 1 || c[0].Name != "__Host-vestibule_passkey" || !c[0].Secure || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode || c[0].Path != "/" || c[0].MaxAge != 300 {
			t.Errorf("cookies %v", c)
		}
	})
}

// A bad answer is refused alike, whatever is wrong with it, leaves an audit line with the reason, is counted, and changes
// nothing.
func TestPasskeyRefusals(t *testing.T) {
	s := passkeySite(t, sqliteStore(t), nil)
	counting := func(a *passkeytest.Authenticator) { a.Count, a.Counter = true, 10 }
	for _, tc := range []struct {
		name   string
		made   func(a *passkeytest.Authenticator)
		lie    func(t *testing.T, b *browser, a *passkeytest.Authenticator) json.RawMessage
		reason string
	}{
		{name: "a replay", reason: "spent", lie: func(t *testing.T, b *browser, a *passkeytest.Authenticator) json.RawMessage {
			credential := b.signed(a)
			cookie := b.cookie("vestibule_passkey")
			b.post("/auth/passkeys/login", map[string]any{"credential": credential}).want(t, 200, "")
			b.forget("vestibule_session")
			b.setCookie("vestibule_passkey", cookie)
			return credential
		}},
		{name: "a replay in another browser", reason: "challenge", lie: func(t *testing.T, b *browser, a *passkeytest.Authenticator) json.RawMessage {
			return s.browser(t).signed(a)
		}},
		{name: "a challenge of our own making", reason: "challenge", lie: func(t *testing.T, b *browser, a *passkeytest.Authenticator) json.RawMessage {
			b.signed(a)
			credential, err := a.Get([]byte(`{"publicKey":{"challenge":"` + strings.Repeat("A", 43) + `","rpId":"localhost"}}`))
			if err != nil {
				t.Fatal(err)
			}
			return credential
		}},
		{name: "a challenge that is over", reason: "challenge", lie: func(_ *testing.T, b *browser, a *passkeytest.Authenticator) json.RawMessage {
			credential := b.signed(a)
			s.clock.Advance(5 * time.Minute)
			return credential
		}},
		{name: "a challenge for a new passkey", reason: "challenge", lie: func(t *testing.T, b *browser, a *passkeytest.Authenticator) json.RawMessage {
			b.login(adaEmail, adaPassword, false).want(t, 200, "")
			var o struct {
				PublicKey struct{ Challenge string }
			}
			if err := json.Unmarshal(b.options("/auth/account/passkeys/options"), &o); err != nil {
				t.Fatal(err)
			}
			credential, err := a.Get([]byte(`{"publicKey":{"challenge":"` + o.PublicKey.Challenge + `","rpId":"localhost"}}`))
			if err != nil {
				t.Fatal(err)
			}
			return credential
		}},
		{name: "another origin", reason: "signature", lie: func(_ *testing.T, b *browser, a *passkeytest.Authenticator) json.RawMessage {
			a.Origin = "https://evil.example.com"
			return b.signed(a)
		}},
		{name: "in a frame of another page", reason: "signature", lie: func(_ *testing.T, b *browser, a *passkeytest.Authenticator) json.RawMessage {
			a.CrossOrigin = true
			return b.signed(a)
		}},
		{name: "no user verification", reason: "signature", lie: func(_ *testing.T, b *browser, a *passkeytest.Authenticator) json.RawMessage {
			a.Unverified = true
			return b.signed(a)
		}},
		{name: "no user handle", reason: "user_handle", lie: func(_ *testing.T, b *browser, a *passkeytest.Authenticator) json.RawMessage {
			a.NoHandle = true
			return b.signed(a)
		}},
		{name: "a counter that goes back", reason: "counter", made: counting, lie: func(_ *testing.T, b *browser, a *passkeytest.Authenticator) json.RawMessage {
			a.Counter = 4
			return b.signed(a)
		}},
		{name: "a copy", reason: "counter", made: counting, lie: func(t *testing.T, b *browser, a *passkeytest.Authenticator) json.RawMessage {
			thief := a.Copy()
			s.browser(t).passkeyLogin(a).want(t, 200, "")
			return b.signed(thief)
		}},
		{name: "can be backed up now", reason: "backup_eligibility", lie: func(_ *testing.T, b *browser, a *passkeytest.Authenticator) json.RawMessage {
			a.BackupEligible = true
			return b.signed(a)
		}},
		{name: "a passkey that nobody has", reason: "unknown", lie: func(t *testing.T, b *browser, _ *passkeytest.Authenticator) json.RawMessage {
			stranger := passkeytest.New(s.URL)
			if _, err := stranger.Create([]byte(`{"publicKey":{"challenge":"AA","rp":{"id":"localhost"},"user":{"id":"AAAA"}}}`)); err != nil {
				t.Fatal(err)
			}
			return b.signed(stranger)
		}},
		{name: "rubbish", reason: "malformed", lie: func(*testing.T, *browser, *passkeytest.Authenticator) json.RawMessage {
			return json.RawMessage(`{"id":5}`)
		}},
		{name: "a changed signature", reason: "signature", lie: func(t *testing.T, b *browser, a *passkeytest.Authenticator) json.RawMessage {
			var c map[string]any
			if err := json.Unmarshal(b.signed(a), &c); err != nil {
				t.Fatal(err)
			}
			response := c["response"].(map[string]any)
			response["signature"] = "MEUC" + response["signature"].(string)[4:60] + "AAAA" + response["signature"].(string)[64:]
			text, _ := json.Marshal(c)
			return text
		}},
		{name: "disabled", reason: "disabled", lie: func(t *testing.T, b *browser, a *passkeytest.Authenticator) json.RawMessage {
			disable(t, s, true)
			t.Cleanup(func() { disable(t, s, false) })
			return b.signed(a)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := s.withPasskey(t, tc.made)
			b := s.browser(t)
			credential := tc.lie(t, b, a)
			before := passkeyRows(t, s)
			mark := len(s.log.String())
			got := b.post("/auth/passkeys/login", map[string]any{"credential": credential})
			got.want(t, 422, "passkey_not_accepted")
			body := got.json(t)
			delete(body, "request_id")
			if text, _ := json.Marshal(body); string(text) != `{"errors":{"credential":["passkey_not_accepted"]},"message":"passkey_not_accepted"}` {
				t.Errorf("answered %s", text)
			}
			for _, c := range got.Cookies() {
				t.Errorf("the answer sets the cookie %s", c.Name)
			}
			line := auditLine(s.log.String()[mark:], "passkey_refused")
			if !strings.Contains(line, "purpose=sign_in reason="+tc.reason) {
				t.Errorf("logged %q, want the reason %s", line, tc.reason)
			}
			if after := passkeyRows(t, s); after != before {
				t.Errorf("changed:\n%s\nbefore\n%s", after, before)
			}
		})
	}
}

// auditLine returns the audit line of an event.
func auditLine(log, event string) string {
	for line := range strings.Lines(log) {
		if strings.Contains(line, "event="+event+" ") {
			return line
		}
	}
	return ""
}

// passkeyRows is all that a sign-in by passkey writes.
func passkeyRows(t *testing.T, s *testSite) string {
	t.Helper()
	var rows []string
	for _, query := range []string{
		`SELECT 'spent ' || hex(hash) FROM vestibule_spent ORDER BY hash`,
		`SELECT 'passkey ' || id || ' ' || counter || ' ' || backed_up || ' ' || used FROM vestibule_passkeys ORDER BY id`,
		`SELECT 'session ' || hex(hash) FROM vestibule_sessions ORDER BY hash`,
	} {
		var found []string
		if err := s.db.Reader().Select(&found, query); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, found...)
	}
	return strings.Join(rows, "\n")
}

func disable(t *testing.T, s *testSite, disabled bool) {
	t.Helper()
	if err := s.db.SetDisabled(context.WithoutCancel(t.Context()), s.user.ID, disabled); err != nil {
		t.Error(err)
	}
}

// A passkey of somebody who is gone does not sign in the one to whom the application gives the id later. A row whose time is
// in a zone ahead is nobody else's.
func TestPasskeyOfAFormerUser(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := passkeySite(t, open(), nil)
		a := s.withPasskey(t, nil)
		made := s.clock.Now()
		for _, tc := range []struct {
			created any
			status  int
		}{{made.Add(14 * time.Hour), 200}, {nil, 200}, {made.Add(25 * time.Hour), 422}} {
			if at, ok := tc.created.(time.Time); ok {
				tc.created = at.Format(time.DateTime)
			}
			for _, statement := range []struct {
				text string
				args []any
			}{
				{`DELETE FROM users`, nil},
				{s.db.Writer().Rebind(`INSERT INTO users (id, name, email, password, created_at) VALUES (` + s.user.ID + `, 'Bob', 'bob@example.com', '!', ?)`), []any{tc.created}},
			} {
				if _, err := s.db.Writer().Exec(statement.text, statement.args...); err != nil {
					t.Fatal(err)
				}
			}
			s.browser(t).passkeyLogin(a).want(t, tc.status, "")
		}
		if line := auditLine(s.log.String(), "passkey_refused"); !strings.Contains(line, "reason=older_than_user") {
			t.Errorf("logged %q", line)
		}
	})
}

// Failed passkeys count for the client; right ones do not.
func TestPasskeyThrottle(t *testing.T) {
	s := passkeySite(t, sqliteStore(t), func(o *host.Options) { o.Auth.ClientAttempts = 3 })
	a := s.withPasskey(t, nil)
	for range 5 {
		s.browser(t).passkeyLogin(a).want(t, 200, "")
	}
	a.Unverified = true
	for range 3 {
		s.browser(t).passkeyLogin(a).want(t, 422, "")
	}
	a.Unverified = false
	got := s.browser(t).passkeyLogin(a)
	got.want(t, 429, "auth_throttle|60|1")
	if got.Header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After %q", got.Header.Get("Retry-After"))
	}
	s.browser(t).login("bob@example.com", "x", false).want(t, 429, "")
	s.clock.Advance(time.Minute)
	s.browser(t).passkeyLogin(a).want(t, 200, "")
}

// A sign-in by passkey ends the rest of a password.
func TestPasskeyEndsTheRest(t *testing.T) {
	s := passkeySite(t, sqliteStore(t), nil)
	a := s.withPasskey(t, nil)
	for range 100 {
		if _, _, err := s.db.Throttle().Hit(t.Context(), auth.Counter{Kind: "password", Login: s.user.ID}, s.clock.Now(), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	s.browser(t).login(adaEmail, adaPassword, false).want(t, 429, "password_rests")
	s.browser(t).passkeyLogin(a).want(t, 200, "")
	s.browser(t).login(adaEmail, adaPassword, false).want(t, 200, "")
}

// Passkeys are where the page is on https or localhost, and nowhere else.
func TestPasskeysAreOff(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*host.Options)
		local  bool
		want   bool
	}{
		{"localhost", nil, true, true},
		{"an address", nil, false, false},
		{"switched off", func(o *host.Options) { o.Auth.PasskeysOff = true }, true, false},
		{"http", func(o *host.Options) { o.Server.PublicURL = mustURL("http://app.example.com") }, false, false},
		{"https", func(o *host.Options) { o.Server.PublicURL = mustURL("https://app.example.com") }, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSite(t, sqliteStore(t), tc.change)
			if tc.local {
				s.URL = strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
			}
			b := s.browser(t)
			if got := b.get("/auth/bootstrap").json(t)["passkeys"]; got != tc.want {
				t.Errorf("bootstrap has %v, want %v", got, tc.want)
			}
			for path, with := range map[string]int{"/auth/passkeys/options": 200, "/auth/passkeys/login": 422, "/auth/account/passkeys/options": 401, "/auth/account/passkeys": 401, "/auth/account/confirm/options": 401} {
				want := with
				if !tc.want {
					want = 404
				}
				b.post(path, map[string]any{}).want(t, want, "")
			}
		})
	}
}

// Whoever has a stolen session makes no passkey with it: the sign-in must be recent.
func TestEnrolmentNeedsProof(t *testing.T) {
	s := passkeySite(t, sqliteStore(t), nil)
	b := s.browser(t)
	b.post("/auth/account/passkeys/options", map[string]any{}).want(t, 401, "unauthenticated")
	b.login(adaEmail, adaPassword, true).want(t, 200, "")
	a := passkeytest.New(s.URL)
	credential, err := a.Create(b.options("/auth/account/passkeys/options"))
	if err != nil {
		t.Fatal(err)
	}
	b.enrol(passkeytest.New(s.URL), "First").want(t, 201, "")
	list, err := s.db.Passkeys().List(t.Context(), s.user.ID, 10)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	s.clock.Advance(10*time.Minute + time.Second)
	for _, stale := range []func(){
		func() {},
		func() { b.forget("vestibule_session") }, // the device comes back
	} {
		stale()
		b.post("/auth/account/passkeys/options", map[string]any{}).want(t, 403, "confirmation_required")
		b.post("/auth/account/passkeys", map[string]any{"credential": credential, "name": "x"}).want(t, 403, "confirmation_required")
		b.do("PATCH", "/auth/account/passkeys/"+list[0].ID, "application/json", `{"name":"x"}`).want(t, 403, "confirmation_required")
		b.do("DELETE", "/auth/account/passkeys/"+list[0].ID, "", "").want(t, 403, "confirmation_required")
	}
	if mail := s.letters(t, 1)[0]; !strings.Contains(mail, "Subject: New passkey for Testing") || strings.Contains(mail, "First") {
		t.Errorf("mailed\n%s", mail)
	}
}

// What is wrong with a new passkey is said where the person can mend it.
func TestEnrolmentRefusals(t *testing.T) {
	s := passkeySite(t, sqliteStore(t), nil)
	other, err := s.db.AddUser(t.Context(), "bob@example.com", "Bob", weakHash())
	if err != nil {
		t.Fatal(err)
	}
	b, bob := s.browser(t), s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	bob.login(other.Email, adaPassword, false).want(t, 200, "")
	a := passkeytest.New(s.URL)
	options := b.options("/auth/account/passkeys/options")
	credential, err := a.Create(options)
	if err != nil {
		t.Fatal(err)
	}
	post := func(b *browser, credential any, name string) answer {
		return b.post("/auth/account/passkeys", map[string]any{"credential": credential, "name": name})
	}
	for name, code := range map[string]string{"": "required", "  ": "required", strings.Repeat("ä", 101): "too_long", "a\u202eb": "invalid", "a\nb": "invalid"} {
		got := post(b, credential, name)
		got.want(t, 422, code)
	}
	post(b, nil, "x").want(t, 422, "required")
	post(b, "text", "x").want(t, 400, "malformed_request")
	post(bob, credential, "x").want(t, 422, "passkey_not_accepted") // another session's challenge
	if line := auditLine(s.log.String(), "passkey_refused"); !strings.Contains(line, "purpose=enrol reason=challenge") {
		t.Errorf("logged %q", line)
	}
	post(b, credential, strings.Repeat("ä", 100)).want(t, 201, "")
	post(b, credential, "x").want(t, 422, "passkey_not_accepted") // the challenge is spent, and its cookie gone

	// One that the person has already, by a client that ignores what the options exclude.
	again := func(b *browser) answer {
		var o map[string]any
		if err := json.Unmarshal(b.options("/auth/account/passkeys/options"), &o); err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(o)
		same, err := a.Again(text)
		if err != nil {
			t.Fatal(err)
		}
		return post(b, same, "Again")
	}
	again(b).want(t, 409, "passkey_known")
	again(bob).want(t, 422, "passkey_not_accepted")
	for i := range 19 {
		if got := b.enrol(passkeytest.New(s.URL), "More"); got.StatusCode != 201 {
			t.Fatalf("%d: %s", i, got.body)
		}
	}
	b.enrol(passkeytest.New(s.URL), "Too many").want(t, 422, "too_many")
}

// Nobody deletes the last way to sign in.
func TestLastWayToSignIn(t *testing.T) {
	s := passkeySite(t, sqliteStore(t), nil)
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	one, two := b.enrol(passkeytest.New(s.URL), "One").json(t)["id"].(string), b.enrol(passkeytest.New(s.URL), "Two").json(t)["id"].(string)
	if err := s.db.Users().SetPassword(t.Context(), s.user.ID, "!", "secret"); err != nil {
		t.Fatal(err)
	}
	b.do("DELETE", "/auth/account/passkeys/"+one, "", "").want(t, 204, "")
	b.do("DELETE", "/auth/account/passkeys/"+two, "", "").want(t, 409, "last_way_to_sign_in")
	if err := s.db.Users().SetPassword(t.Context(), s.user.ID, weakHash(), "secret"); err != nil {
		t.Fatal(err)
	}
	b.do("DELETE", "/auth/account/passkeys/"+two, "", "").want(t, 204, "")
}

// The options of the sign-in are alike for everybody, and so is every refusal: see TestPasskeyRefusals.
func TestPasskeyOptionsTellNothing(t *testing.T) {
	s := passkeySite(t, sqliteStore(t), nil)
	read := func(b *browser) map[string]any {
		var o map[string]map[string]any
		if err := json.Unmarshal(b.options("/auth/passkeys/options"), &o); err != nil {
			t.Fatal(err)
		}
		if challenge, _ := o["publicKey"]["challenge"].(string); len(challenge) != 43 {
			t.Errorf("the challenge is %q", challenge)
		}
		delete(o["publicKey"], "challenge")
		return o["publicKey"]
	}
	before := passkeyRows(t, s)
	nobody := read(s.browser(t))
	if after := passkeyRows(t, s); after != before {
		t.Errorf("options have written %s", after)
	}
	s.withPasskey(t, nil)
	known := s.browser(t)
	known.login(adaEmail, adaPassword, false).want(t, 200, "")
	for _, b := range []*browser{s.browser(t), known} {
		if got, want := asText(t, read(b)), asText(t, nobody); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	s.browser(t).post("/auth/passkeys/options", map[string]any{}, "Origin", "https://evil.example.com").want(t, 403, "cross_origin")
	s.browser(t).post("/auth/passkeys/login", map[string]any{}, "Origin", "https://evil.example.com").want(t, 403, "cross_origin")
}

func asText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A device is kept by a sign-in with a passkey as well, and each tab of the sign-in page has a challenge of its own.
func TestPasskeyKeepsDevice(t *testing.T) {
	s := passkeySite(t, sqliteStore(t), nil)
	a := s.withPasskey(t, nil)
	b := s.browser(t)
	first := b.signed(a)
	b.signed(a) // another tab
	b.post("/auth/passkeys/login", map[string]any{"credential": first, "remember": true}).want(t, 200, "")
	b.forget("vestibule_session")
	b.get("/dashboard").want(t, 302, "")
	if b.cookie("vestibule_session") == "" {
		t.Error("the device has not come back")
	}
	if b.cookie("vestibule_known") == "" {
		t.Error("the browser is not known")
	}
}

// A secureJar hands Secure cookies back over plain http, as if a proxy in front had ended TLS.
type secureJar map[string]*http.Cookie

func (j secureJar) SetCookies(_ *url.URL, cookies []*http.Cookie) {
	for _, c := range cookies {
		if j[c.Name] = c; c.MaxAge < 0 {
			delete(j, c.Name)
		}
	}
}

func (j secureJar) Cookies(*url.URL) []*http.Cookie { return slices.Collect(maps.Values(j)) }

func mustURL(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil {
		panic(err)
	}
	return u
}

// Somebody who is signed in proves it anew by a passkey of their own, and by no other answer.
func TestConfirmByPasskey(t *testing.T) {
	s := passkeySite(t, sqliteStore(t), nil)
	bob, err := s.db.AddUser(t.Context(), "bob@example.com", "Bob", weakHash())
	if err != nil {
		t.Fatal(err)
	}
	mine, his := s.withPasskey(t, nil), passkeytest.New(s.URL)
	other := s.browser(t)
	other.login(bob.Email, adaPassword, false).want(t, 200, "")
	other.enrol(his, "His").want(t, 201, "")
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	s.clock.Advance(11 * time.Minute)
	b.post("/auth/account/passkeys/options", map[string]any{}).want(t, 403, "confirmation_required")
	options := b.options("/auth/account/confirm/options")
	if !strings.Contains(string(options), `"allowCredentials":[{"type":"public-key"`) {
		t.Errorf("options %s", options)
	}
	confirm := func(credential json.RawMessage, err error) answer {
		if err != nil {
			t.Fatal(err)
		}
		return b.post("/auth/account/confirm", map[string]any{"credential": credential})
	}
	var o struct{ PublicKey struct{ Challenge string } }
	if err := json.Unmarshal(options, &o); err != nil {
		t.Fatal(err)
	}
	confirm(his.Get([]byte(`{"publicKey":{"challenge":"`+o.PublicKey.Challenge+`","rpId":"localhost"}}`))).want(t, 422, "passkey_not_accepted")
	confirm(mine.Get(b.options("/auth/passkeys/options"))).want(t, 422, "passkey_not_accepted") // a challenge of the sign-in
	b.post("/auth/account/passkeys/options", map[string]any{}).want(t, 403, "confirmation_required")
	line := auditLine(s.log.String(), "passkey_refused")
	if !strings.Contains(line, "purpose=confirm reason=another_user") {
		t.Errorf("logged %q", line)
	}
	mine.NoHandle = true // as security keys do where the options name credentials
	right, err := mine.Get(options)
	confirm(right, err).want(t, 204, "")
	b.post("/auth/account/passkeys/options", map[string]any{}).want(t, 200, "")
	confirm(right, err).want(t, 422, "passkey_not_accepted")
	if got := b.get("/auth/account").json(t)["passkeys"].([]any); len(got) != 1 || got[0].(map[string]any)["name"] != "Phone" || got[0].(map[string]any)["last_used"] == nil {
		t.Errorf("the account has %v", got)
	}
}

// Dispensers and applications learn that somebody signed in by a passkey.
func TestProofByPasskey(t *testing.T) {
	var by []string
	s := passkeySite(t, sqliteStore(t), func(o *host.Options) {
		o.Dispenser = pluginsdk.DispenserFunc(func(_ context.Context, _ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
			by = append(by, r.SignedInBy)
			return pluginsdk.Done(), nil
		})
	})
	s.browser(t).passkeyLogin(s.withPasskey(t, nil)).want(t, 200, "")
	if !slices.Equal(by, []string{"password", "passkey"}) {
		t.Errorf("dispensers learn %v", by)
	}
	s = withAssertions(t)
	s.URL = strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	b := s.browser(t)
	b.passkeyLogin(s.withPasskey(t, nil)).want(t, 200, "")
	claims := s.verified(t, told(t, b.get("/app/x")).Get("X-Vestibule-Assertion"), "app")
	if got := asText(t, claims["amr"]); got != `["passkey","pop","user","mfa"]` {
		t.Errorf("amr %s", got)
	}
}

// A mail about the password names the passkeys: whoever sets a new one because of a thief must know what goes on working.
func TestMailsNamePasskeys(t *testing.T) {
	s := passkeySite(t, sqliteStore(t), nil)
	s.withPasskey(t, nil)
	s.letters(t, 1)
	b := s.browser(t)
	_, token := s.link(t, b, 2)
	b.post("/auth/reset-password", map[string]any{"token": token, "email": adaEmail, "password": newPassword, "password_confirmation": newPassword}).want(t, 200, "")
	for _, mail := range s.letters(t, 3)[1:] {
		if !strings.Contains(mail, "Phone, made on 4 May 2026") {
			t.Errorf("no passkey in\n%s", mail)
		}
	}
}

func TestAdminPasskeys(t *testing.T) {
	s := passkeySite(t, sqliteStore(t), nil)
	a := s.withPasskey(t, nil)
	if _, err := s.db.AddUser(t.Context(), "bob@example.com", "Bob", weakHash()); err != nil {
		t.Fatal(err)
	}
	for email, n := range map[string]int{"": 1, adaEmail: 1, "bob@example.com": 0} {
		if list, err := s.admin.Passkeys(t.Context(), email, 10); err != nil || len(list) != n {
			t.Errorf("%q: %v, %v", email, list, err)
		}
	}
	list, err := s.admin.Passkeys(t.Context(), adaEmail, 10)
	if err != nil || list[0].Name != "Phone" || list[0].Email != adaEmail || !list[0].Created.Equal(s.clock.Now()) {
		t.Fatal(list, err)
	}
	if err := s.admin.DeletePasskey(t.Context(), "bob@example.com", list[0].ID); err == nil || !strings.Contains(err.Error(), "bob@example.com has no passkey with the id") {
		t.Errorf("another's: %v", err)
	}
	if err := s.db.Users().SetPassword(t.Context(), s.user.ID, "!", ""); err != nil { // the last way to sign in as well
		t.Fatal(err)
	}
	if err := s.admin.DeletePasskey(t.Context(), adaEmail, list[0].ID); err != nil {
		t.Error(err)
	}
	var subject string
	if err := s.db.Reader().Get(&subject, `SELECT subject FROM vestibule_audit WHERE act = 'passkey_delete' AND operator NOT LIKE 'user %'`); err != nil || subject != adaEmail+" Phone ("+list[0].ID+")" {
		t.Errorf("audited %q, %v", subject, err)
	}
	s.browser(t).passkeyLogin(a).want(t, 422, "passkey_not_accepted")
}
