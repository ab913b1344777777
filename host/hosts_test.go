package host_test

import (
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// on sends the browser to another host, with the cookies that it has.
func (b *browser) on(other *testSite) *browser {
	moved := other.browser(b.t)
	for _, name := range []string{sessionName, deviceName, "vestibule_guest"} {
		if value := b.cookie(name); value != "" {
			moved.setCookie(name, value)
		}
	}
	return moved
}

// Two hosts on one database are one: a person signs in on one and goes on at the
// other, a device is known on both, and what ends on one has ended.
func TestTwoHosts(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		one := newSite(t, open(), nil)
		two := newSite(t, open(), func(o *host.Options) { o.Now = one.clock.Now })
		b := one.browser(t)
		b.get("/dashboard?from=one").want(t, 302, "")
		b = b.on(two)
		if got := b.login(adaEmail, adaPassword, true).next(t).Target(); got != "/dashboard?from=one" {
			t.Errorf("the page asked for at one host is %q at the other", got)
		}
		b = b.on(one)
		b.get("/auth/intents/current").want(t, 200, "")
		one.clock.Advance(25 * time.Hour)
		b = b.on(two) // the session is over, the device is not
		b.get("/auth/intents/current").want(t, 200, "")

		for i := range 5 {
			[]*testSite{one, two}[i%2].browser(t).login(adaEmail, "wrong", false).want(t, 422, "")
		}
		one.browser(t).login(adaEmail, adaPassword, false).want(t, 429, "")
		two.browser(t).login(adaEmail, adaPassword, false).want(t, 429, "")

		// Either host may take the mail from the outbox.
		one.browser(t).post("/auth/forgot-password", map[string]any{"email": adaEmail}).want(t, 200, "")
		token := ""
		for end := time.Now().Add(20 * time.Second); token == "" && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			for _, s := range []*testSite{one, two} {
				if all := s.letters(t, 0); len(all) > 0 {
					token = tokenIn(all[0])
				}
			}
		}
		two.browser(t).post("/auth/reset-password", resetBody(token, newPassword)).want(t, 200, "reset_success")
		one.browser(t).post("/auth/reset-password", resetBody(token, newPassword)).want(t, 422, "reset_failed")
		b.on(one).get("/auth/intents/current").want(t, 401, "")
		b.on(two).get("/auth/intents/current").want(t, 401, "")
		one.clock.Advance(2 * time.Minute)
		one.browser(t).login(adaEmail, newPassword, false).want(t, 200, "")
	})
}

// Each of two hosts over one store keeps its own rules.
func TestTwoHostsOverOneStore(t *testing.T) {
	db := sqliteStore(t)
	closed := newSite(t, db, func(o *host.Options) {
		o.Auth.Active = func(map[string]any, time.Time) bool { return false }
	})
	newSite(t, db, nil).browser(t).login(adaEmail, adaPassword, false).want(t, 200, "")
	closed.browser(t).login(adaEmail, adaPassword, false).want(t, 422, "")
}

// A device token of a deleted user opens no session, and the session of a
// person whom the application deleted does not last.
func TestDeletedPerson(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), nil)
		b, other := s.browser(t), s.browser(t)
		b.login(adaEmail, adaPassword, true).want(t, 200, "")
		other.login(adaEmail, adaPassword, false).want(t, 200, "")
		if _, err := s.db.Writer().Exec("DELETE FROM users"); err != nil {
			t.Fatal(err)
		}
		b.forget(sessionName)
		b.get("/auth/intents/current").want(t, 401, "unauthenticated")
		if b.cookie(deviceName) != "" {
			t.Error("the browser keeps a token that is good for nothing")
		}
		b.get("/dashboard").want(t, 302, "")
		s.clock.Advance(5 * time.Minute) // a session is looked at again when it is touched
		other.get("/auth/intents/current").want(t, 401, "unauthenticated")
	})
}
