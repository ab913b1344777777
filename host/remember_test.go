package host_test

import (
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

const sessionName, deviceName = "vestibule_session", "vestibule_remember"

func TestKeepMeSignedIn(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), nil)
		b := s.browser(t)
		b.login(adaEmail, adaPassword, true).want(t, 200, "")
		first := b.cookie(deviceName)
		s.clock.Advance(25 * time.Hour)
		a := b.get("/dashboard")
		a.want(t, 302, "")
		if got := a.Header.Get("Location"); got != "/dash-page" {
			t.Fatalf("after the session's end the device leads to %q", got)
		}
		second := b.cookie(deviceName)
		if second == first || b.cookie(sessionName) == "" {
			t.Errorf("the verifier was not rotated")
		}
		t.Run("a late tab within the grace gets the same successor", func(t *testing.T) {
			s.clock.Advance(20 * time.Second)
			a := s.browser(t).get("/auth/intents/current", "Cookie", deviceName+"="+first)
			a.want(t, 200, "")
			for _, c := range a.Cookies() {
				if c.Name == deviceName && c.Value != second {
					t.Errorf("another successor")
				}
			}
		})
		t.Run("a replay after the grace ends the device", func(t *testing.T) {
			s.clock.Advance(11 * time.Second)
			s.browser(t).get("/auth/intents/current", "Cookie", deviceName+"="+first).want(t, 401, "")
			b.get("/auth/intents/current").want(t, 401, "")
		})
	})
}

func TestParallelTabsStaySignedIn(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), nil)
		b := s.browser(t)
		b.login(adaEmail, adaPassword, true).want(t, 200, "")
		token := b.cookie(deviceName)
		var mu sync.Mutex
		successors := map[string]bool{}
		var all sync.WaitGroup
		for range 8 {
			tab := s.browser(t)
			all.Go(func() {
				a := tab.get("/auth/intents/current", "Cookie", deviceName+"="+token)
				mu.Lock()
				defer mu.Unlock()
				if a.StatusCode != 200 {
					t.Errorf("a tab was signed out: %d", a.StatusCode)
				}
				for _, c := range a.Cookies() {
					if c.Name == deviceName {
						successors[c.Value] = true
					}
				}
			})
		}
		all.Wait()
		if len(successors) != 1 {
			t.Errorf("%d successors, want one", len(successors))
		}
	})
}

func TestDeviceEnds(t *testing.T) {
	tests := []struct {
		name string
		end  func(t *testing.T, s *testSite, b, other *browser)
		both bool
	}{
		{"logout ends this device only", func(_ *testing.T, _ *testSite, b, _ *browser) {
			b.do("POST", "/logout", "", "")
		}, false},
		{"disabling ends all", func(t *testing.T, s *testSite, _, _ *browser) {
			if err := s.admin.SetDisabled(t.Context(), adaEmail, true); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"another password ends all", func(t *testing.T, s *testSite, _, _ *browser) {
			if err := s.admin.SetPassword(t.Context(), adaEmail, "a-quite-different-one-8"); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"a rotated remember token ends all", func(t *testing.T, s *testSite, _, _ *browser) {
			err := s.db.Users().SetPassword(t.Context(), s.user.ID, s.user.Password, "rotated by the application")
			if err != nil {
				t.Fatal(err)
			}
			s.clock.Advance(25 * time.Hour) // the sessions are over by then
		}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, sqliteStore(t), nil)
			b, other := s.browser(t), s.browser(t)
			b.login(adaEmail, adaPassword, true).want(t, 200, "")
			other.login(adaEmail, adaPassword, true).want(t, 200, "")
			stolen := deviceName + "=" + b.cookie(deviceName)
			test.end(t, s, b, other)
			b.get("/auth/intents/current", "Cookie", stolen).want(t, 401, "")
			want := 200
			if test.both {
				want = 401
			}
			other.get("/auth/intents/current").want(t, want, "")
			other.forget(sessionName)
			other.get("/auth/intents/current").want(t, want, "")
		})
	}
}

func TestDeviceKeepsOpenIntent(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		o := &orgs{}
		s := newSite(t, open(), func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
		b := s.browser(t)
		b.login(adaEmail, adaPassword, true).want(t, 200, "")
		b.forget(sessionName)
		if n := b.get("/auth/intents/current").next(t); n.Kind != "org_setup" {
			t.Fatalf("restored intent %+v", n)
		}
		b.post("/auth/intents/org-setup", orgForm("fail")).want(t, 200, "")
		if o.intents[0] == "" {
			t.Error("the intent lost its id")
		}
	})
}

func TestSessionLimits(t *testing.T) {
	tests := []struct {
		name   string
		visits []time.Duration
		status int
	}{
		{"used before the idle limit", []time.Duration{119 * time.Minute, 119 * time.Minute}, 200},
		{"not used for the idle limit", []time.Duration{121 * time.Minute}, 401},
		{"used to the absolute limit", repeat(100*time.Minute, 14), 200},
		{"used beyond the absolute limit", repeat(100*time.Minute, 15), 401},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, sqliteStore(t), nil)
			b := s.browser(t)
			b.login(adaEmail, adaPassword, false).want(t, 200, "")
			var last int
			for _, d := range test.visits {
				s.clock.Advance(d)
				last = b.get("/auth/intents/current").StatusCode
			}
			if last != test.status {
				t.Errorf("status %d, want %d", last, test.status)
			}
		})
	}
}

func repeat(d time.Duration, n int) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = d
	}
	return out
}
