package host_test

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"golang.org/x/net/websocket"
)

// activePeople keeps out whom the application's columns say to.
func activePeople(o *host.Options) {
	o.Auth.Active = func(columns map[string]any, _ time.Time) bool {
		return columns["deleted_at"] == nil && columns["is_active"] == true
	}
}

// deactivates adds columns to users as frameworks have them, and returns what sets both of
// Ada's.
func deactivates(t *testing.T, db *store.DB) func(deletedAt, isActive string) {
	t.Helper()
	moment, yes := map[string]string{"sqlite": "DATETIME", "postgres": "TIMESTAMP", "mysql": "DATETIME"}[db.Engine()], "BOOLEAN DEFAULT TRUE"
	for _, column := range []string{"deleted_at " + moment, "is_active " + yes} {
		if _, err := db.Writer().ExecContext(t.Context(), "ALTER TABLE users ADD COLUMN "+column); err != nil {
			t.Fatal(err)
		}
	}
	return func(deletedAt, isActive string) {
		t.Helper()
		if _, err := db.Writer().ExecContext(t.Context(), "UPDATE users SET deleted_at = "+deletedAt+", is_active = "+isActive+" WHERE email = '"+adaEmail+"'"); err != nil {
			t.Fatal(err)
		}
	}
}

// A lookup is a place where a person is looked up: prepare returns what works as long as
// the person may sign in.
type lookup struct {
	name    string
	prepare func(t *testing.T, s, forward *testSite) (works func(*testing.T) bool)
}

// lookups are all such places. forward is a site behind a proxy, over the same database.
func lookups() []lookup {
	return append([]lookup{
		{"sign-in", func(_ *testing.T, s, _ *testSite) func(*testing.T) bool {
			return func(t *testing.T) bool { return s.browser(t).login(adaEmail, adaPassword, false).StatusCode == 200 }
		}},
		{"device", func(t *testing.T, s, _ *testSite) func(*testing.T) bool {
			b := s.browser(t)
			b.login(adaEmail, adaPassword, true).want(t, 200, "")
			return func(*testing.T) bool {
				b.forget(sessionName)
				return b.get("/dashboard").Header.Get("Location") == "/dash-page"
			}
		}},
		{"machine token at /odata/", func(t *testing.T, s, _ *testSite) func(*testing.T) bool {
			_, text := s.token(t, adaEmail, host.TokenRequest{})
			return func(t *testing.T) bool {
				return s.program(t, "GET", "/odata/Orders", bearer(text)...).StatusCode == 200
			}
		}},
		{"machine token at a route", func(t *testing.T, s, _ *testSite) func(*testing.T) bool {
			_, text := s.token(t, adaEmail, host.TokenRequest{Route: "app"})
			return func(t *testing.T) bool { return s.program(t, "GET", "/app", bearer(text)...).StatusCode == 200 }
		}},
		{"forward auth", func(t *testing.T, _, forward *testSite) func(*testing.T) bool {
			v := forward.visitor(t).signIn(false)
			return func(*testing.T) bool { return v.verify("", "/page").StatusCode == 200 }
		}},
		{"forward auth by token", func(t *testing.T, s, forward *testSite) func(*testing.T) bool {
			_, text := s.token(t, adaEmail, host.TokenRequest{Route: "verify"})
			return func(t *testing.T) bool {
				return forward.visitor(t).verify("?tokens=true", "/page", bearer(text)...).StatusCode == 200
			}
		}},
		{"reset link", func(t *testing.T, s, _ *testSite) func(*testing.T) bool {
			path, _, err := s.admin.ResetLink(t.Context(), adaEmail)
			if err != nil {
				t.Fatal(err)
			}
			_, path, _ = strings.Cut(path, "/password")
			return func(t *testing.T) bool {
				return strings.Contains(s.browser(t).get("/password"+path).Header.Get("Location"), "/ada")
			}
		}},
		{"own machine tokens", func(t *testing.T, s, _ *testSite) func(*testing.T) bool {
			b := s.signedIn(t)
			return func(*testing.T) bool { return b.get("/auth/tokens").StatusCode == 200 }
		}},
	}, slices.Concat(sessionLookups(), accountLookups(), socketLookups())...)
}

// accountLookups are the places where somebody signs in by a passkey, or changes what they sign in with.
func accountLookups() []lookup {
	return []lookup{
		{"sign-in by passkey", func(t *testing.T, s, _ *testSite) func(*testing.T) bool {
			b, a := s.atLocalhost(t)
			b.login(adaEmail, adaPassword, false).want(t, 200, "")
			b.enrol(a, "Key").want(t, 201, "")
			return func(t *testing.T) bool {
				guest, _ := s.atLocalhost(t)
				return guest.signInByPasskey(t, a).StatusCode == 200
			}
		}},
		{"new passkey", func(t *testing.T, s, _ *testSite) func(*testing.T) bool {
			b, _ := s.atLocalhost(t)
			b.login(adaEmail, adaPassword, false).want(t, 200, "")
			return func(*testing.T) bool {
				return b.post("/auth/account/passkeys/options", map[string]any{}).StatusCode == 200
			}
		}},
		{"confirm", func(t *testing.T, s, _ *testSite) func(*testing.T) bool {
			b := s.signedIn(t)
			return func(*testing.T) bool {
				return b.post("/auth/account/confirm", map[string]any{"password": adaPassword}).StatusCode == 204
			}
		}},
	}
}

// sessionLookups are the places that a session opens.
func sessionLookups() (list []lookup) {
	for name, path := range map[string]string{
		"route": "/dashboard", "proxied route": "/app", "route of guard session": "/reports", "query endpoint": "/odata/Orders", "intents": "/auth/intents/current", "account": "/auth/account",
	} {
		list = append(list, lookup{name, func(t *testing.T, s, _ *testSite) func(*testing.T) bool {
			b := s.signedIn(t)
			return func(*testing.T) bool { return b.get(path, "Accept", "application/json").StatusCode < 400 }
		}})
	}
	return append(list, lookup{"identity on an open route", func(t *testing.T, s, _ *testSite) func(*testing.T) bool {
		b := s.signedIn(t)
		return func(*testing.T) bool { return strings.Contains(b.get("/open").body, adaEmail) }
	}})
}

// socketLookups are the connections that end with what opened them.
func socketLookups() []lookup {
	open := func(t *testing.T, c *websocket.Conn, err error) func(*testing.T) bool {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		received(t, c)
		return func(*testing.T) bool {
			_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
			var text string
			var timeout net.Error
			err := websocket.Message.Receive(c, &text)
			return err == nil || errors.As(err, &timeout) && timeout.Timeout()
		}
	}
	return []lookup{
		{"WebSocket of a session", func(t *testing.T, s, _ *testSite) func(*testing.T) bool {
			c, err := s.signedIn(t).dial("/live/ws", s.URL)
			return open(t, c, err)
		}},
		{"WebSocket of a token", func(t *testing.T, s, _ *testSite) func(*testing.T) bool {
			_, text := s.token(t, adaEmail, host.TokenRequest{Route: "live"})
			c, err := s.browser(t).dial("/live/ws", s.URL, bearer(text)...)
			return open(t, c, err)
		}},
	}
}

// Whom the application deactivates is out at every place where people are looked up, at
// once, and within five seconds of a WebSocket.
func TestDeactivatedPeopleAreOutEverywhere(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		db := open()
		set := deactivates(t, db)
		s := newSite(t, db, func(o *host.Options) {
			withOrders(t, o)
			selfService(o)
			activePeople(o)
			o.Routes = append(o.Routes, host.Route{Name: "live", Path: "/live", Proxy: sockets(t), Tokens: true})
		})
		forward := withForwardAuth(t, open(), func(o *host.Options) {
			activePeople(o)
			o.Server.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		})
		for change, values := range map[string][2]string{"deleted": {"'2026-05-04 11:00:00'", "TRUE"}, "not active": {"NULL", "FALSE"}, "null": {"NULL", "NULL"}} {
			set("NULL", "TRUE")
			ready := map[string]func(*testing.T) bool{}
			for _, l := range lookups() {
				ready[l.name] = l.prepare(t, s, forward)
				if !strings.HasPrefix(l.name, "WebSocket") && !ready[l.name](t) {
					t.Fatalf("%s does not work for one who may sign in", l.name)
				}
			}
			set(values[0], values[1])
			for name, works := range ready {
				if works(t) {
					t.Errorf("%s: %s still works", change, name)
				}
			}
			s.clock.Advance(2 * time.Minute) // and with it the throttle's window
			forward.clock.Advance(2 * time.Minute)
		}
	})
}

// A sign-in is refused alike for a deactivated person and a wrong password, and counts.
func TestDeactivatedSignInLooksLikeAWrongPassword(t *testing.T) {
	db := sqliteStore(t)
	set := deactivates(t, db)
	s := newSite(t, db, activePeople)
	shape := func(password string) string {
		a := s.browser(t).login(adaEmail, password, true)
		body := a.json(t)
		delete(body, "request_id")
		a.Header.Del("X-Request-Id")
		a.Header.Del("Date")
		a.Header.Del("Traceparent")
		return strings.Join([]string{a.Status, a.body[:strings.Index(a.body, "request_id")], strings.Join(sortedHeaders(a), "\n")}, "\n")
	}
	wrong := shape("a-wrong-password-1843")
	set("'2026-05-04 11:00:00'", "TRUE")
	if got := shape(adaPassword); got != wrong {
		t.Errorf("deactivated:\n%s\nwrong password:\n%s", got, wrong)
	}
	for range 3 {
		s.browser(t).login(adaEmail, adaPassword, false).want(t, 422, "credentials_do_not_match")
	}
	s.browser(t).login(adaEmail, adaPassword, false).want(t, 429, "")
	if !strings.Contains(s.log.String(), "inactive=true") {
		t.Error("the audit line does not say why")
	}
}

func sortedHeaders(a answer) (lines []string) {
	for name, values := range a.Header {
		lines = append(lines, name+": "+strings.Join(values, ", "))
	}
	return sorted(lines)
}

// A deactivated person who asks for a link gets the same answer as everybody, and no mail.
// A mail that was asked for before is not sent, and a link that was sent sets no password.
func TestDeactivatedPeopleGetNoResetMail(t *testing.T) {
	db := sqliteStore(t)
	set := deactivates(t, db)
	s := newSite(t, db, activePeople)
	_, token := s.link(t, s.browser(t), 1)
	set("NULL", "FALSE")
	s.browser(t).post("/auth/reset-password", resetBody(token, newPassword)).want(t, 422, "reset_failed")
	s.clock.Advance(10 * time.Minute)
	if err := s.db.Outbox().Queue(t.Context(), outbox.Item{UserID: s.user.ID, Purpose: "password_reset", Locale: "en"}); err != nil {
		t.Fatal(err)
	}
	s.browser(t).post("/auth/forgot-password", map[string]any{"email": adaEmail}).want(t, 200, "reset_link_sent")
	for owed, end := 1, time.Now().Add(20*time.Second); owed > 0; time.Sleep(10 * time.Millisecond) {
		if err := db.Reader().Get(&owed, "SELECT COUNT(*) FROM vestibule_outbox"); err != nil || time.Now().After(end) {
			t.Fatalf("%d mails wait, %v", owed, err)
		}
	}
	set("NULL", "TRUE")
	s.browser(t).post("/auth/reset-password", resetBody(token, newPassword)).want(t, 200, "reset_success")
	for _, mail := range s.letters(t, 2)[1:] {
		if !strings.Contains(mail, "was changed") {
			t.Errorf("sent: %s", mail)
		}
	}
}

// A person who is active again signs in anew: the sessions, devices and machine tokens
// that were used meanwhile have ended.
func TestActiveAgain(t *testing.T) {
	db := sqliteStore(t)
	set := deactivates(t, db)
	s := newSite(t, db, func(o *host.Options) { withOrders(t, o); activePeople(o) })
	b := s.signedIn(t)
	keeping := s.browser(t)
	keeping.login(adaEmail, adaPassword, true).want(t, 200, "")
	device := keeping.cookie(deviceName)
	_, text := s.token(t, adaEmail, host.TokenRequest{})
	tries := map[string]func() answer{
		"session": func() answer { return b.get("/auth/intents/current") },
		"device":  func() answer { return s.browser(t).get("/auth/intents/current", "Cookie", deviceName+"="+device) },
		"token":   func() answer { return s.program(t, "GET", "/odata/Orders", bearer(text)...) },
	}
	for _, active := range []string{"FALSE", "TRUE"} {
		set("NULL", active)
		for name, try := range tries {
			if a := try(); a.StatusCode != 401 {
				t.Errorf("active %s: the %s still opens something: %d %s", active, name, a.StatusCode, a.body)
			}
		}
	}
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	b.get("/auth/intents/current").want(t, 200, "")
}

// What operators do for a deactivated person says so.
func TestOperatorsMeetDeactivatedPeople(t *testing.T) {
	db := sqliteStore(t)
	set := deactivates(t, db)
	s := newSite(t, db, activePeople)
	set("NULL", "FALSE")
	for name, act := range map[string]func() error{
		"reset-link": func() error { _, _, err := s.admin.ResetLink(t.Context(), adaEmail); return err },
		"token add": func() error {
			_, _, err := s.admin.AddToken(t.Context(), adaEmail, host.TokenRequest{Name: "x"})
			return err
		},
	} {
		if err := act(); err == nil || !strings.Contains(err.Error(), "auth.active") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.admin.SetPassword(t.Context(), adaEmail, newPassword); err != nil {
		t.Error(err)
	}
	var state []bool
	if err := s.admin.Users(t.Context(), func(u host.User) error {
		state = append(state, u.Disabled, u.Inactive)
		return nil
	}); err != nil || len(state) != 2 || state[0] || !state[1] {
		t.Errorf("disabled, inactive: %v, %v", state, err)
	}
}

// The user's row is looked at with each session that is loaded only where a condition is
// set.
func TestActiveIsAskedOfColumns(t *testing.T) {
	var asked []map[string]any
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Auth.Active = func(columns map[string]any, now time.Time) bool {
			asked = append(asked, columns)
			return now.Year() == 2026
		}
	})
	asked = nil
	user, err := s.db.Users().FindByID(t.Context(), s.user.ID)
	if err != nil || !user.MaySignIn() || len(asked) != 1 {
		t.Fatalf("%v, %v, asked %d times", user, err, len(asked))
	}
	for _, column := range []string{"id", "email", "name", "email_verified_at"} {
		if _, ok := asked[0][column]; !ok {
			t.Errorf("there is no %s", column)
		}
	}
	for column := range asked[0] {
		if column == "password" || column == "remember_token" {
			t.Errorf("it sees %s", column)
		}
	}
	if all, err := s.db.Users().FindAll(t.Context(), []string{s.user.ID, "999", "no number"}); err != nil || len(all) != 1 || all[0].ID != s.user.ID || !all[0].MaySignIn() {
		t.Errorf("%v, %v", all, err)
	}
}
