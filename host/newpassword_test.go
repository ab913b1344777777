package host_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func (b *browser) changePassword(password string, header ...string) answer {
	b.t.Helper()
	return b.post("/auth/account/password", map[string]any{"password": password, "password_confirmation": password}, header...)
}

// A new password ends everything that was signed in before, but the session that has set
// it, which goes on under a new id.
func TestChangePassword(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), func(o *host.Options) {
			o.Auth.OwnTokens = true
			o.OnPasswordReset = append(o.OnPasswordReset, func(context.Context, auth.PasswordReset) { t.Error("a reset is announced") })
		})
		s.withBob(t)
		b, phone, thief, bob := s.browser(t), s.browser(t), s.browser(t), s.browser(t)
		b.login(adaEmail, adaPassword, true).want(t, 200, "")
		phone.login(adaEmail, adaPassword, true).want(t, 200, "")
		bob.login(bobEmail, adaPassword, true).want(t, 200, "")
		b.post("/auth/tokens", map[string]any{"name": "x"}).want(t, 201, "")
		s.letters(t, 1) // of the token
		_, link := s.link(t, s.browser(t), 2)
		secret, session := rows(t, s.db, "users")[0]["remember_token"], b.cookie(sessionName)
		thief.setCookie(sessionName, session)
		thief.account(t)

		a := b.changePassword(newPassword, "User-Agent", firefox, "Accept-Language", "de")
		if a.StatusCode != 204 || a.body != "" || a.Header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %v %s", a.StatusCode, a.Header, a.body)
		}
		if now := b.cookie(sessionName); now == "" || now == session || b.cookie(deviceName) != "" {
			t.Error("the session keeps its id, or the device stays")
		}
		account := b.account(t)
		if len(ids(account, "sessions")) != 1 || len(ids(account, "devices")) != 0 || account["recent"] != 600.0 {
			t.Errorf("left over: %v", account)
		}
		thief.get("/auth/account").want(t, 401, "unauthenticated")
		phone.get("/auth/account").want(t, 401, "unauthenticated")
		phone.forget(sessionName)
		phone.get("/auth/account").want(t, 401, "unauthenticated")
		bob.account(t)
		if a := b.get("/auth/tokens"); a.body != `{"tokens":[]}`+"\n" {
			t.Errorf("tokens %s", a.body)
		}
		phone.post("/auth/reset-password", resetBody(link, newPassword)).want(t, 422, "reset_failed")
		if now := rows(t, s.db, "users")[0]["remember_token"]; now == secret || now == "" {
			t.Error("remember_token stays")
		}
		phone.login(adaEmail, adaPassword, false).want(t, 422, "credentials_do_not_match")
		phone.login(adaEmail, newPassword, false).want(t, 200, "")

		mails := slices.DeleteFunc(s.letters(t, 3), func(mail string) bool { return !strings.Contains(mail, "Firefox (Linux)") })
		if len(mails) != 1 || !strings.Contains(mails[0], "Passwort") || strings.Contains(mails[0], "/password/reset/") {
			t.Errorf("the mails of the change: %q", mails)
		}
		var acts []struct{ Operator, Act, Subject string }
		if err := s.db.Reader().Select(&acts, "SELECT operator, act, subject FROM vestibule_audit ORDER BY id DESC LIMIT 1"); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(acts); got != fmt.Sprintf("[{user %s password_change %s}]", s.user.ID, adaEmail) {
			t.Errorf("audit rows %s", got)
		}
		if log := s.log.String(); !strings.Contains(log, "audit: event=password_change") || strings.Contains(log, newPassword) {
			t.Error("the log lacks the audit line, or has the password")
		}
	})
}

// A stolen session, or a device that was left signed in, sets no password without the old
// one, and answers nothing else before.
func TestChangePasswordNeedsAFreshProof(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	b := s.browser(t)
	b.login(adaEmail, adaPassword, true).want(t, 200, "")
	s.clock.Advance(10*time.Minute + time.Second)
	for _, password := range []string{newPassword, "short"} {
		b.changePassword(password).want(t, 403, "confirmation_required")
	}
	b.forget(sessionName)
	b.changePassword(newPassword).want(t, 403, "confirmation_required")
	if len(rows(t, s.db, "vestibule_outbox")) != 0 {
		t.Error("a mail is queued")
	}
	b.confirm("wrong").want(t, 422, "")
	b.changePassword(newPassword).want(t, 403, "confirmation_required")
	b.confirm(adaPassword).want(t, 204, "")
	b.changePassword(newPassword).want(t, 204, "")
}

// The rules of a new password are those of a reset; what they refuse changes nothing.
func TestChangePasswordRefusals(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) { o.Auth.PasswordHash = password.Bcrypt })
	b := s.signedIn(t)
	session := b.cookie(sessionName)
	for name, test := range map[string]struct{ password, confirmation, code string }{
		"nothing":       {"", "", "password_too_short"},
		"short":         {"short", "short", "password_too_short"},
		"common":        {"password1234", "password1234", "password_too_common"},
		"the address":   {adaEmail, adaEmail, "password_too_common"},
		"another twice": {newPassword, newPassword + "x", "password_confirmation_mismatch"},
		"long":          {strings.Repeat(newPassword+"-of-mine", 3), strings.Repeat(newPassword+"-of-mine", 3), "password_too_long"},
	} {
		t.Run(name, func(t *testing.T) {
			b.post("/auth/account/password", map[string]any{"password": test.password, "password_confirmation": test.confirmation}).refusedWith(t, 422, test.code)
		})
	}
	b.do("POST", "/auth/account/password", "application/json", `{"password":1}`).want(t, 400, "")
	b.do("POST", "/auth/account/password", "text/plain", "x").want(t, 415, "")
	if b.cookie(sessionName) != session || len(rows(t, s.db, "vestibule_outbox"))+len(rows(t, s.db, "vestibule_audit")) != 0 {
		t.Error("something has changed")
	}
	s.browser(t).login(adaEmail, adaPassword, false).want(t, 200, "")
}

// Nobody fills a mailbox or the table of audit by changing the password without end.
func TestChangePasswordIsCounted(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	b := s.signedIn(t)
	for i := range 5 {
		b.changePassword(fmt.Sprint(newPassword, i)).want(t, 204, "")
	}
	b.changePassword(newPassword).refusedWith(t, 429, "auth_throttle|60|1")
	s.clock.Advance(61 * time.Second)
	b.changePassword(newPassword).want(t, 204, "")
}

// The browser that has set the password is known to the account, all others are not any
// more, and the password does not rest.
func TestChangePasswordForgetsBrowsers(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	b, other := s.signedIn(t), s.signedIn(t)
	rest := func() {
		for range 100 {
			if _, _, err := s.db.Throttle().Hit(t.Context(), auth.Counter{Kind: "password", Login: s.user.ID}, s.clock.Now(), 24*time.Hour); err != nil {
				t.Fatal(err)
			}
		}
	}
	rest()
	b.changePassword(newPassword).want(t, 204, "")
	s.browser(t).login(adaEmail, newPassword, false).want(t, 200, "")
	rest()
	b.login(adaEmail, newPassword, false).want(t, 200, "")
	other.login(adaEmail, newPassword, false).want(t, 429, "password_rests")
}

// Without password sign-in a password neither confirms nor is set.
func TestAccountWithoutPasswordSignIn(t *testing.T) {
	db := sqliteStore(t)
	b := newSite(t, db, nil).signedIn(t)
	s := newSite(t, db, func(o *host.Options) { o.Auth.PasswordOff = true })
	off := s.browser(t)
	off.setCookie(sessionName, b.cookie(sessionName))
	if got := off.account(t)["password"]; got != false {
		t.Errorf("password %v", got)
	}
	off.confirm(adaPassword).want(t, 404, "password_sign_in_off")
	off.changePassword(newPassword).want(t, 404, "password_sign_in_off")
}
