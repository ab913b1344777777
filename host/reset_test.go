package host_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

const newPassword = "a-brand-new-passphrase"

// letters returns the mails sent so far, oldest first, waiting until there are n.
func (s *testSite) letters(t *testing.T, n int) []string {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		names, err := filepath.Glob(filepath.Join(s.mails, "*.eml"))
		if err != nil {
			t.Fatal(err)
		}
		if len(names) < n && time.Now().Before(end) {
			continue
		}
		if len(names) < n {
			t.Fatalf("%d mails, want %d; log:\n%s", len(names), n, s.log)
		}
		slices.Sort(names)
		var out []string
		for _, name := range names {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			// Quoted-printable, as far as links and words need it.
			plain := strings.NewReplacer("=\r\n", "", "=\n", "", "=3D", "=").Replace(string(raw))
			out = append(out, plain)
		}
		return out
	}
}

var linkPattern = regexp.MustCompile(`https?://[^\s"<>]+/password/reset/[^\s"<>]+`)

// link requests a reset and returns the path in the mail, its token, and the
// number of mails then.
func (s *testSite) link(t *testing.T, b *browser, mails int) (path, token string) {
	t.Helper()
	b.post("/auth/forgot-password", map[string]any{"email": adaEmail}).want(t, 200, "reset_link_sent")
	all := s.letters(t, mails)
	found := ""
	for _, m := range all {
		if l := linkPattern.FindString(m); l != "" {
			found = l
		}
	}
	u, err := url.Parse(found)
	if err != nil || found == "" {
		t.Fatalf("no link in %q", all)
	}
	return u.RequestURI(), strings.TrimPrefix(u.Path, "/password/reset/")
}

func resetBody(token, password string) map[string]any {
	return map[string]any{"token": token, "email": adaEmail, "password": password, "password_confirmation": password}
}

func TestReset(t *testing.T) {
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
		signedIn, b := s.browser(t), s.browser(t)
		signedIn.login(adaEmail, adaPassword, true).want(t, 200, "")
		path, token := s.link(t, b, 1)
		for range 2 { // a mail scanner's look consumes nothing
			a := b.get(path)
			want := "/login#/set-password/" + token + "/ada%40example.com"
			if got := a.Header.Get("Location"); a.StatusCode != 302 || got != want || a.Header.Get("Referrer-Policy") != "no-referrer" {
				t.Fatalf("%d to %q, want %q", a.StatusCode, got, want)
			}
		}
		b.post("/auth/reset-password", resetBody(token, "short")).want(t, 422, "password_too_short")
		b.post("/auth/reset-password", resetBody(token, "password1234")).want(t, 422, "password_too_common")
		mismatch := resetBody(token, newPassword)
		mismatch["password_confirmation"] = newPassword + "x"
		b.post("/auth/reset-password", mismatch).want(t, 422, "password_confirmation_mismatch")
		s.clock.Advance(61 * time.Second)
		for _, missing := range []string{"token", "email"} {
			body := resetBody(token, newPassword)
			delete(body, missing)
			b.post("/auth/reset-password", body).want(t, 422, "reset_failed")
		}
		a := b.post("/auth/reset-password", resetBody(token, newPassword), "User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		a.want(t, 200, "reset_success")
		if got := a.json(t)["redirect"]; got != s.URL+"/login" {
			t.Errorf("redirect %v", got)
		}
		if got := a.Cookies(); len(got) != 1 || got[0].Name != "vestibule_known" {
			t.Errorf("a reset sets the cookies %v", got)
		}
		b.get("/auth/intents/current").want(t, 401, "") // nobody is signed in
		s.clock.Advance(2 * time.Minute)
		b.post("/auth/reset-password", resetBody(token, newPassword+"2")).want(t, 422, "reset_failed")
		if got := b.get(path).Header.Get("Location"); got != "/login#/set-password" {
			t.Errorf("a used link leads to %q", got)
		}
		signedIn.get("/auth/intents/current").want(t, 401, "")
		b.login(adaEmail, adaPassword, false).want(t, 422, "credentials_do_not_match")
		b.login(adaEmail, newPassword, false).want(t, 200, "login_success")
		if len(events) != 1 || events[0].UserID != s.user.ID {
			t.Errorf("events %+v, want one", events)
		}
		if all := s.letters(t, 2); linkPattern.MatchString(all[0]) == linkPattern.MatchString(all[1]) {
			t.Errorf("want a link and a notice without one: %q", all)
		} else if notice := all[0] + all[1]; !strings.Contains(notice, "UTC, with Firefox (Linux),") || !strings.Contains(notice, "/login#/forgot-password") {
			t.Errorf("the notice does not say with what, or where to ask for a link: %q", all)
		}
		if log := s.log.String(); strings.Contains(log, token) || strings.Contains(log, newPassword) {
			t.Error("the log holds a secret")
		}
	})
}

func TestOneResetOfMany(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		mails := t.TempDir() // of both: whichever host looks first sends the mail
		many := func(o *host.Options) { o.Auth.ResetAttempts, o.Mail.Dir = 1000, mails }
		sites := []*testSite{newSite(t, open(), many), newSite(t, open(), many)}
		sites[0].mails = mails
		_, token := sites[0].link(t, sites[0].browser(t), 1)
		var mu sync.Mutex
		statuses := map[int]int{}
		var all sync.WaitGroup
		for i := range 16 {
			b := sites[i%2].browser(t)
			all.Go(func() {
				status := b.post("/auth/reset-password", resetBody(token, newPassword)).StatusCode
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

func TestTokenEnds(t *testing.T) {
	tests := []struct {
		name string
		end  func(t *testing.T, s *testSite)
	}{
		{"after its lifetime", func(_ *testing.T, s *testSite) { s.clock.Advance(61 * time.Minute) }},
		{"by a newer one", func(t *testing.T, s *testSite) {
			s.clock.Advance(2 * time.Minute)
			s.link(t, s.browser(t), 2)
		}},
		{"by another password", func(t *testing.T, s *testSite) {
			if err := s.admin.SetPassword(t.Context(), adaEmail, "something-else-entirely"); err != nil {
				t.Fatal(err)
			}
		}},
		{"by another address", func(t *testing.T, s *testSite) {
			err := s.db.Users().SetColumns(t.Context(), s.user.ID, map[string]any{"email": "new@example.com"})
			if err != nil {
				t.Fatal(err)
			}
		}},
		{"by disabling", func(t *testing.T, s *testSite) {
			if err := s.admin.SetDisabled(t.Context(), adaEmail, true); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, sqliteStore(t), nil)
			b := s.browser(t)
			path, token := s.link(t, b, 1)
			test.end(t, s)
			if got := b.get(path).Header.Get("Location"); got != "/login#/set-password" {
				t.Errorf("the link leads to %q", got)
			}
			a := b.post("/auth/reset-password", resetBody(token, newPassword))
			a.want(t, 422, "reset_failed")
			if a.json(t)["errors"].(map[string]any)["email"] == nil {
				t.Errorf("not on email: %s", a.body)
			}
		})
	}
}

// A login with the old hash makes a new one of the same password; the link in the
// mail must survive that.
func TestForgot(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), nil)
		b := s.browser(t)
		bodies := map[string]bool{}
		for _, email := range []string{adaEmail, "nobody@example.com"} {
			a := b.post("/auth/forgot-password", map[string]any{"email": email})
			a.want(t, 200, "reset_link_sent")
			bodies[a.body] = true
		}
		if len(bodies) != 1 {
			t.Errorf("bodies %v", bodies)
		}
		b.post("/auth/forgot-password", map[string]any{"email": strings.ToUpper(adaEmail)}).want(t, 200, "")
		s.letters(t, 1)
		s.clock.Advance(61 * time.Second)
		b.post("/auth/forgot-password", map[string]any{"email": adaEmail}).want(t, 200, "")
		if all := s.letters(t, 2); len(all) != 2 {
			t.Errorf("%d mails, want 2: one resend within the time was to be left out", len(all))
		}
	})
}

func TestForgotRefusals(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) { o.Auth.ResetAttempts = 1000 })
	for body, want := range map[string]string{
		`{}`:                                "422 email",
		`{"email":"ada"}`:                   "422 email",
		`{"email":"Ada <ada@b.example>"}`:   "422 email",
		`{"email":"a@b.example,c@d.e"}`:     "422 email",
		`{"email":"\"a b\"@c.example"}`:     "422 email",
		`{"email":"a@b@c.example"}`:         "422 email",
		`{"email":"a\r\nBcc:x@y.example"}`:  "422 email",
		`{"email":["a@b.example"]}`:         "400 malformed_request",
		`{"email":"a@b.c","email":"d@e.f"}`: "400 malformed_request",
	} {
		a := s.browser(t).do("POST", "/auth/forgot-password", "application/json", body)
		if got := a.Status[:3] + " " + a.json(t)["message"].(string); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

func TestResetThrottle(t *testing.T) {
	for _, email := range []string{adaEmail, "nobody@example.com"} {
		s := newSite(t, sqliteStore(t), nil)
		b := s.browser(t)
		for range 5 {
			b.post("/auth/forgot-password", map[string]any{"email": email}).want(t, 200, "")
		}
		a := b.post("/auth/forgot-password", map[string]any{"email": email})
		a.want(t, 429, "auth_throttle|60|1")
		if a.Header.Get("Retry-After") != "60" {
			t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
		}
		form := resetBody("x", newPassword)
		form["email"] = email
		for range 5 {
			b.post("/auth/reset-password", form).want(t, 422, "reset_failed")
		}
		b.post("/auth/reset-password", form).want(t, 429, "auth_throttle|60|1")
	}
}

// A link in a mail must lead to its screen also in a browser that is signed in.
func TestResetLinkWhileSignedIn(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	path, _ := s.link(t, b, 1)
	b.get(path).want(t, 302, "")
	b.get("/login").want(t, 200, "")
	b.get("/login").want(t, 302, "")
}

func TestMailLanguage(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	s.browser(t).post("/auth/forgot-password", map[string]any{"email": adaEmail}, "Accept-Language", "de-AT").want(t, 200, "")
	if m := s.letters(t, 1)[0]; !strings.Contains(m, "Passwort") {
		t.Errorf("not in German: %s", m)
	}
}

// A dead link leads to the screen that says so, also while signed in, and once.
func TestDeadResetLink(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, s *testSite, path, token string) string{
		"used": func(t *testing.T, s *testSite, path, token string) string {
			s.browser(t).post("/auth/reset-password", resetBody(token, newPassword)).want(t, 200, "reset_success")
			return path
		},
		"expired": func(_ *testing.T, s *testSite, path, _ string) string {
			s.clock.Advance(61 * time.Minute)
			return path
		},
		"replaced": func(t *testing.T, s *testSite, path, _ string) string {
			s.clock.Advance(2 * time.Minute)
			s.link(t, s.browser(t), 2)
			return path
		},
		"without its address": func(_ *testing.T, _ *testSite, path, _ string) string {
			path, _, _ = strings.Cut(path, "?")
			return path
		},
		"cut short": func(_ *testing.T, _ *testSite, _, token string) string {
			return "/password/reset/" + token[:20] + "?email=" + adaEmail
		},
		"made up": func(*testing.T, *testSite, string, string) string { return "/password/reset/x?email=x" },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, sqliteStore(t), nil)
			path, token := s.link(t, s.browser(t), 1)
			path = spoil(t, s, path, token)
			guest, settled := s.browser(t), s.browser(t)
			password := adaPassword
			if name == "used" {
				password = newPassword
			}
			settled.login(adaEmail, password, false).want(t, 200, "login_success")
			for who, b := range map[string]*browser{"guest": guest, "settled": settled} {
				a := b.get(path)
				if got := a.Header.Get("Location"); a.StatusCode != 302 || got != "/login#/set-password" || a.Header.Get("Referrer-Policy") != "no-referrer" || a.body != "" {
					t.Errorf("%s: %d to %q", who, a.StatusCode, got)
				}
				b.get("/login").want(t, 200, "")
			}
			settled.get("/login").want(t, 302, "") // as ever after
		})
	}
}
