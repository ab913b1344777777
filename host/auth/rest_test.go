package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// tally counts in memory and notes what it was asked, with the kinds of unknown names under
// those of known ones.
type tally struct {
	hits  map[auth.Counter]int
	notes []string
}

func (c *tally) note(what string, k auth.Counter, by int) int {
	c.hits[k] = max(0, c.hits[k]+by)
	c.notes = append(c.notes, what+" "+strings.Replace(k.Kind, "password_unknown", "password", 1))
	return c.hits[k]
}

func (c *tally) Hit(_ context.Context, k auth.Counter, now time.Time, window time.Duration) (int, time.Time, error) {
	return c.note("hit", k, 1), now.Add(window), nil
}
func (c *tally) Undo(_ context.Context, k auth.Counter) error { c.note("undo", k, -1); return nil }
func (c *tally) Clear(_ context.Context, k auth.Counter) error {
	c.note("clear", k, -c.hits[k])
	return nil
}

func (c *tally) Space(context.Context, auth.Counter, time.Time, auth.Spacing) (bool, error) {
	return true, nil
}

// Whoever is named, an attempt at a password that rests asks the store the same, computes
// no hash and ends at the next step; so does one that fails.
func TestRestingDoesTheSameWork(t *testing.T) {
	hash, err := adaHash()
	if err != nil {
		t.Fatal(err)
	}
	asked := &tally{hits: map[auth.Counter]int{}}
	computed := 0
	r := newRig(t, func(o *auth.Options) {
		o.Throttle, o.Attempts, o.ClientAttempts = asked, 100, 1000
		o.Hashed = func(string) { computed++ }
		o.Users = people{formats: []string{hash}, byLogin: map[string]auth.User{
			adaEmail: {ID: "1", Password: hash}, "gone@example.com": {ID: "2", Password: hash, Disabled: true}, "none@example.com": {ID: "4"},
		}}
	})
	for _, login := range []string{"nobody@example.com", adaEmail, "gone@example.com", "none@example.com", "a\x00b"} {
		t.Run(login, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r.T = t
				try := func(message string, status, hashes int, want ...string) {
					t.Helper()
					asked.notes, computed = nil, 0
					start := time.Now()
					r.post(r.Login(), map[string]any{"login": login, "password": "wrong"}).want(status, message)
					if took := time.Since(start); took != 20*time.Millisecond || computed != hashes {
						t.Errorf("answered after %v with %d hashes", took, computed)
					}
					if diff := cmp.Diff(want, asked.notes); diff != "" {
						t.Error(diff)
					}
				}
				fails := func() {
					t.Helper()
					try("credentials_do_not_match", 422, 1, "hit client", "hit login", "hit password", "hit password_day")
				}
				fails()
				for k, n := range asked.hits {
					if n == 1 && strings.HasPrefix(k.Kind, "password") {
						asked.hits[k] = 99 // so many more have failed
					}
				}
				fails()
				try("password_rests", 429, 0, "hit client", "hit login", "hit password", "undo password")
			})
		})
	}
}

// The cookie of a known browser counts for the account, the password and the year in which
// it was made, and only as we signed it.
func TestKnownCookie(t *testing.T) {
	r := newRig(t, nil)
	r.Secrets = r.db
	hash, err := adaHash()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if _, err := r.db.AddUser(t.Context(), fmt.Sprintf("user%d@example.com", i), "User", hash); err != nil {
			t.Fatal(err)
		}
	}
	signIn := func(login string, with ...*http.Cookie) *http.Cookie {
		t.Helper()
		a := r.post(r.Login(), map[string]any{"login": login, "password": adaPassword}, with...)
		a.want(200, "login_success")
		return a.cookies["vestibule_known"]
	}
	ada := signIn(adaEmail)
	other := signIn("user0@example.com")
	both := signIn(adaEmail, other)
	many := both
	for i := 1; i < 6; i++ {
		many = signIn(fmt.Sprintf("user%d@example.com", i), many)
	}
	if len(many.Value) > 1000 {
		t.Errorf("the cookie has %d bytes", len(many.Value))
	}
	if again := signIn(adaEmail, ada); strings.Contains(again.Value, ".") || again.MaxAge != 365*24*3600 {
		t.Errorf("a second sign-in makes %v", again)
	}
	forged := *ada
	forged.Value = "B" + ada.Value[1:]
	swapped := *ada
	swapped.Value = other.Value[:60] + ada.Value[60:]
	for range 100 {
		if _, _, err := r.db.Throttle().Hit(t.Context(), auth.Counter{Kind: "password", Login: r.ada.ID}, r.now, 1e6*time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name   string
		cookie *http.Cookie
		later  time.Duration
		known  bool
	}{
		{"of the account", ada, 0, true},
		{"of two accounts", both, 0, true},
		{"none", &http.Cookie{Name: "x", Value: "y"}, 0, false},
		{"of another account", other, 0, false},
		{"of four later accounts", many, 0, false},
		{"forged", &forged, 0, false},
		{"of two halves", &swapped, 0, false},
		{"rubbish", &http.Cookie{Name: "vestibule_known", Value: strings.Repeat("a.", 3000)}, 0, false},
		{"after 364 days", ada, 364 * 24 * time.Hour, true},
		{"after a year", ada, 365 * 24 * time.Hour, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r.T = t
			before := r.now
			defer func() { r.now = before }()
			r.now = r.now.Add(tt.later + time.Minute)
			a := r.login("wrong", false, tt.cookie)
			if tt.known {
				a.want(422, "credentials_do_not_match")
			} else {
				a.want(429, "password_rests")
			}
			if err := r.db.Throttle().Clear(t.Context(), auth.Counter{Kind: "login", Login: adaEmail, Client: "192.0.2.1"}); err != nil {
				t.Fatal(err)
			}
		})
	}
	r.T = t
	r.now = r.now.Add(2 * time.Minute)
	if _, err := r.db.Writer().Exec("UPDATE users SET password = 'another' WHERE email = ?", adaEmail); err != nil {
		t.Fatal(err)
	}
	r.login("wrong", false, ada).want(429, "password_rests")
}
