package host_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Two sessions of one device take a step at the same time: what the one that was asked
// about earlier is told does not undo what the other has led to. It is asked anew.
func TestOlderStepDoesNotUndoTheNewer(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		g := &gate{}
		db := open()
		s := withGate(t, db, g, nil)
		one, other := s.browser(t), s.browser(t)
		one.login(adaEmail, adaPassword, true).want(t, 200, "")
		other.setCookie("vestibule_remember", one.cookie("vestibule_remember"))
		other.get("/app/orders").isTurnedAway(t, "the device's other session")

		looking, goOn := make(chan struct{}), make(chan struct{})
		var begun atomic.Bool
		g.mu.Lock()
		g.answer = func(_ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
			who, _ := r.Form.Text("who")
			text := who + " asked"
			if begun.CompareAndSwap(false, true) {
				close(looking)
				<-goOn
				text = "stale"
			}
			return pluginsdk.Redirect("/app/terms").Hold().With(pluginsdk.SetSession("last", text)), nil
		}
		g.mu.Unlock()
		var all sync.WaitGroup
		all.Go(func() { one.post("/auth/intents/redirect", map[string]any{"who": "one"}).want(t, 200, "") })
		<-looking
		other.post("/auth/intents/redirect", map[string]any{"who": "other"}).want(t, 200, "")
		close(goOn)
		all.Wait()
		var values []byte
		if err := db.Reader().Get(&values, "SELECT session_values FROM vestibule_remember_tokens"); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(values), "one asked") {
			t.Errorf("the device keeps %s, want what the later answer says", values)
		}
	})
}

// Of two sessions of one device one takes a step after the other has: it is asked with
// what that has led to, and does not undo it.
func TestLaterStepKnowsTheOtherSessions(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		g := &gate{}
		db := open()
		s := withGate(t, db, g, nil)
		one, other := s.browser(t), s.browser(t)
		one.login(adaEmail, adaPassword, true).want(t, 200, "")
		other.setCookie("vestibule_remember", one.cookie("vestibule_remember"))
		other.get("/app/orders").isTurnedAway(t, "the device's other session")

		g.mu.Lock()
		g.answer = func(_ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
			who, _ := r.Form.Text("who")
			told, _ := r.Session.Text("last")
			if who == "one" {
				return pluginsdk.Done().With(pluginsdk.SetSession("last", "one")), nil
			}
			return pluginsdk.Redirect("/app/terms").Hold().With(pluginsdk.SetSession("seen", "other was told "+told)), nil
		}
		g.mu.Unlock()
		one.post("/auth/intents/redirect", map[string]any{"who": "one"}).want(t, 200, "")
		other.post("/auth/intents/redirect", map[string]any{"who": "other"}).want(t, 200, "")
		var values []byte
		if err := db.Reader().Get(&values, "SELECT session_values FROM vestibule_remember_tokens"); err != nil {
			t.Fatal(err)
		}
		for _, kept := range []string{`"last":{"s":"one"}`, `"seen":{"s":"other was told one"}`} {
			if !strings.Contains(string(values), kept) {
				t.Errorf("the device keeps %s, want %s in it", values, kept)
			}
		}
	})
}

// A device that comes back held leads, once its step is done, where the person meant to
// go when they signed in; what is kept for that is checked like any such address.
func TestHeldDeviceKeepsIntendedURL(t *testing.T) {
	for name, tt := range map[string]struct{ stored, asked, want string }{
		"as kept":           {"/app/orders?id=7", "/app/terms", "/app/orders?id=7"},
		"the first stays":   {"/app/orders?id=7", "/app/invoices", "/app/orders?id=7"},
		"another origin":    {"//evil.example/?id=7", "/app/terms", "/dashboard"},
		"the sign-in's own": {"/login?id=7", "/app/terms", "/dashboard"},
	} {
		t.Run(name, func(t *testing.T) {
			g := &gate{}
			db := sqliteStore(t)
			s := withGate(t, db, g, nil)
			b := s.browser(t)
			b.get("/app/orders?id=7").isTurnedAway(t, "a guest")
			b.login(adaEmail, adaPassword, true).want(t, 200, "")
			b.forget(sessionName)
			_, err := db.Writer().Exec(`UPDATE vestibule_remember_tokens SET intent = CAST(REPLACE(CAST(intent AS TEXT), '/app/orders?id=7', ?) AS BLOB)`, tt.stored)
			if err != nil {
				t.Fatal(err)
			}
			b.get(tt.asked)
			a := b.post("/auth/intents/redirect", map[string]any{"code": "4711"})
			if n := a.next(t); n.Target() != tt.want {
				t.Errorf("the step leads to %q, want %q: %s", n.Target(), tt.want, a.body)
			}
		})
	}
}
