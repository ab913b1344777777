package host_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

const eveEmail = "eve@example.com"

// invite adds Eve without a password. The host looks for the mail at once.
func (s *testSite) invite(t *testing.T, language string) host.User {
	t.Helper()
	user, lifetime, err := s.admin.InviteUser(t.Context(), eveEmail, "Eve", language)
	if err != nil || lifetime != 7*24*time.Hour {
		t.Fatalf("invited for %s, %v", lifetime, err)
	}
	s.kickMail(t)
	return user
}

// kickMail makes the host look into the outbox.
func (s *testSite) kickMail(t *testing.T) {
	t.Helper()
	s.browser(t).post("/auth/forgot-password", map[string]any{"email": "nobody@example.com"})
}

// invitation waits for the mail of an invitation and returns it with its link's path and token.
func (s *testSite) invitation(t *testing.T) (mail, path, token string) {
	t.Helper()
	for _, mail := range s.letters(t, 1) {
		u, err := url.Parse(linkPattern.FindString(mail))
		if err == nil && u.Path != "" && u.Query().Get("email") == eveEmail {
			return mail, u.RequestURI(), strings.TrimPrefix(u.Path, "/password/reset/")
		}
	}
	t.Fatalf("no invitation among the mails; log:\n%s", s.log)
	return "", "", ""
}

func eveBody(token, password string) map[string]any {
	body := resetBody(token, password)
	body["email"] = eveEmail
	return body
}

func TestInvitation(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		var mu sync.Mutex
		var events []auth.PasswordReset
		s := newSite(t, open(), func(o *host.Options) {
			o.OnPasswordReset = append(o.OnPasswordReset, func(_ context.Context, e auth.PasswordReset) {
				mu.Lock()
				defer mu.Unlock()
				events = append(events, e)
			})
		})
		user := s.invite(t, "de")
		mail, path, token := s.invitation(t)
		for _, want := range []string{"Subject: Ihr Konto bei Testing", "Guten Tag Eve,", "gilt einmal und 7 Tage lang:", "Passwort wählen</a>"} {
			if !strings.Contains(mail, want) {
				t.Errorf("no %q in the mail:\n%s", want, mail)
			}
		}
		b := s.browser(t)
		for _, password := range []string{"!", adaPassword} {
			b.login(eveEmail, password, false).want(t, 422, "credentials_do_not_match")
		}
		for range 2 { // a mail scanner's look consumes nothing
			a := b.get(path)
			want := "/login?invited#/set-password/" + token + "/eve%40example.com"
			if got := a.Header.Get("Location"); a.StatusCode != 302 || got != want || a.Header.Get("Referrer-Policy") != "no-referrer" {
				t.Fatalf("%d to %q, want %q", a.StatusCode, got, want)
			}
		}
		b.post("/auth/reset-password", eveBody(token, "short")).want(t, 422, "password_too_short")
		b.post("/auth/reset-password", resetBody(token, newPassword)).want(t, 422, "reset_failed") // Ada's address
		b.post("/auth/reset-password", eveBody(token, newPassword)).want(t, 200, "reset_success")
		b.get("/auth/intents/current").want(t, 401, "") // nobody is signed in
		b.post("/auth/reset-password", eveBody(token, newPassword+"2")).want(t, 422, "reset_failed")
		if got := b.get(path).Header.Get("Location"); got != "/login#/set-password" {
			t.Errorf("a used link leads to %q", got)
		}
		b.login(eveEmail, newPassword, false).want(t, 200, "login_success")
		if len(events) != 1 || events[0].UserID != user.ID {
			t.Errorf("events %+v, want one", events)
		}
		log := s.log.String()
		if strings.Contains(log, token) || strings.Contains(log, newPassword) {
			t.Error("the log holds a secret")
		}
		if !strings.Contains(log, "audit: event=user_invite") || !strings.Contains(log, "audit: event=invitation_used") || strings.Contains(log, "event=reset ") {
			t.Errorf("no audit lines of the invitation:\n%s", log)
		}
		acts := rows(t, s.db, "vestibule_audit")
		if len(acts) != 1 || acts[0]["act"] != "user_invite" || acts[0]["subject"] != eveEmail {
			t.Errorf("audit %v", acts)
		}
		for _, table := range tables() {
			for _, row := range rows(t, s.db, table) {
				for column, text := range row {
					for _, spelling := range spellings(token) {
						if strings.Contains(text, spelling) {
							t.Errorf("%s.%s holds the token", table, column)
						}
					}
				}
			}
		}
	})
}

// Two hosts accept one invitation once.
func TestOneUseOfAnInvitation(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		mails := t.TempDir() // of both: whichever host looks first sends the mail
		many := func(o *host.Options) { o.Auth.ResetAttempts, o.Mail.Dir = 1000, mails }
		sites := []*testSite{newSite(t, open(), many), newSite(t, open(), many)}
		sites[0].mails = mails
		sites[0].invite(t, "")
		_, _, token := sites[0].invitation(t)
		var mu sync.Mutex
		statuses := map[int]int{}
		var all sync.WaitGroup
		for i := range 16 {
			b := sites[i%2].browser(t)
			all.Go(func() {
				status := b.post("/auth/reset-password", eveBody(token, newPassword)).StatusCode
				mu.Lock()
				defer mu.Unlock()
				statuses[status]++
			})
		}
		all.Wait()
		if statuses[200] != 1 || statuses[422] != 15 {
			t.Errorf("statuses %v, want one 200", statuses)
		}
	})
}

func TestInvitationEnds(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(t *testing.T, s *testSite, user host.User)
	}{
		{"after seven days", func(_ *testing.T, s *testSite, _ host.User) { s.clock.Advance(7*24*time.Hour + time.Second) }},
		{"by another password", func(t *testing.T, s *testSite, _ host.User) {
			if err := s.admin.SetPassword(t.Context(), eveEmail, "something-else-entirely"); err != nil {
				t.Fatal(err)
			}
		}},
		{"by another address", func(t *testing.T, s *testSite, user host.User) {
			if err := s.db.Users().SetColumns(t.Context(), user.ID, map[string]any{"email": "new@example.com"}); err != nil {
				t.Fatal(err)
			}
		}},
		{"by disabling", func(t *testing.T, s *testSite, _ host.User) {
			if err := s.admin.SetDisabled(t.Context(), eveEmail, true); err != nil {
				t.Fatal(err)
			}
		}},
		{"by a link that the operator prints", func(t *testing.T, s *testSite, _ host.User) {
			if _, _, err := s.admin.ResetLink(t.Context(), eveEmail); err != nil {
				t.Fatal(err)
			}
		}},
		{"by the link of a forgotten password, once used", func(t *testing.T, s *testSite, user host.User) {
			_, token, err := mintReset(t, s, user)
			if err != nil {
				t.Fatal(err)
			}
			s.browser(t).post("/auth/reset-password", eveBody(token, "something-else-entirely")).want(t, 200, "reset_success")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, sqliteStore(t), nil)
			user := s.invite(t, "")
			_, path, token := s.invitation(t)
			test.end(t, s, user)
			b := s.browser(t)
			if got := b.get(path).Header.Get("Location"); got != "/login#/set-password" {
				t.Errorf("the link leads to %q", got)
			}
			b.post("/auth/reset-password", eveBody(token, newPassword)).want(t, 422, "reset_failed")
		})
	}
}

// mintReset returns the token of a link that the person asked for.
func mintReset(t *testing.T, s *testSite, user host.User) (path, token string, err error) {
	t.Helper()
	s.browser(t).post("/auth/forgot-password", map[string]any{"email": user.Email}).want(t, 200, "reset_link_sent")
	for _, mail := range s.letters(t, 2) {
		u, err := url.Parse(linkPattern.FindString(mail))
		if err == nil && strings.Contains(mail, "new password") && u.Query().Get("email") == user.Email {
			return u.RequestURI(), strings.TrimPrefix(u.Path, "/password/reset/"), nil
		}
	}
	return "", "", errors.New("no reset mail")
}

// What strangers and the application do leaves an invitation open.
func TestInvitationStaysOpen(t *testing.T) {
	for _, test := range []struct {
		name    string
		disturb func(t *testing.T, s *testSite, user host.User)
	}{
		{"for nearly seven days", func(_ *testing.T, s *testSite, _ host.User) { s.clock.Advance(7*24*time.Hour - time.Second) }},
		{"beside a forgotten password", func(t *testing.T, s *testSite, user host.User) {
			path, _, err := mintReset(t, s, user)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.browser(t).get(path).Header.Get("Location"); !strings.HasPrefix(got, "/login#/set-password/") {
				t.Errorf("the link of the forgotten password leads to %q", got)
			}
		}},
		{"while the application deletes its reset tokens", func(t *testing.T, s *testSite, _ host.User) {
			if _, err := s.db.Writer().Exec(`DELETE FROM password_reset_tokens`); err != nil {
				t.Fatal(err)
			}
		}},
		{"while strangers guess its token", func(t *testing.T, s *testSite, _ host.User) {
			b := s.browser(t)
			for range 5 {
				b.post("/auth/reset-password", eveBody("x", newPassword)).want(t, 422, "reset_failed")
			}
			b.post("/auth/reset-password", eveBody("x", newPassword)).want(t, 429, "auth_throttle|60|1")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, sqliteStore(t), nil)
			user := s.invite(t, "")
			_, _, token := s.invitation(t)
			test.disturb(t, s, user)
			s.browser(t).post("/auth/reset-password", eveBody(token, newPassword)).want(t, 200, "reset_success")
		})
	}
}

// The mail is not sent to somebody who needs none any more.
func TestInvitationIsNotSent(t *testing.T) {
	for name, before := range map[string]func(ctx context.Context, s *testSite) error{
		"to somebody disabled meanwhile":     func(ctx context.Context, s *testSite) error { return s.admin.SetDisabled(ctx, eveEmail, true) },
		"to somebody who has set a password": func(ctx context.Context, s *testSite) error { return s.admin.SetPassword(ctx, eveEmail, newPassword) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, sqliteStore(t), nil)
			err := s.db.InTx(t.Context(), func(ctx context.Context) error {
				if _, _, err := s.admin.InviteUser(ctx, eveEmail, "Eve", ""); err != nil {
					return err
				}
				return before(ctx, s)
			})
			if err != nil {
				t.Fatal(err)
			}
			s.kickMail(t)
			for end := time.Now().Add(20 * time.Second); len(rows(t, s.db, "vestibule_outbox")) > 0; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("the outbox is not empty; log:\n%s", s.log)
				}
			}
			if n := len(rows(t, s.db, "vestibule_invitations")); n != 0 {
				t.Errorf("%d tokens were made", n)
			}
		})
	}
}

func TestInviteRefusals(t *testing.T) {
	for _, test := range []struct {
		name, email, want string
		change            func(*host.Options)
	}{
		{"an address that is taken", strings.ToUpper(adaEmail), "use `user reset-link` to print a link", nil},
		{"no address", "eve", "write it like ada@example.com", nil},
		{"nobody who would be active", eveEmail, "as auth.active says", func(o *host.Options) {
			o.Auth.Active = func(columns map[string]any, _ time.Time) bool { return columns["email"] != eveEmail }
		}},
		{"where a link would lead nowhere", eveEmail, "the link would lead nowhere", func(o *host.Options) { o.Auth.PasswordOff, o.Auth.PasskeysOff = true, true }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, sqliteStore(t), test.change)
			if _, _, err := s.admin.InviteUser(t.Context(), test.email, "Eve", ""); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("invited: %v, want %q", err, test.want)
			}
			if users, mails := rows(t, s.db, "users"), rows(t, s.db, "vestibule_outbox"); len(users) != 1 || len(mails) != 0 {
				t.Errorf("%d users and %d mails", len(users), len(mails))
			}
		})
	}
}

// Without sign-in by password its endpoints are not there, whoever asks. Without passkeys, too, links are dead.
func TestPasswordSignInOff(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		before := newSite(t, open(), nil)
		before.invite(t, "")
		_, path, token := before.invitation(t)
		link, _, err := before.admin.ResetLink(t.Context(), adaEmail)
		if err != nil {
			t.Fatal(err)
		}
		signedIn := before.signedIn(t)

		s := newSite(t, open(), func(o *host.Options) { o.Auth.PasswordOff, o.Auth.PasskeysOff = true, true })
		signedIn.base = s.URL
		signedIn.get("/dashboard").want(t, 302, "")
		b := s.browser(t)
		for path, body := range map[string]any{
			"/auth/login":           map[string]any{"login": adaEmail, "password": adaPassword},
			"/auth/forgot-password": map[string]any{"email": adaEmail},
			"/auth/reset-password":  eveBody(token, newPassword),
		} {
			for range 7 { // more than any throttle allows
				b.post(path, body).want(t, 404, "password_sign_in_off")
			}
			b.post(path, map[string]any{}).want(t, 404, "password_sign_in_off")
		}
		if got := b.get("/auth/bootstrap").json(t)["password"].(map[string]any)["sign_in"]; got != false {
			t.Errorf("sign_in is %v", got)
		}
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		for _, dead := range []string{path, u.RequestURI()} {
			if got := b.get(dead).Header.Get("Location"); got != "/login#/set-password" {
				t.Errorf("a link leads to %q", got)
			}
		}
		if _, _, err := s.admin.ResetLink(t.Context(), adaEmail); err == nil || !strings.Contains(err.Error(), "the link would lead nowhere") {
			t.Errorf("a link was printed: %v", err)
		}
		counters := rows(t, s.db, "vestibule_counters")
		for _, c := range counters {
			if c["kind"] == "login" || c["kind"] == "reset" {
				t.Errorf("counted: %v", c)
			}
		}
	})
}
