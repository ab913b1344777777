package host_test

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// behindProxies starts a site that believes X-Forwarded-For of this machine, so that one
// test can be many clients.
func behindProxies(t *testing.T, db *store.DB) *testSite {
	t.Helper()
	return newSite(t, db, func(o *host.Options) {
		o.Server.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
}

// from signs in from network n, with a browser of its own.
func (s *testSite) from(t *testing.T, n int, login, password string) answer {
	t.Helper()
	return s.browser(t).from(n, login, password)
}

func (b *browser) from(n int, login, password string) answer {
	b.t.Helper()
	return b.post("/auth/login", map[string]any{"login": login, "password": password}, "X-Forwarded-For", fmt.Sprintf("2001:db8:0:%x::1", n))
}

// spell returns a login in one of several spellings that find the same person.
func spell(login string, i int) string {
	return []string{login, strings.ToUpper(login), " " + login, strings.ToUpper(login[:1]) + login[1:] + "  "}[i%4]
}

// guessed sends n wrong passwords for one name, five from each network, in any spelling,
// and returns how many of them were judged.
func (s *testSite) guessed(t *testing.T, login string, n int) (judged int) {
	t.Helper()
	for i := range n {
		a := s.from(t, i/5, spell(login, i), "guess-"+fmt.Sprint(i))
		if a.StatusCode == 422 {
			judged++
			continue
		}
		a.want(t, 429, "password_rests")
	}
	return judged
}

// sqliteUnlessLong skips servers unless LONG is set: hundreds of guesses take hundreds of
// hashes at production cost, whatever database counts them.
func sqliteUnlessLong(t *testing.T) {
	t.Helper()
	if os.Getenv("LONG") == "" && !strings.HasSuffix(t.Name(), "/sqlite") {
		t.Skip("LONG is not set: it takes half a minute (make nightly)")
	}
}

// The 101st of 130 guesses from 26 networks finds that the password rests, whether
// anybody has the name or not, in every spelling. No time ends that.
func TestPasswordRests(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		sqliteUnlessLong(t)
		s := behindProxies(t, open())
		answers := map[string]string{}
		for _, login := range []string{adaEmail, "nobody@example.com"} {
			if n := s.guessed(t, login, 130); n != 100 {
				t.Errorf("%s: %d guesses were judged, want 100", login, n)
			}
			s.clock.Advance(400 * 24 * time.Hour)
			a := s.from(t, 99, login, adaPassword)
			a.want(t, 429, "password_rests")
			h := a.Header.Clone()
			if h.Get("Retry-After") != "" || len(a.Cookies()) > 0 {
				t.Errorf("%s: headers %v", login, h)
			}
			h.Del("Date")
			id := h.Get("X-Request-Id")
			h.Del("X-Request-Id")
			answers[login] = fmt.Sprint(strings.ReplaceAll(a.body, id, ""), h)
			if diff := cmp.Diff(map[string]any{"login": []any{"password_rests"}}, a.json(t)["errors"]); diff != "" {
				t.Error(diff)
			}
		}
		if diff := cmp.Diff(answers[adaEmail], answers["nobody@example.com"]); diff != "" {
			t.Errorf("the answers tell who is known: %s", diff)
		}
		lines := map[string]int{}
		for line := range strings.Lines(s.log.String()) {
			if strings.Contains(line, "event=lockout") {
				lines[line[strings.Index(line, "kind="):]]++
			}
		}
		if len(lines) != 2 {
			t.Errorf("audit lines %v, want one for each name", lines)
		}
		if !strings.Contains(s.log.String(), "a hundred sign-ins of one person failed within a day") {
			t.Error("the operator is not told of the hundred failures of a day")
		}
		if mail := s.letters(t, 1); len(mail) != 1 || !strings.Contains(mail[0], "Many failed attempts to sign in") {
			t.Errorf("%d mails tell the person of the failures: %s", len(mail), mail)
		}
	})
}

// Strangers who guess on and on cannot keep the owner out of a new browser: the one that has
// completed a reset goes on with the new password, whatever they do before it signs in.
func TestResetLetsANewBrowserIn(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		sqliteUnlessLong(t)
		s := behindProxies(t, open())
		s.guessed(t, adaEmail, 100)
		owner := s.browser(t)
		owner.from(100, adaEmail, adaPassword).want(t, 429, "password_rests")
		_, token := s.link(t, s.browser(t), 2)
		failed := owner.post("/auth/reset-password", resetBody("0"+token[1:], newPassword))
		failed.want(t, 422, "reset_failed")
		owner.post("/auth/reset-password", resetBody(token, newPassword)).want(t, 200, "reset_success")
		if a := owner.get("/dashboard"); a.StatusCode == 200 {
			t.Error("a reset signs somebody in")
		}
		s.clock.Advance(61 * time.Second)
		s.guessed(t, adaEmail, 100)
		s.from(t, 101, adaEmail, newPassword).want(t, 429, "password_rests")
		owner.from(100, adaEmail, adaPassword).want(t, 422, "credentials_do_not_match")
		owner.from(100, adaEmail, newPassword).want(t, 200, "login_success")
	})
}

// A browser that has signed in goes on while the password rests, with five attempts of its
// own. Its success does not end the rest for others; a reset does, and so does the operator.
func TestKnownBrowserGoesOn(t *testing.T) {
	ends := map[string]func(t *testing.T, s *testSite) string{
		"a reset": func(t *testing.T, s *testSite) string {
			_, token := s.link(t, s.browser(t), 2)
			s.browser(t).post("/auth/reset-password", resetBody(token, newPassword)).want(t, 200, "reset_success")
			return newPassword
		},
		"the operator": func(t *testing.T, s *testSite) string {
			if _, err := s.admin.ClearCounters(t.Context(), "Ada@example.com"); err != nil {
				t.Fatal(err)
			}
			return adaPassword
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			s := behindProxies(t, sqliteStore(t))
			owner := s.browser(t)
			owner.from(100, adaEmail, adaPassword).want(t, 200, "login_success")
			owner.do("POST", "/logout", "", "").want(t, 303, "")
			s.guessed(t, adaEmail, 100)
			for range 5 { // strangers at the owner's address
				s.from(t, 100, adaEmail, "guess").want(t, 429, "password_rests")
			}
			for range 5 {
				owner.from(100, adaEmail, "typo").want(t, 422, "credentials_do_not_match")
			}
			a := owner.from(101, adaEmail, adaPassword)
			a.want(t, 429, "auth_throttle|60|1")
			s.clock.Advance(61 * time.Second)
			owner.from(100, strings.ToUpper(adaEmail), adaPassword).want(t, 200, "login_success")
			s.from(t, 102, adaEmail, adaPassword).want(t, 429, "password_rests")

			password := end(t, s)
			s.from(t, 103, adaEmail, "guess").want(t, 422, "")
			s.from(t, 103, adaEmail, password).want(t, 200, "login_success")
		})
	}
}
