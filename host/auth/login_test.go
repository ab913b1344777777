package auth_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"golang.org/x/crypto/bcrypt"
)

// people is an auth.Users in memory, for tests in which no time may pass.
type people struct {
	auth.Users
	byLogin map[string]auth.User
}

func (p people) FindByLogin(_ context.Context, _, value string) (auth.User, error) {
	if u, ok := p.byLogin[value]; ok {
		return u, nil
	}
	return auth.User{}, auth.ErrNotFound
}

func (p people) HashFormats(context.Context) ([]string, error) { return nil, nil }

// counters is an auth.Throttle in memory that grants every attempt.
type counters struct {
	auth.Throttle
	hits map[string]int
}

func (c counters) Hit(_ context.Context, k auth.Counter, now time.Time, window time.Duration) (int, time.Time, error) {
	c.hits[k.Kind]++
	return 1, now.Add(window), nil
}

// hashes returns how many argon2id hashes f computes, by the 19 MiB that each of
// them takes.
func hashes(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int((after.TotalAlloc - before.TotalAlloc) / (19 << 20))
}

// Whoever is named and whatever is stored, a failed sign-in computes one hash and
// ends at the next step of the pace. In the bubble hashing takes no time, so that
// all of them end after exactly one step.
func TestFailedLoginsAreAlike(t *testing.T) {
	hash, err := adaHash()
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(o *auth.Options) {
		o.Throttle = counters{hits: map[string]int{}}
		o.Users = people{byLogin: map[string]auth.User{
			adaEmail: {ID: "1", Password: hash}, "gone@example.com": {ID: "2", Password: hash, Disabled: true},
			"plain@example.com": {ID: "3", Password: "plain text"}, "none@example.com": {ID: "4"},
		}}
	})
	var first time.Duration
	for _, try := range []struct{ name, login, password string }{
		{"unknown name", "nobody@example.com", adaPassword},
		{"name that no table holds", "a\x00b", adaPassword},
		{"wrong password", adaEmail, "wrong"},
		{"disabled", "gone@example.com", adaPassword},
		{"unusable hash", "plain@example.com", "plain text"},
		{"no hash", "none@example.com", ""},
	} {
		t.Run(try.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r.T = t
				start := time.Now()
				n := hashes(func() {
					r.post(r.Login(), map[string]any{"login": try.login, "password": try.password + " "}).want(422, "credentials_do_not_match")
				})
				took := time.Since(start)
				if first == 0 {
					first = took
				}
				if n != 1 || took == 0 || took != first {
					t.Errorf("%d hashes and an answer after %v, want 1 and %v", n, took, first)
				}
			})
		})
	}
}

func TestAttempts(t *testing.T) {
	r := newRig(t, nil)
	for range 5 {
		r.login("wrong", false).want(422, "credentials_do_not_match")
	}
	r.now = r.now.Add(10 * time.Second)
	a := r.login(adaPassword, false)
	a.want(429, "auth_throttle|50|1")
	if got := a.header.Get("Retry-After"); got != "50" {
		t.Errorf("Retry-After %q, want 50", got)
	}
	if len(a.cookies) > 0 || r.count("sessions") > 0 {
		t.Error("signed in beyond the limit")
	}
	r.now = r.now.Add(51 * time.Second)
	r.login(adaPassword, false).want(200, "login_success")
	if n := r.count("counters"); n != 0 {
		t.Errorf("%d counters after a sign-in, want none", n)
	}
}

// An attempt that fails because of the dispenser is not the person's.
func TestDispenserFailureRefundsTheAttempt(t *testing.T) {
	r := newRig(t, func(o *auth.Options) {
		o.Dispenser = func() pluginsdk.Dispenser { return broken{} }
	})
	for range 7 {
		r.login(adaPassword, true).want(503, "dispenser_unavailable")
	}
	if r.count("sessions")+r.count("remember_tokens") > 0 {
		t.Error("something was stored")
	}
}

type broken struct{}

func (broken) Dispense(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
	return pluginsdk.Intent{}, fmt.Errorf("%w: restarting", pluginsdk.ErrUnavailable)
}

// During the dispenser's answer the person is changed: the password that was
// compared says nothing any more.
func TestChangedDuringLogin(t *testing.T) {
	for name, change := range map[string]func(r *rig) error{
		"another password": func(r *rig) error { return r.SetPassword(r.Context(), r.ada, newPassword, "en") },
		"disabled":         func(r *rig) error { return r.db.SetDisabled(r.Context(), r.ada.ID, true) },
	} {
		t.Run(name, func(t *testing.T) {
			var r *rig
			r = newRig(t, func(o *auth.Options) {
				o.Dispenser = func() pluginsdk.Dispenser {
					return during(func() error {
						err := change(r)
						change = func(*rig) error { return nil }
						return err
					})
				}
			})
			a := r.login(adaPassword, true)
			a.want(422, "credentials_do_not_match")
			if len(a.cookies) > 0 || r.count("sessions")+r.count("remember_tokens") > 0 {
				t.Errorf("cookies %v", a.cookies)
			}
		})
	}
}

// during runs a function while the dispenser is asked.
type during func() error

func (d during) Dispense(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
	return pluginsdk.Done(), d()
}

// A weak hash is replaced at the next sign-in, and a failure to do so keeps nobody
// out.
func TestRehash(t *testing.T) {
	for name, fail := range map[string]bool{"stored": false, "refused by the database": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(o *auth.Options) {
				if fail {
					o.Users = stubborn{o.Users}
				}
			})
			weak, err := bcrypt.GenerateFromPassword([]byte(adaPassword), bcrypt.MinCost)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.db.Users().SetPassword(t.Context(), r.ada.ID, string(weak), ""); err != nil {
				t.Fatal(err)
			}
			r.login(adaPassword, false).want(200, "login_success")
			u, err := r.db.Users().FindByID(t.Context(), r.ada.ID)
			if err != nil || (u.Password == string(weak)) != fail {
				t.Errorf("hash %q, %v", u.Password, err)
			}
		})
	}
}

type stubborn struct{ auth.Users }

func (stubborn) Rehash(context.Context, string, string, string) error { return errors.New("disk full") }
