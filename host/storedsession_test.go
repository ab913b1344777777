package host_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/session"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// values returns what sign-in keeps in the browser's session, by the names that it is
// stored under. With other it stores these instead, as another release would.
func (s *testSite) values(t *testing.T, b *browser, other map[string]any) map[string]any {
	t.Helper()
	sessions := session.New(s.db.Sessions(), session.Options{Now: s.clock.Now})
	r := httptest.NewRequest("GET", "/", nil)
	r.AddCookie(&http.Cookie{Name: sessionName, Value: b.cookie(sessionName)})
	stored, err := sessions.Get(r, sessionName)
	if err != nil || stored.IsNew {
		t.Fatalf("the browser has no session: %v", err)
	}
	kept := map[string]any{}
	for k, v := range stored.Values {
		if name, ok := k.(string); ok {
			kept[name] = v
		}
	}
	if other != nil {
		clear(stored.Values)
		for name, v := range other {
			stored.Values[name] = v
		}
		if err := sessions.Save(r, httptest.NewRecorder(), stored); err != nil {
			t.Fatal(err)
		}
	}
	return kept
}

// mark writes the columns of the only session, as another release leaves them.
func (s *testSite) mark(t *testing.T, state, format any) {
	t.Helper()
	w := s.db.Writer()
	if _, err := w.Exec(w.Rebind(`UPDATE vestibule_sessions SET state = ?, format = ?, version = version + 1`), state, format); err != nil {
		t.Fatal(err)
	}
}

// isAskedToResume fails unless a guard sends the person to the sign-in, and back afterwards.
func (a answer) isAskedToResume(t *testing.T) {
	t.Helper()
	if got := a.Header.Get("Location"); a.StatusCode != 302 || got != "/login?redirect=%2Fdashboard" {
		t.Errorf("the guard answers %d to %q, want 302 to the sign-in", a.StatusCode, got)
	}
}

// A session is settled only where its columns and its values say so, in a format that this
// release knows. Any other state is asked about again: that of a release before, which
// has no columns for it, that of a newer one, and one that nobody knows.
func TestUnknownStateIsUnsettled(t *testing.T) {
	tests := []struct {
		name          string
		state, format any
		values        map[string]any
	}{
		{"settled by the release before", nil, nil, map[string]any{"auth.target": "/dashboard"}},
		{"an open step of cd3c692", nil, nil, map[string]any{
			"auth.intent.id": "f00", "auth.intent.kind": "org_setup", "auth.intent.detail": "Ada", "auth.intent.round": int64(0),
		}},
		{"settled by cd3c692", nil, nil, map[string]any{
			"auth.intent.id": "f00", "auth.intent.kind": "redirect", "auth.intent.detail": "/dashboard", "auth.intent.round": int64(0),
		}},
		{"cd3c692 opened a step of a settled one", "settled", 1, map[string]any{
			"auth.intent.id": "f00", "auth.intent.kind": "org_setup", "auth.intent.detail": "Ada", "auth.intent.round": int64(0),
		}},
		{"the release before settled an open one", "open", 1, map[string]any{"auth.target": "/dashboard"}},
		{"the release before opened a step of a settled one", "settled", 1, map[string]any{"auth.unasked": true}},
		{"a newer format", "settled", 2, map[string]any{"auth.target": "/dashboard"}},
		{"an unknown state", "half", 1, map[string]any{"auth.target": "/dashboard"}},
		{"a state without a format", "settled", nil, map[string]any{"auth.target": "/dashboard"}},
		{"a format without a state", nil, 1, map[string]any{"auth.target": "/dashboard"}},
		{"an intent of a kind that nobody knows", "open", 1, map[string]any{"auth.intent": `{"id":"1","envelope":{"kind":"survey","version":"1"}}`}},
		{"an intent that is no text", "settled", 1, map[string]any{"auth.intent": int64(1)}},
		{"an ended intent among the open ones", "settled", 1, map[string]any{
			"auth.intent": `{"id":"1","envelope":{"kind":"redirect","version":"1","payload":{"target":"/dashboard"}}}`,
		}},
	}
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		o := &orgs{dispense: func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) { return pluginsdk.Done(), nil }}
		s := newSite(t, open(), func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
		b := s.browser(t)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		settled := s.values(t, b, nil)
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				s.values(t, b, map[string]any{})
				s.mark(t, "settled", 1)
				if a := b.get("/dashboard"); a.Header.Get("Location") != "/dash-page" {
					t.Fatalf("a settled session is led to %q", a.Header.Get("Location"))
				}
				values := maps.Clone(settled)
				delete(values, "auth.target")
				maps.Copy(values, test.values)
				values["plugin.orgs/name"], values["cart"] = "Engines", "of Ada"
				s.values(t, b, values)
				s.mark(t, test.state, test.format)
				asked := len(o.requests)
				b.get("/dashboard").isAskedToResume(t)
				if n := len(o.requests); n != asked {
					t.Fatalf("a guard asked the dispenser")
				}
				s.clock.Advance(11 * time.Second) // or the third time to one target is a circle
				b.get("/login").want(t, 302, "")
				if n := len(o.requests); n != asked+1 {
					t.Errorf("the dispenser was asked %d times, want once", n-asked)
				}
				if a := b.get("/dashboard"); a.Header.Get("Location") != "/dash-page" {
					t.Errorf("asked about again, the session is led to %q", a.Header.Get("Location"))
				}
				now := s.values(t, b, nil)
				if now["plugin.orgs/name"] != "Engines" || now["cart"] != "of Ada" || now["auth.intent.id"] != nil {
					t.Errorf("the session keeps %v", now)
				}
			})
		}
	})
}

// settledBefore are what the releases before take for settled, by their own reading of the
// values that they share with this one.
func settledBefore() map[string]func(values map[string]any) bool {
	return map[string]func(map[string]any) bool{
		"6ba2621": func(v map[string]any) bool { return v["auth.intent"] == nil && v["auth.unasked"] != true },
		"cd3c692": func(v map[string]any) bool {
			_, open := v["auth.intent.id"].(string)
			return !open || v["auth.intent.kind"] == "redirect"
		},
	}
}

// The releases before do not take for settled what this one writes of a session that is
// not: one with an open step, one that is held, and one that nobody was asked about.
func TestReleasesBeforeFindTheStepOpen(t *testing.T) {
	tests := []struct {
		name    string
		answer  pluginsdk.Intent
		device  bool
		state   string
		settled bool
	}{
		{"open", pluginsdk.OrgSetup("Ada"), false, "open", false},
		{"held", pluginsdk.Redirect("/terms").Hold("/assets"), false, "held", false},
		{"not asked about", pluginsdk.Done(), true, "open", false},
		{"settled", pluginsdk.Done(), false, "settled", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := &orgs{dispense: func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) { return test.answer, nil }}
			s := newSite(t, sqliteStore(t), func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
			b := s.browser(t)
			b.login(adaEmail, adaPassword, test.device).want(t, 200, "")
			if test.device {
				s.clock.Advance(25 * time.Hour)
				b.get("/auth/intents/current").want(t, 200, "") // begins a session by the device
			}
			values := s.values(t, b, nil)
			for release, settled := range settledBefore() {
				if got := settled(values); got != test.settled {
					t.Errorf("%s takes it for settled: %v, want %v; the values are %v", release, got, test.settled, values)
				}
			}
			var row struct {
				State  string
				Format int64
			}
			if err := s.db.Reader().Get(&row, `SELECT state, format FROM vestibule_sessions ORDER BY created DESC LIMIT 1`); err != nil || row.State != test.state || row.Format != 1 {
				t.Errorf("the columns are %+v, %v; want %q in format 1", row, err, test.state)
			}
		})
	}
}

// A step that a device keeps and that this release cannot read is asked about again: it is
// neither settled nor an error for good.
func TestUnknownStepOfADeviceIsAskedAbout(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		for _, dispenser := range []bool{true, false} {
			o := &orgs{dispense: func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) { return pluginsdk.Done(), nil }}
			s := newSite(t, open(), func(opts *host.Options) {
				if dispenser {
					opts.Dispenser, opts.OrgSetup = o, o
				}
			})
			b := s.browser(t)
			b.login(adaEmail, adaPassword, true).want(t, 200, "")
			w := s.db.Writer()
			if _, err := w.Exec(w.Rebind(`UPDATE vestibule_remember_tokens SET intent = ?`), []byte(`{"id":"1","envelope":{"kind":"survey","version":"7"}}`)); err != nil {
				t.Fatal(err)
			}
			s.clock.Advance(25 * time.Hour)
			asked := len(o.requests)
			b.get("/dashboard").isAskedToResume(t)
			b.get("/login").want(t, 302, "")
			if n := len(o.requests); dispenser && n != asked+1 {
				t.Errorf("the dispenser was asked %d times, want once", n-asked)
			}
			if a := b.get("/dashboard"); a.Header.Get("Location") != "/dash-page" {
				t.Errorf("asked about again, the session is led to %q", a.Header.Get("Location"))
			}
		}
	})
}

// What a device keeps of a held step is not what cd3c692 takes for a redirect that has
// ended the loop: it cannot read it, and lets nobody in.
func TestDeviceKeepsAHeldStepThatCd3c692CannotRead(t *testing.T) {
	o := &orgs{dispense: func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
		return pluginsdk.Redirect("/terms").Hold(), nil
	}}
	s := newSite(t, sqliteStore(t), func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
	b := s.browser(t)
	b.login(adaEmail, adaPassword, true).want(t, 200, "")
	var stored []byte
	if err := s.db.Reader().Get(&stored, `SELECT intent FROM vestibule_remember_tokens`); err != nil {
		t.Fatal(err)
	}
	var intent struct {
		Envelope struct {
			Kind    string            `json:"kind"`
			Payload map[string]string `json:"payload"`
		} `json:"envelope"`
	}
	if err := json.Unmarshal(stored, &intent); err == nil || !strings.Contains(string(stored), `"/terms"`) {
		t.Errorf("cd3c692 reads %s as %+v", stored, intent)
	}
}

// The store of the host reads a session together with its user.
func TestSessionIsReadWithItsUser(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), nil)
		b := s.browser(t)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		rows, ok := s.db.Sessions().(session.OwnedRows)
		hash, known := session.HashID(b.cookie(sessionName))
		if !ok || !known {
			t.Fatal("sessions are read alone")
		}
		row, owner, err := rows.FindOwned(t.Context(), hash, false)
		if err != nil || owner == nil || row.UserID != owner.ID || owner.Email != adaEmail || owner.Password != "" {
			t.Errorf("%+v, %+v, %v", row, owner, err)
		}
	})
}
