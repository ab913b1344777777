package identity_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
)

// A state opens for its own provider, session and user, with its own text, for ten minutes.
func TestStates(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	states := newStates(t, 1)
	bound := identity.Binding{Name: "company", Session: []byte("session"), UserID: "7"}
	state, text := identity.NewState()
	want := identity.Pending{Purpose: identity.Join, State: state, Private: []byte{0, 1, '.'}, ToPage: true, Elsewhere: true, Language: "pt-BR", Begun: now}
	want.Invited = identity.Invited{TokenHash: bytes.Repeat([]byte{7}, 32), UserID: strings.Repeat("8", 255)}
	cookie := states.Keep("", want, bound)
	for name, tt := range map[string]struct {
		states       identity.States
		cookie, text string
		bound        identity.Binding
		at           time.Time
		want         bool
	}{
		"as it was kept":     {states, cookie, text, bound, now.Add(10*time.Minute - time.Second), true},
		"a slower clock":     {states, cookie, text, bound, now.Add(-10 * time.Minute), true},
		"too late":           {states, cookie, text, bound, now.Add(10 * time.Minute), false},
		"a clock that leapt": {states, cookie, text, bound, now.Add(-11 * time.Minute), false},
		"another state":      {states, cookie, strings.Repeat("A", 43), bound, now, false},
		"half a state":       {states, cookie, text[:42], bound, now, false},
		"no state":           {states, cookie, "", bound, now, false},
		"no cookie":          {states, "", text, bound, now, false},
		"another key":        {newStates(t, 2), cookie, text, bound, now, false},
		"another provider":   {states, cookie, text, identity.Binding{Name: "other", Session: bound.Session, UserID: "7"}, now, false},
		"another session":    {states, cookie, text, identity.Binding{Name: "company", Session: []byte("sessioN"), UserID: "7"}, now, false},
		"another user":       {states, cookie, text, identity.Binding{Name: "company", Session: bound.Session, UserID: "8"}, now, false},
		"a guest":            {states, cookie, text, identity.Binding{Name: "company"}, now, false},
		"beside three":       {states, "x.y.z." + cookie, text, bound, now, true},
		"beside four":        {states, "w.x.y.z." + cookie, text, bound, now, false},
	} {
		got, ok := tt.states.Find(tt.cookie, tt.text, tt.bound, tt.at)
		if ok != tt.want || ok && !cmp.Equal(got, want) {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
}

// A browser keeps as many states as fit into a cookie, the newest for sure.
func TestStatesFitIntoACookie(t *testing.T) {
	now, states, bound := time.Unix(1_800_000_000, 0), newStates(t, 1), identity.Binding{Name: "company"}
	for _, tt := range []struct {
		private, language, want int
	}{{150, 0, 4}, {1 << 10, 35, 2}, {identity.MaxPrivate, identity.MaxLanguage, 1}} {
		cookie, texts := "", []string(nil)
		for range 6 {
			state, text := identity.NewState()
			texts = append([]string{text}, texts...)
			cookie = states.Keep(cookie, identity.Pending{
				Purpose: identity.SignIn, State: state, Private: bytes.Repeat([]byte{'p'}, tt.private), Language: strings.Repeat("l", tt.language), Begun: now,
			}, bound)
		}
		if len(cookie) > 4000 {
			t.Errorf("a cookie of %d bytes", len(cookie))
		}
		for i, text := range texts {
			if p, ok := states.Find(cookie, text, bound, now); ok != (i < tt.want) || ok && (len(p.Private) != tt.private || len(p.Language) != tt.language) {
				t.Errorf("private %d: state %d of the newest: %v", tt.private, i, ok)
			}
		}
	}
}

func newStates(t *testing.T, key byte) identity.States {
	t.Helper()
	states, err := identity.NewStates(bytes.Repeat([]byte{key}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return states
}
