package host_test

import (
	"sync"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// live returns the sessions and device tokens of the user.
func (s *testSite) live(t *testing.T) (sessions, devices int) {
	t.Helper()
	list, err := s.admin.Sessions(t.Context(), adaEmail, 100)
	if err != nil {
		t.Fatal(err)
	}
	return len(list), len(rows(t, s.db, "vestibule_remember_tokens"))
}

// Somebody whose old password was right a moment ago does not come in after the
// reset, the operator or a deletion has shut the door: the dispenser stands for
// that moment, between comparing the password and starting the session.
func TestSignInDoesNotOutliveAReset(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		shut := map[string]func(t *testing.T, s *testSite){
			"another password": func(t *testing.T, s *testSite) {
				if err := s.admin.SetPassword(t.Context(), adaEmail, newPassword); err != nil {
					t.Error(err)
				}
			},
			"disabled": func(t *testing.T, s *testSite) {
				if err := s.admin.SetDisabled(t.Context(), adaEmail, true); err != nil {
					t.Error(err)
				}
			},
			"deleted": func(t *testing.T, s *testSite) {
				if _, err := s.db.Writer().Exec("DELETE FROM users"); err != nil {
					t.Error(err)
				}
			},
		}
		for name, door := range shut {
			t.Run(name, func(t *testing.T) {
				db := open()
				if _, err := db.Writer().Exec("DELETE FROM users"); err != nil {
					t.Fatal(err)
				}
				o := &orgs{}
				s := newSite(t, db, func(opts *host.Options) { opts.Dispenser = o })
				var once sync.Once
				o.dispense = func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
					once.Do(func() { door(t, s) })
					return pluginsdk.Done(), nil
				}
				a := s.browser(t).login(adaEmail, adaPassword, true)
				a.want(t, 422, "credentials_do_not_match")
				if len(a.Cookies()) != 0 || len(rows(t, db, "vestibule_sessions")) != 0 || len(rows(t, db, "vestibule_remember_tokens")) != 0 {
					t.Errorf("cookies %v, sessions %v", a.Cookies(), rows(t, db, "vestibule_sessions"))
				}
			})
		}
	})
}

// A hash that another sign-in renewed in the meantime is no reason to refuse.
func TestParallelRehashKeepsBothSignedIn(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), func(o *host.Options) { o.Auth.PasswordHash = password.Argon2id })
		old := bcryptOf(t, adaPassword, "$2y$")
		if _, err := s.db.Writer().Exec("UPDATE users SET password = '" + old + "'"); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 4 {
			b := s.browser(t)
			all.Go(func() { b.login(adaEmail, adaPassword, true).want(t, 200, "login_success") })
		}
		all.Wait()
		if sessions, devices := s.live(t); sessions != 4 || devices != 4 {
			t.Errorf("%d sessions and %d devices, want four of each", sessions, devices)
		}
	})
}

// Device tokens that are being used while the password changes open nothing
// afterwards: whatever session a tab got is ended with the others.
func TestRevivalDoesNotOutliveAReset(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), nil)
		passwords := []string{newPassword, adaPassword}
		for round := range 6 {
			b := s.browser(t)
			b.login(adaEmail, passwords[(round+1)%2], true).want(t, 200, "")
			token := deviceName + "=" + b.cookie(deviceName)
			var all sync.WaitGroup
			for range 4 {
				tab := s.browser(t)
				all.Go(func() { tab.get("/auth/intents/current", "Cookie", token) })
			}
			all.Go(func() {
				if err := s.admin.SetPassword(t.Context(), adaEmail, passwords[round%2]); err != nil {
					t.Error(err)
				}
			})
			all.Wait()
			if sessions, devices := s.live(t); sessions != 0 || devices != 0 {
				t.Fatalf("round %d: %d sessions and %d devices outlived the change", round, sessions, devices)
			}
		}
	})
}

// Tabs of a guest that open guarded pages at the same time all reach the login,
// and one of the pages is kept; nothing fails and nothing else is lost.
func TestParallelGuardedVisits(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), func(o *host.Options) {
			o.Routes = append(o.Routes, host.Route{Name: "files", Path: "/files", Dir: t.TempDir()})
		})
		b := s.browser(t)
		b.get("/dashboard").want(t, 302, "")
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				a := b.get("/files/" + string(rune('a'+i)))
				if a.StatusCode != 302 || a.Header.Get("Location") != "/login" {
					t.Errorf("%d to %q", a.StatusCode, a.Header.Get("Location"))
				}
			})
		}
		all.Wait()
		if n := b.login(adaEmail, adaPassword, false).next(t); len(n.Target()) != len("/files/a") {
			t.Errorf("target %q, want one of the pages", n.Target())
		}
		if n := len(rows(t, s.db, "vestibule_sessions")); n != 1 {
			t.Errorf("%d sessions, want one", n)
		}
	})
}

// A request that was on its way while the person signed out brings nothing back.
func TestLateSaveOverHTTP(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		o := &orgs{}
		s := newSite(t, open(), func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
		b := s.browser(t)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		session := sessionName + "=" + b.cookie(sessionName)
		// The step's dispense happens while the session is ended elsewhere.
		o.dispense = func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
			b.do("POST", "/logout", "", "").want(t, 303, "")
			return pluginsdk.Done(), nil
		}
		a := s.browser(t).post("/auth/intents/org-setup", orgForm("Engines"), "Cookie", session)
		a.want(t, 409, "intent_not_current")
		for _, c := range a.Cookies() {
			if c.Name == sessionName && c.MaxAge >= 0 {
				t.Errorf("cookie %v", c)
			}
		}
		s.browser(t).get("/auth/intents/current", "Cookie", session).want(t, 401, "unauthenticated")
		if n := len(rows(t, s.db, "vestibule_sessions")); n != 0 {
			t.Errorf("%d sessions, want none", n)
		}
	})
}
