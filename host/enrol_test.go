package host_test

import (
	"errors"
	"maps"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey/passkeytest"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func withoutPasswords(o *host.Options) { o.Auth.PasswordOff = true }

// atLocalhost is a browser that has passkeys, which none has for an address.
func (s *testSite) atLocalhost(t *testing.T) (*browser, *passkeytest.Authenticator) {
	t.Helper()
	b := s.browser(t)
	b.base = strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	return b, passkeytest.New(b.base)
}

// enrolByLink makes a passkey by the token of a link and returns what is to be posted.
func (b *browser) enrolByLink(t *testing.T, a *passkeytest.Authenticator, email, token string) map[string]any {
	t.Helper()
	body := map[string]any{"email": email, "token": token}
	options := b.post("/auth/invitation/options", body)
	options.want(t, 200, "")
	credential, err := a.Create([]byte(options.body))
	if err != nil {
		t.Fatal(err)
	}
	body["credential"] = credential
	return body
}

// signInByPasskey signs in with the newest passkey of an authenticator.
func (b *browser) signInByPasskey(t *testing.T, a *passkeytest.Authenticator) answer {
	t.Helper()
	credential, err := a.Get([]byte(b.post("/auth/passkeys/options", map[string]any{}).body))
	if err != nil {
		t.Fatal(err)
	}
	return b.post("/auth/passkeys/login", map[string]any{"credential": credential})
}

// Without passwords an invitation is for a passkey, once.
func TestInvitationToAPasskey(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), withoutPasswords)
		user := s.invite(t, "de")
		mail, path, token := s.invitation(t)
		for _, want := range []string{"Legen Sie zuerst einen Passkey an, um", "Passkey anlegen</a>", "Ohne Passkey kann niemand"} {
			if !strings.Contains(mail, want) {
				t.Errorf("no %q in the mail:\n%s", want, mail)
			}
		}
		b, a := s.atLocalhost(t)
		want := "/login?invited#/set-password/" + token + "/eve%40example.com"
		if got := b.get(path).Header.Get("Location"); got != want {
			t.Fatalf("the link leads to %q, want %q", got, want)
		}
		b.post("/auth/reset-password", eveBody(token, newPassword)).want(t, 404, "password_sign_in_off")
		body := b.enrolByLink(t, a, eveEmail, token)
		answer := b.post("/auth/invitation", body, "User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		answer.want(t, 200, "passkey_added")
		if got := answer.json(t)["redirect"]; got != b.base+"/login" {
			t.Errorf("redirect %v", got)
		}
		b.get("/auth/intents/current").want(t, 401, "") // nobody is signed in
		b.post("/auth/invitation", body).want(t, 422, "reset_failed")
		b.post("/auth/invitation/options", body).want(t, 422, "reset_failed")
		if got := b.get(path).Header.Get("Location"); got != "/login#/set-password" {
			t.Errorf("a used link leads to %q", got)
		}
		b.signInByPasskey(t, a).want(t, 200, "login_success")
		kept := rows(t, s.db, "vestibule_passkeys")
		if len(kept) != 1 || kept[0]["user_id"] != user.ID || kept[0]["name"] != "Firefox (Linux)" {
			t.Errorf("passkeys %v", kept)
		}
		var acts []string
		for _, row := range rows(t, s.db, "vestibule_audit") {
			acts = append(acts, row["act"])
		}
		if strings.Join(acts, " ") != "user_invite passkey_add" {
			t.Errorf("audit %v", acts)
		}
		log := s.log.String()
		if strings.Contains(log, token) || !strings.Contains(log, "event=invitation_used") {
			t.Errorf("the log holds the token, or no audit line:\n%s", log)
		}
		s.letters(t, 2) // the notice of a new passkey
	})
}

// Where nobody has a password, the notices of a new passkey and of a new token advise none, and lead to the account.
func TestNoticesWithoutPasswords(t *testing.T) {
	for _, lang := range []string{"en", "de"} {
		s := newSite(t, sqliteStore(t), func(o *host.Options) { o.Auth.PasswordOff, o.Auth.OwnTokens = true, true })
		s.invite(t, lang)
		_, _, token := s.invitation(t)
		b, a := s.atLocalhost(t)
		b.post("/auth/invitation", b.enrolByLink(t, a, eveEmail, token), "Accept-Language", lang).want(t, 200, "passkey_added")
		b.signInByPasskey(t, a).want(t, 200, "login_success")
		b.post("/auth/tokens", map[string]any{"name": "Excel"}, "Accept-Language", lang).want(t, 201, "")
		for _, mail := range s.letters(t, 3)[1:] {
			if !strings.Contains(mail, "/login?account") {
				t.Errorf("%s: no link to the account in\n%s", lang, mail)
			}
			if !strings.Contains(mail, "Content-Language: "+lang) || strings.Contains(strings.ToLower(mail), "passwor") {
				t.Errorf("%s: another language, or a password, in\n%s", lang, mail)
			}
		}
	}
}

// The link that an operator prints is the way back for somebody who has lost a passkey. It ends
// what was open.
func TestResetLinkToAPasskey(t *testing.T) {
	s := newSite(t, sqliteStore(t), withoutPasswords)
	b, _ := s.atLocalhost(t)
	for range 2 {
		link, lifetime, err := s.admin.ResetLink(t.Context(), adaEmail)
		if err != nil || lifetime != time.Hour {
			t.Fatal(lifetime, err)
		}
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		token := strings.TrimPrefix(u.Path, "/password/reset/")
		if got := b.get(u.RequestURI()).Header.Get("Location"); got != "/login#/set-password/"+token+"/ada%40example.com" {
			t.Fatalf("the link leads to %q", got)
		}
		other, fresh := s.atLocalhost(t)
		other.post("/auth/invitation", other.enrolByLink(t, fresh, adaEmail, token)).want(t, 200, "passkey_added")
		b.get("/auth/intents/current").want(t, 401, "") // what was open has ended
		b.signInByPasskey(t, fresh).want(t, 200, "login_success")
	}
	if n := len(rows(t, s.db, "vestibule_passkeys")); n != 2 {
		t.Errorf("%d passkeys, want the one before as well", n)
	}
}

// Of many who have the token, at two hosts, one makes a passkey.
func TestOnePasskeyOfAnInvitation(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		mails := t.TempDir() // of both: whichever host looks first sends the mail
		many := func(o *host.Options) { o.Auth.ResetAttempts, o.Mail.Dir, o.Auth.PasswordOff = 1000, mails, true }
		sites := []*testSite{newSite(t, open(), many), newSite(t, open(), many)}
		sites[0].mails = mails
		sites[0].invite(t, "")
		_, _, token := sites[0].invitation(t)
		var mu sync.Mutex
		statuses := map[int]int{}
		var all sync.WaitGroup
		var posts []func() answer
		for i := range 8 {
			b, a := sites[i%2].atLocalhost(t)
			body := b.enrolByLink(t, a, eveEmail, token)
			posts = append(posts, func() answer { return b.post("/auth/invitation", body) })
		}
		for _, post := range posts {
			all.Go(func() {
				status := post().StatusCode
				mu.Lock()
				defer mu.Unlock()
				statuses[status]++
			})
		}
		all.Wait()
		if n := len(rows(t, sites[0].db, "vestibule_passkeys")); statuses[200] != 1 || statuses[422] != 7 || n != 1 {
			t.Errorf("statuses %v and %d passkeys, want one", statuses, n)
		}
	})
}

// A refusal keeps no passkey, and the token stays usable.
func TestInvitationToAPasskeyIsRefused(t *testing.T) {
	with := func(body map[string]any, name string, value any) map[string]any {
		body = maps.Clone(body)
		body[name] = value
		return body
	}
	for _, test := range []struct {
		name, want string
		post       func(t *testing.T, s *testSite, b *browser, a *passkeytest.Authenticator, token string) answer
	}{
		{"a token that nobody has", "reset_failed", func(t *testing.T, _ *testSite, b *browser, a *passkeytest.Authenticator, token string) answer {
			return b.post("/auth/invitation", with(b.enrolByLink(t, a, eveEmail, token), "token", "x"))
		}},
		{"another address", "reset_failed", func(t *testing.T, _ *testSite, b *browser, a *passkeytest.Authenticator, token string) answer {
			return b.post("/auth/invitation", with(b.enrolByLink(t, a, eveEmail, token), "email", adaEmail))
		}},
		{"no token, to be asked for options", "reset_failed", func(_ *testing.T, _ *testSite, b *browser, _ *passkeytest.Authenticator, _ string) answer {
			return b.post("/auth/invitation/options", map[string]any{"email": eveEmail})
		}},
		{"no credential", "required", func(_ *testing.T, _ *testSite, b *browser, _ *passkeytest.Authenticator, token string) answer {
			return b.post("/auth/invitation", map[string]any{"email": eveEmail, "token": token})
		}},
		{"a credential that is none", "passkey_not_accepted", func(_ *testing.T, _ *testSite, b *browser, _ *passkeytest.Authenticator, token string) answer {
			return b.post("/auth/invitation", map[string]any{"email": eveEmail, "token": token, "credential": map[string]any{"id": "x"}})
		}},
		{"another browser's challenge", "passkey_not_accepted", func(t *testing.T, s *testSite, b *browser, a *passkeytest.Authenticator, token string) answer {
			other, _ := s.atLocalhost(t)
			return other.post("/auth/invitation", b.enrolByLink(t, a, eveEmail, token))
		}},
		{"the challenge of another token", "passkey_not_accepted", func(t *testing.T, s *testSite, b *browser, a *passkeytest.Authenticator, token string) answer {
			link, _, err := s.admin.ResetLink(t.Context(), adaEmail)
			if err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(link)
			if err != nil {
				t.Fatal(err)
			}
			body := b.enrolByLink(t, a, adaEmail, strings.TrimPrefix(u.Path, "/password/reset/"))
			return b.post("/auth/invitation", with(with(body, "token", token), "email", eveEmail))
		}},
		{"the challenge of a sign-in", "passkey_not_accepted", func(t *testing.T, _ *testSite, b *browser, a *passkeytest.Authenticator, token string) answer {
			body := b.enrolByLink(t, a, eveEmail, token)
			credential, err := a.Get([]byte(b.post("/auth/passkeys/options", map[string]any{}).body))
			if err != nil {
				t.Fatal(err)
			}
			return b.post("/auth/invitation", with(body, "credential", credential))
		}},
		{"somebody who was not verified", "passkey_not_accepted", func(t *testing.T, _ *testSite, b *browser, a *passkeytest.Authenticator, token string) answer {
			a.Unverified = true
			return b.post("/auth/invitation", b.enrolByLink(t, a, eveEmail, token))
		}},
		{"another origin", "passkey_not_accepted", func(t *testing.T, _ *testSite, b *browser, a *passkeytest.Authenticator, token string) answer {
			a.Origin = "http://localhost:1"
			return b.post("/auth/invitation", b.enrolByLink(t, a, eveEmail, token))
		}},
		{"a challenge that has ended", "passkey_not_accepted", func(t *testing.T, s *testSite, b *browser, a *passkeytest.Authenticator, token string) answer {
			body := b.enrolByLink(t, a, eveEmail, token)
			s.clock.Advance(6 * time.Minute)
			return b.post("/auth/invitation", body)
		}},
		{"a long name", "too_long", func(t *testing.T, _ *testSite, b *browser, a *passkeytest.Authenticator, token string) answer {
			return b.post("/auth/invitation", with(b.enrolByLink(t, a, eveEmail, token), "name", strings.Repeat("x", 300)))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, sqliteStore(t), withoutPasswords)
			s.invite(t, "")
			_, _, token := s.invitation(t)
			b, a := s.atLocalhost(t)
			test.post(t, s, b, a, token).want(t, 422, test.want)
			if n := len(rows(t, s.db, "vestibule_passkeys")); n != 0 {
				t.Errorf("%d passkeys were kept", n)
			}
			b, a = s.atLocalhost(t)
			b.post("/auth/invitation", b.enrolByLink(t, a, eveEmail, token)).want(t, 200, "passkey_added")
		})
	}
}

// Guesses are throttled as those of a reset are, and a valid token is not.
func TestGuessingAtInvitationsToAPasskey(t *testing.T) {
	s := newSite(t, sqliteStore(t), withoutPasswords)
	s.invite(t, "")
	_, _, token := s.invitation(t)
	b, a := s.atLocalhost(t)
	for range 5 {
		b.post("/auth/invitation/options", map[string]any{"email": eveEmail, "token": "x"}).want(t, 422, "reset_failed")
	}
	b.post("/auth/invitation", map[string]any{"email": eveEmail, "token": "x"}).want(t, 429, "auth_throttle|60|1")
	b.post("/auth/invitation", b.enrolByLink(t, a, eveEmail, token)).want(t, 200, "passkey_added")
}

// Where people sign in with passwords, and where no passkeys are, nobody makes one by a link.
func TestNoPasskeyByALink(t *testing.T) {
	for name, change := range map[string]func(*host.Options){
		"with passwords":             nil,
		"with neither of the two":    func(o *host.Options) { o.Auth.PasswordOff, o.Auth.PasskeysOff = true, true },
		"with passwords, no passkey": func(o *host.Options) { o.Auth.PasskeysOff = true },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, sqliteStore(t), change)
			b, _ := s.atLocalhost(t)
			for _, path := range []string{"/auth/invitation", "/auth/invitation/options"} {
				b.post(path, map[string]any{"email": eveEmail, "token": "x"}).want(t, 404, "not_found")
			}
		})
	}
}

// The passkey that one link has made ends the others, though the password is as it was. A mail of an invitation that is sent
// twice has no second link then.
func TestPasskeyOfALinkEndsOthers(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), withoutPasswords)
		user := s.invite(t, "")
		_, _, invitation := s.invitation(t)
		b, a := s.atLocalhost(t)
		_, reset, err := s.host.SignIn().MintReset(t.Context(), user.ID)
		if err != nil {
			t.Fatal(err)
		}
		late := b.enrolByLink(t, passkeytest.New(b.base), eveEmail, reset)
		other, _ := s.atLocalhost(t)
		other.post("/auth/invitation", other.enrolByLink(t, a, eveEmail, invitation)).want(t, 200, "passkey_added")
		b.post("/auth/invitation", late).want(t, 422, "reset_failed")
		if _, _, err := s.host.SignIn().MintInvitation(t.Context(), user.ID); !errors.Is(err, auth.ErrNotFound) {
			t.Errorf("another link was made: %v", err)
		}
	})
}
