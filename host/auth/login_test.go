package auth_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/admission"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"golang.org/x/crypto/bcrypt"
)

// people is an auth.Users in memory, for tests in which no time may pass.
type people struct {
	auth.Users
	byLogin map[string]auth.User
	formats []string
}

func (p people) FindByLogin(_ context.Context, _, value string) (auth.User, error) {
	if u, ok := p.byLogin[value]; ok {
		return u, nil
	}
	return auth.User{}, auth.ErrNotFound
}

func (p people) HashFormats(context.Context) ([]string, error) { return p.formats, nil }

// counters is an auth.Throttle in memory that grants every attempt.
type counters struct {
	auth.Throttle
	mu   *sync.Mutex
	hits map[string]int
}

func newCounters() counters { return counters{mu: &sync.Mutex{}, hits: map[string]int{}} }

func (c counters) add(kind string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hits[kind] += n
}

func (c counters) of(kind string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hits[kind]
}

func (c counters) Hit(_ context.Context, k auth.Counter, now time.Time, window time.Duration) (int, time.Time, error) {
	c.add(k.Kind, 1)
	return 1, now.Add(window), nil
}

func (c counters) Undo(_ context.Context, k auth.Counter) error {
	c.add(k.Kind, -1)
	return nil
}

func (c counters) Space(_ context.Context, k auth.Counter, _ time.Time, _ auth.Spacing) (bool, error) {
	c.add(k.Kind, 1)
	return true, nil
}

// Whoever is named and whatever is stored, a failed sign-in computes one hash of
// each format in use and ends at the next step. In the bubble hashing takes no
// time, so that all of them end after exactly one step.
func TestFailedLoginsDoTheSameWork(t *testing.T) {
	hash, err := adaHash()
	if err != nil {
		t.Fatal(err)
	}
	weak, err := bcrypt.GenerateFromPassword([]byte(adaPassword), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	var computed []string
	r := newRig(t, func(o *auth.Options) {
		o.Throttle = newCounters()
		o.Hashed = func(format string) { computed = append(computed, format) }
		o.Users = people{formats: []string{string(weak)}, byLogin: map[string]auth.User{
			adaEmail: {ID: "1", Password: hash}, "gone@example.com": {ID: "2", Password: hash, Disabled: true},
			"plain@example.com": {ID: "3", Password: "plain text"}, "none@example.com": {ID: "4"}, "invited@example.com": {ID: "7", Password: "!"},
			"php@example.com": {ID: "5", Password: string(weak)}, "gone.php@example.com": {ID: "6", Password: string(weak), Disabled: true},
		}}
	})
	for _, try := range []struct{ name, login, password string }{
		{"unknown name", "nobody@example.com", adaPassword},
		{"name that no table holds", "a\x00b", adaPassword},
		{"wrong password, argon2id", adaEmail, "wrong"},
		{"wrong password, bcrypt", "php@example.com", "wrong"},
		{"disabled, argon2id", "gone@example.com", adaPassword},
		{"disabled, bcrypt", "gone.php@example.com", adaPassword},
		{"unusable hash", "plain@example.com", "plain text"},
		{"no hash", "none@example.com", " "},
		{"invited, without a password", "invited@example.com", "!"},
	} {
		t.Run(try.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r.T, computed = t, nil
				start := time.Now()
				r.post(r.Login(), map[string]any{"login": try.login, "password": try.password}).want(422, "credentials_do_not_match")
				if took := time.Since(start); took != 20*time.Millisecond {
					t.Errorf("answered after %v", took)
				}
				slices.Sort(computed)
				if !slices.Equal(computed, []string{"argon2id/19456/2/1", "bcrypt/4"}) {
					t.Errorf("computed %v", computed)
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
	if open, err := r.db.ListCounters(t.Context(), 10); err != nil || len(open) != 1 || open[0].Kind != "password_day" {
		t.Errorf("counters %v after a sign-in, want that of the day alone: %v", open, err)
	}
}

// A client has so many failures over all names, whatever it names next; its
// successes do not count.
func TestClientAttempts(t *testing.T) {
	r := newRig(t, func(o *auth.Options) { o.ClientAttempts = 7 })
	for range 9 {
		r.login(adaPassword, false).want(200, "login_success")
	}
	for i := range 7 {
		r.post(r.Login(), map[string]any{"login": fmt.Sprintf("nobody-%d", i), "password": "x"}).want(422, "credentials_do_not_match")
	}
	r.login(adaPassword, false).want(429, "auth_throttle|60|1")
	r.now = r.now.Add(time.Minute)
	r.login(adaPassword, false).want(200, "login_success")
}

// An attempt that fails because of the dispenser is not the person's.
func TestDispenserFailureRefundsTheAttempt(t *testing.T) {
	r := newRig(t, func(o *auth.Options) {
		askOne(o, func() pluginsdk.Dispenser { return broken{} })
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

// The user is changed while the dispenser answers, so the comparison of the
// password is no longer valid.
func TestChangedDuringLogin(t *testing.T) {
	for name, change := range map[string]func(r *rig) error{
		"another password": func(r *rig) error {
			set, err := r.NewPassword(r.Context(), r.ada, newPassword, "en")
			if err != nil {
				return err
			}
			return set(r.Context())
		},
		"disabled": func(r *rig) error { return r.db.SetDisabled(r.Context(), r.ada.ID, true) },
	} {
		t.Run(name, func(t *testing.T) {
			var r *rig
			r = newRig(t, func(o *auth.Options) {
				askOne(o, func() pluginsdk.Dispenser {
					return during(func() error {
						err := change(r)
						change = func(*rig) error { return nil }
						return err
					})
				})
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

// The hash of another program is replaced at the next sign-in, of the whole of what
// was typed, unless the rules say otherwise; a failure to do so keeps nobody out.
func TestRehash(t *testing.T) {
	long := strings.Repeat("engine ", 20)
	for name, test := range map[string]struct {
		format auth.PasswordFormat
		plain  string
		fail   bool
		want   string // what the hash begins with afterwards
	}{
		"stored":                  {"", adaPassword, false, "$argon2id$"},
		"refused by the database": {"", adaPassword, true, "$2y$04$"},
		"longer than bcrypt is":   {"", long, false, "$argon2id$"},
		"bcrypt":                  {"bcrypt", adaPassword, false, "$2y$12$"},
		"keep":                    {"keep", adaPassword, false, "$2y$04$"},
		"keep a long one":         {"keep", long, false, "$2y$04$"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(o *auth.Options) {
				o.PasswordHash = test.format
				if test.fail {
					o.Users = stubborn{o.Users}
				}
			})
			weak, err := bcrypt.GenerateFromPassword([]byte(test.plain)[:min(72, len(test.plain))], bcrypt.MinCost)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.db.Users().SetPassword(t.Context(), r.ada.ID, "$2y$"+string(weak[4:]), ""); err != nil {
				t.Fatal(err)
			}
			r.login(test.plain, false).want(200, "login_success")
			if u := r.stored(); !strings.HasPrefix(u.Password, test.want) {
				t.Errorf("hash %q, want %s…", u.Password, test.want)
			}
			r.login(test.plain, false).want(200, "login_success")
			if u := r.stored(); len(test.plain) > 72 && strings.HasPrefix(u.Password, "$argon2id$") {
				r.login(test.plain[:72], false).want(422, "credentials_do_not_match")
			}
		})
	}
}

type stubborn struct{ auth.Users }

func (stubborn) Rehash(context.Context, string, string, string) error { return errors.New("disk full") }

// Who finds no room in the queue of hashing is told when to come back, and has not
// used up an attempt.
func TestBusySignInIsNotCounted(t *testing.T) {
	hash, err := adaHash()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		status int
		fill   func(ctx context.Context, r *rig)
	}{
		{"others hash", 503, func(ctx context.Context, r *rig) {
			_, _ = r.HashForNewUser(ctx, "bob@example.com", "Bob", newPassword)
		}},
		{"its own client hashes", 429, func(_ context.Context, r *rig) { r.login("a wrong password", false) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts := newCounters()
				var refusals []*admission.Busy
				p := auth.New(auth.Options{
					Site: site{}, Throttle: attempts, Users: people{byLogin: map[string]auth.User{adaEmail: {ID: "1", Password: hash}}},
					Hashed:  func(string) { time.Sleep(time.Minute) },
					Hashing: admission.Options{Limit: "hashing", ShareLimit: "hashing", Refused: func(b *admission.Busy) { refusals = append(refusals, b) }},
				})
				r := &rig{T: t, Pipeline: p}
				var all sync.WaitGroup
				ctx, cancel := context.WithCancel(t.Context())
				for range runtime.GOMAXPROCS(0) {
					all.Go(func() { test.fill(ctx, r) })
				}
				synctest.Wait()
				before := attempts.of("login")
				a := r.login(adaPassword, false) // waits in vain
				a.want(test.status, "busy")
				if a.header.Get("Retry-After") == "" || len(refusals) != 1 || refusals[0].Limit != "hashing" {
					t.Errorf("Retry-After %q, told of %v", a.header.Get("Retry-After"), refusals)
				}
				if login, client := attempts.of("login"), attempts.of("client"); login != before || client != before {
					t.Errorf("%d attempts of the login and %d of the client, want %d of each", login, client, before)
				}
				cancel()
				all.Wait()
			})
		})
	}
}
