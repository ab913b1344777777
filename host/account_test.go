package host_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

const (
	firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:141.0) Gecko/20100101 Firefox/141.0"
	safari  = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1"
)

// withBob lets a second person sign in with Ada's password.
func (s *testSite) withBob(t *testing.T) {
	t.Helper()
	if _, err := s.db.AddUser(t.Context(), bobEmail, "Bob", weakHash()); err != nil {
		t.Fatal(err)
	}
}

// account returns what a browser sees of the account.
func (b *browser) account(t *testing.T) map[string]any {
	t.Helper()
	a := b.get("/auth/account")
	a.want(t, 200, "")
	return a.json(t)
}

// ids returns the ids in a list of the account, in its order.
func ids(account map[string]any, list string) (found []string) {
	for _, one := range account[list].([]any) {
		found = append(found, one.(map[string]any)["id"].(string))
	}
	return found
}

// A person sees who they are, what they sign in with and where they are signed in, and
// nothing of anybody else, nor what opens anything.
func TestAccount(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), func(o *host.Options) { o.Auth.OwnTokens = true })
		s.withBob(t)
		phone, bob := s.browser(t), s.browser(t)
		phone.post("/auth/login", map[string]any{"login": adaEmail, "password": adaPassword, "remember": true}, "User-Agent", safari).want(t, 200, "")
		bob.login(bobEmail, adaPassword, true).want(t, 200, "")
		s.clock.Advance(90 * time.Second)
		b := s.browser(t)
		b.post("/auth/login", map[string]any{"login": adaEmail, "password": adaPassword}, "User-Agent", firefox).want(t, 200, "")
		s.clock.Advance(30 * time.Second)
		a := b.get("/auth/account", "User-Agent", "curl/8")
		if a.StatusCode != 200 || a.Header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %v %s", a.StatusCode, a.Header, a.body)
		}
		got := a.json(t)
		sessions, devices := ids(got, "sessions"), ids(got, "devices")
		if len(sessions) != 2 || len(devices) != 1 {
			t.Fatalf("%d sessions, %d devices: %s", len(sessions), len(devices), a.body)
		}
		want := map[string]any{
			"user":   map[string]any{"id": s.user.ID, "name": "Ada", "email": adaEmail},
			"recent": 570.0, "password": true, "tokens": true,
			"passkeys": []any{}, "identities": []any{}, "steps": []any{},
			"devices": []any{map[string]any{
				"id": devices[0], "created": "2026-05-04T12:00:00Z", "last_used": "2026-05-04T12:00:00Z", "browser": "Safari (iPhone)",
			}},
			"sessions": []any{
				map[string]any{"id": sessions[0], "created": "2026-05-04T12:01:30Z", "last_seen": "2026-05-04T12:01:30Z", "current": true, "browser": "Firefox (Linux)"},
				map[string]any{"id": sessions[1], "created": "2026-05-04T12:00:00Z", "last_seen": "2026-05-04T12:00:00Z", "current": false, "browser": "Safari (iPhone)"},
			},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		for _, secret := range []string{phone.cookie(sessionName), phone.cookie(deviceName)[:21], b.cookie(sessionName)} {
			if strings.Contains(a.body, secret) {
				t.Errorf("%q in %s", secret, a.body)
			}
		}
	})
}

// The seconds of recent end with auth.recent, and a resumed device has none.
func TestAccountSaysHowRecentTheSessionIs(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) { o.Auth.Recent = 5 * time.Minute })
	b := s.browser(t)
	b.login(adaEmail, adaPassword, true).want(t, 200, "")
	for _, step := range []struct {
		after time.Duration
		left  float64
	}{{0, 300}, {299 * time.Second, 1}, {time.Second, 0}, {time.Second, 0}, {-7 * time.Minute, 300}} {
		s.clock.Advance(step.after)
		if got := b.account(t)["recent"]; got != step.left {
			t.Errorf("%s later: %v, want %v", step.after, got, step.left)
		}
	}
	s.clock.Advance(time.Minute)
	b.forget(sessionName)
	if got := b.account(t)["recent"]; got != 0.0 {
		t.Errorf("a device that came back: %v", got)
	}
}

// What no hash is counts as no password, and what is absent is null.
func TestAccountOfSomebodyWithoutPassword(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	for _, stored := range []string{"!", "", "$2y$99$x"} {
		if _, err := s.db.Writer().Exec(`UPDATE users SET password = ?, name = ''`, stored); err != nil {
			t.Fatal(err)
		}
		got := b.account(t)
		if got["password"] != false || got["user"].(map[string]any)["name"] != nil {
			t.Errorf("%q: %v", stored, got)
		}
	}
}

// A person ends a session with the device that would begin it again, and a device with
// its sessions; those of others are not found.
func TestEndOwnSessionsAndDevices(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), nil)
		s.withBob(t)
		b, phone, tablet, bob := s.browser(t), s.browser(t), s.browser(t), s.browser(t)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		s.clock.Advance(time.Second)
		phone.login(adaEmail, adaPassword, true).want(t, 200, "")
		s.clock.Advance(time.Second)
		tablet.login(adaEmail, adaPassword, true).want(t, 200, "")
		bob.login(bobEmail, adaPassword, true).want(t, 200, "")
		before := b.account(t)
		sessions, devices := ids(before, "sessions"), ids(before, "devices")
		if len(sessions) != 3 || len(devices) != 2 {
			t.Fatal(before)
		}
		for _, path := range []string{"sessions/" + sessions[1], "devices/" + devices[0], "sessions/x", "devices/%ff", "sessions/" + devices[0], "devices/" + sessions[0]} {
			bob.delete("/auth/account/"+path).want(t, 404, "not_found")
		}
		if a := b.delete("/auth/account/sessions/" + sessions[1]); a.StatusCode != 204 || a.body != "" || a.Header.Get("Cache-Control") != "no-store" || len(a.Cookies()) != 0 {
			t.Errorf("%d %v %s", a.StatusCode, a.Header, a.body)
		}
		b.delete("/auth/account/sessions/"+sessions[1]).want(t, 404, "not_found")
		phone.get("/auth/account").want(t, 401, "unauthenticated") // nor does its device bring it back
		tablet.forget(sessionName)
		tablet.account(t) // a second session of the device
		if a := b.delete("/auth/account/devices/" + devices[0]); a.StatusCode != 204 {
			t.Errorf("%d %s", a.StatusCode, a.body)
		}
		b.delete("/auth/account/devices/"+devices[0]).want(t, 404, "not_found")
		tablet.get("/auth/account").want(t, 401, "unauthenticated")
		after := b.account(t)
		if len(ids(after, "sessions")) != 1 || len(ids(after, "devices")) != 0 {
			t.Errorf("left over: %v", after)
		}
		bob.account(t)
		log := s.log.String()
		if strings.Count(log, "audit: event=session_end") != 1 || strings.Count(log, "audit: event=device_end") != 1 {
			t.Error("the log lacks the audit lines")
		}
	})
}

// Whoever ends the session, or the device, that they ask with is signed out.
func TestEndTheOwnSession(t *testing.T) {
	for _, list := range []string{"sessions", "devices"} {
		s := newSite(t, sqliteStore(t), nil)
		b := s.browser(t)
		b.login(adaEmail, adaPassword, true).want(t, 200, "")
		if a := b.delete("/auth/account/" + list + "/" + ids(b.account(t), list)[0]); a.StatusCode != 204 {
			t.Errorf("%d %s", a.StatusCode, a.body)
		}
		if b.cookie(sessionName) != "" || b.cookie(deviceName) != "" {
			t.Errorf("%s: the browser keeps its cookies", list)
		}
		b.get("/auth/account").want(t, 401, "unauthenticated")
	}
}

// What the endpoints of the account refuse: guests, people with an open step, other
// sites, other methods, and programs.
func TestAccountRefusals(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) { o.Dispenser = effects{} })
	guest, b := s.browser(t), s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	for _, one := range accountEndpoints() {
		a := guest.do(one.method, one.path, "application/json", one.body)
		a.want(t, 401, "unauthenticated")
		a = b.do(one.method, one.path, "application/json", one.body)
		a.want(t, http.StatusForbidden, "unsettled")
		if kind := a.next(t).Kind; kind != pluginsdk.OrgSetup("").Kind() {
			t.Errorf("%s: next %q", one.path, kind)
		}
		if one.method != "GET" {
			for _, header := range [][]string{{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}} {
				b.do(one.method, one.path, "application/json", one.body, header...).want(t, 403, "cross_origin")
			}
		}
		if a := b.do("PUT", one.path, "", ""); a.StatusCode != 405 {
			t.Errorf("PUT %s: %d", one.path, a.StatusCode)
		}
	}
}

type accountEndpoint struct{ method, path, body string }

func accountEndpoints() []accountEndpoint {
	return []accountEndpoint{
		{"GET", "/auth/account", ""},
		{"POST", "/auth/account/confirm", `{}`},
		{"POST", "/auth/account/password", `{}`},
		{"DELETE", "/auth/account/sessions/x", ""},
		{"DELETE", "/auth/account/devices/x", ""},
	}
}

// The account screen is for people who are settled, and never redirects. Others sign in
// first and come back to it.
func TestAccountScreen(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	b := s.browser(t)
	navigation := []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	led := func(path, to string) {
		t.Helper()
		if a := b.get(path, navigation...); a.StatusCode != 302 || a.Header.Get("Location") != to || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d to %q, %q", path, a.StatusCode, a.Header.Get("Location"), a.Header.Get("Cache-Control"))
		}
	}
	led("/.well-known/change-password", "/login?account")
	led("/login?account&lang=de", "/login")
	if a := b.get("/login"); a.StatusCode != 200 || !strings.Contains(a.body, `lang="de"`) {
		t.Errorf("the sign-in page: %d %s", a.StatusCode, a.body)
	}
	if to := b.login(adaEmail, adaPassword, false).next(t).Target(); to != "/login?account&lang=de" {
		t.Errorf("leads to %q", to)
	}
	for range 4 { // the fourth time, too
		a := b.get("/login?account", navigation...)
		if a.StatusCode != 200 || a.Header.Get("Cache-Control") != "no-store" || !strings.Contains(a.body, `"next":null`) || !strings.Contains(a.body, `"session":"settled"`) {
			t.Fatalf("%d %s", a.StatusCode, a.body)
		}
	}
	b.get("/login?account=1&redirect=/dashboard").want(t, 200, "")
	other := s.browser(t)
	other.login(adaEmail, adaPassword, false).want(t, 200, "")
	other.get("/login?account", navigation...).want(t, 200, "")
	if a := other.get("/login", navigation...); !strings.Contains(a.body, `"target":"/dash`) {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	led("/.well-known/change-password", "/login?account")
	if a := b.get("/login?redirect=/login%3Faccount"); a.Header.Get("Location") != "/login?account" {
		t.Errorf("%d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	for _, own := range []string{"/login", "/login?redirect=/login%3Faccount", "/logout?account", "/login/?account", "//login?account"} {
		if a := s.browser(t).get("/login?redirect=" + own); strings.Contains(strings.Join(a.Header.Values("Set-Cookie"), " "), "vestibule_guest") {
			t.Errorf("%s is kept", own)
		}
	}
}

// Whoever has a step open, is held, or comes back by a device is led to /login, and from
// there, after the last step, to the account.
func TestAccountScreenAfterTheLastStep(t *testing.T) {
	o := &orgs{}
	s := newSite(t, sqliteStore(t), func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
	b := s.browser(t)
	b.login(adaEmail, adaPassword, true).want(t, 200, "")
	if a := b.get("/login?account"); a.StatusCode != 302 || a.Header.Get("Location") != "/login" {
		t.Fatalf("%d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	if to := b.post("/auth/intents/org-setup", orgForm("Engines")).next(t).Target(); to != "/login?account" {
		t.Errorf("leads to %q", to)
	}
	b.get("/login?account").want(t, 200, "")
	b.forget(sessionName)
	if a := b.get("/login?account"); a.StatusCode != 302 || a.Header.Get("Location") != "/login?redirect=%2Flogin%3Faccount" {
		t.Errorf("a device: %d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	if a := b.get("/login?redirect=%2Flogin%3Faccount"); a.Header.Get("Location") != "/login?account" {
		t.Errorf("a device: %d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	b.get("/login?account").want(t, 200, "")
}
