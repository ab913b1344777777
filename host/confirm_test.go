package host_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func (b *browser) confirm(password string, header ...string) answer {
	b.t.Helper()
	return b.post("/auth/account/confirm", map[string]any{"password": password}, header...)
}

// refusedWith fails unless the answer has the status and one code, at the field password.
func (a answer) refusedWith(t *testing.T, status int, code string) {
	t.Helper()
	if a.StatusCode != status || !strings.Contains(a.body, `"errors":{"password":["`+code) {
		t.Errorf("%d %s, want %d %s", a.StatusCode, a.body, status, code)
	}
}

// The password makes a session recent that a device has begun, under the id that it has.
func TestConfirm(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), selfService)
		b := s.browser(t)
		b.login(adaEmail, adaPassword, true).want(t, 200, "")
		s.clock.Advance(24 * time.Hour)
		b.account(t)
		b.post("/auth/tokens", map[string]any{"name": "x"}).want(t, 403, "confirmation_required")
		before := b.cookie(sessionName)
		b.confirm("wrong").refusedWith(t, 422, "credentials_do_not_match")
		if got := b.account(t)["recent"]; got != 0.0 {
			t.Errorf("recent for %v by a wrong password", got)
		}
		if a := b.confirm(adaPassword); a.StatusCode != 204 || a.body != "" || a.Header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %v %s", a.StatusCode, a.Header, a.body)
		}
		if got := b.account(t)["recent"]; got != 600.0 || b.cookie(sessionName) != before {
			t.Errorf("recent for %v, or another session", got)
		}
		b.post("/auth/tokens", map[string]any{"name": "x"}).want(t, 201, "")
		s.clock.Advance(10*time.Minute + time.Second)
		b.post("/auth/tokens", map[string]any{"name": "y"}).want(t, 403, "confirmation_required")
		log := s.log.String()
		if strings.Count(log, "audit: event=confirm ") != 1 || strings.Count(log, "audit: event=confirm_failed ") != 1 || strings.Contains(log, adaPassword) {
			t.Error("the log lacks the audit lines, or has the password")
		}
	})
}

// What confirm refuses before it looks at the password.
func TestConfirmRefusals(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	b := s.signedIn(t)
	counted := rows(t, s.db, "vestibule_counters")
	for name, test := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"nothing":    {`{}`, 422, "required"},
		"empty":      {`{"password":""}`, 422, "required"},
		"null":       {`{"password":null}`, 422, "required"},
		"a number":   {`{"password":1}`, 400, "malformed_request"},
		"twice":      {`{"password":"x","password":"y"}`, 400, "malformed_request"},
		"not closed": {`{"password":`, 400, "malformed_request"},
	} {
		t.Run(name, func(t *testing.T) {
			b.do("POST", "/auth/account/confirm", "application/json", test.body).want(t, test.status, test.code)
		})
	}
	b.do("POST", "/auth/account/confirm", "text/plain", "x").want(t, 415, "")
	b.do("POST", "/auth/account/confirm", "application/json", `{"password":"`+strings.Repeat("x", 70_000)+`"}`).want(t, 413, "")
	if diff := cmp.Diff(counted, rows(t, s.db, "vestibule_counters")); diff != "" {
		t.Errorf("counted: %s", diff)
	}
	b.do("POST", "/auth/account/confirm", "application/x-www-form-urlencoded", "password="+adaPassword).want(t, 204, "")
}

// A stolen session guesses no more often than a sign-in: both count together, for the name
// and for the client, before the password is looked at.
func TestConfirmIsCountedLikeASignIn(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), func(o *host.Options) { o.Auth.ClientAttempts = 9 })
		s.withBob(t)
		b, bob := s.signedIn(t), s.browser(t)
		bob.login(bobEmail, adaPassword, false).want(t, 200, "")
		for range 3 {
			b.confirm("wrong").refusedWith(t, 422, "credentials_do_not_match")
		}
		for range 2 {
			b.login(adaEmail, "wrong", false).want(t, 422, "credentials_do_not_match")
		}
		a := b.confirm(adaPassword)
		a.refusedWith(t, 429, "auth_throttle|60|1")
		if a.Header.Get("Retry-After") != "60" {
			t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
		}
		b.login(adaEmail, adaPassword, false).want(t, 429, "auth_throttle|60|1")
		if got := b.account(t)["recent"]; got != 600.0 {
			t.Errorf("recent for %v", got)
		}
		// Of the nine failures of the client seven are used up.
		bob.confirm("wrong").refusedWith(t, 422, "credentials_do_not_match")
		bob.confirm(adaPassword).want(t, 204, "") // which counts no failure
		bob.confirm("wrong").refusedWith(t, 422, "credentials_do_not_match")
		bob.confirm(adaPassword).refusedWith(t, 429, "auth_throttle|60|1")
		s.clock.Advance(61 * time.Second)
		b.confirm(adaPassword).want(t, 204, "")
		if strings.Count(s.log.String(), "audit: event=lockout") < 3 {
			t.Error("the log lacks lockouts")
		}
	})
}

// A browser that has forgotten that it is known counts with all others of its network.
func TestConfirmOfAnUnknownBrowser(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	b := s.signedIn(t)
	b.forget("vestibule_known")
	for range 5 {
		b.confirm("wrong").refusedWith(t, 422, "credentials_do_not_match")
	}
	s.browser(t).login(strings.ToUpper(adaEmail), adaPassword, false).want(t, 429, "auth_throttle|60|1")
	s.clock.Advance(61 * time.Second)
	b.confirm(adaPassword).want(t, 204, "")
	if b.cookie("vestibule_known") == "" {
		t.Error("the browser is not known after the right password")
	}
}

// While the password rests, confirm looks at none, but from a browser that is known. A
// success forgets the failures before it.
func TestConfirmWhileThePasswordRests(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), nil)
		b := s.signedIn(t)
		failures := auth.Counter{Kind: "password", Login: s.user.ID}
		hit := func(n int) (count int) {
			for range n {
				var err error
				if count, _, err = s.db.Throttle().Hit(t.Context(), failures, s.clock.Now(), 24*time.Hour); err != nil {
					t.Fatal(err)
				}
			}
			return count
		}
		hit(98)
		b.confirm("wrong").refusedWith(t, 422, "credentials_do_not_match")
		if n := hit(1); n != 100 {
			t.Errorf("%d failures, want 100", n)
		}
		b.confirm(adaPassword).want(t, 204, "") // by a browser that is known
		if n := hit(1); n != 101 {
			t.Errorf("%d failures, want 101: its success ends the rest for others", n)
		}
		b.forget("vestibule_known")
		for _, password := range []string{"wrong", adaPassword} {
			a := b.confirm(password)
			a.refusedWith(t, 429, "password_rests")
			if a.Header.Get("Retry-After") != "" {
				t.Error("says when to come back")
			}
		}
		if err := s.db.Throttle().Clear(t.Context(), failures); err != nil {
			t.Fatal(err)
		}
		hit(50)
		b.confirm(adaPassword).want(t, 204, "")
		if n := hit(1); n != 1 {
			t.Errorf("%d failures, want 1: a success forgets those before it", n)
		}
	})
}

// A person who was deactivated has no session any more, and another's hash in the meantime
// no effect.
func TestConfirmOfSomebodyWhoIsGone(t *testing.T) {
	for name, change := range map[string]func(s *testSite) error{
		"disabled":    func(s *testSite) error { return s.admin.SetDisabled(t.Context(), adaEmail, true) },
		"deleted":     func(s *testSite) error { _, err := s.db.Writer().Exec(`DELETE FROM users`); return err },
		"signed out":  func(s *testSite) error { return s.admin.RevokeUser(t.Context(), adaEmail) },
		"no password": func(s *testSite) error { _, err := s.db.Writer().Exec(`UPDATE users SET password = '!'`); return err },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, sqliteStore(t), nil)
			b := s.signedIn(t)
			if err := change(s); err != nil {
				t.Fatal(err)
			}
			if a := b.confirm(adaPassword); name == "no password" {
				a.refusedWith(t, 422, "credentials_do_not_match")
			} else {
				a.want(t, 401, "unauthenticated")
			}
		})
	}
}

// Guesses of many browsers at the same moment are counted like any other.
func TestConfirmInParallel(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), nil)
		b := s.signedIn(t)
		statuses := make(chan int, 30)
		for i := range cap(statuses) {
			go func() {
				resp, err := b.Post(b.base+"/auth/account/confirm", "application/x-www-form-urlencoded", strings.NewReader(fmt.Sprintf("password=wrong-%d", i)))
				if err != nil {
					statuses <- 0
					return
				}
				_ = resp.Body.Close()
				statuses <- resp.StatusCode
			}()
		}
		judged := map[int]int{}
		for range cap(statuses) {
			judged[<-statuses]++
		}
		if judged[422] != 5 || judged[429] != 25 {
			t.Errorf("%v, want five that were judged", judged)
		}
	})
}
