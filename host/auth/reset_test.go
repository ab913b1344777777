package auth_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// reset posts a new password with a token.
func (r *rig) reset(token, plain string) answer {
	r.Helper()
	return r.post(r.Reset(), map[string]any{"token": token, "email": adaEmail, "password": plain, "password_confirmation": plain})
}

func (r *rig) mint() string {
	r.Helper()
	_, token, err := r.MintReset(r.Context(), r.ada.ID)
	if err != nil {
		r.Fatal(err)
	}
	return token
}

// stored returns the person's row as others see it.
func (r *rig) stored() auth.User {
	r.Helper()
	u, err := r.db.Users().FindByID(context.Background(), r.ada.ID)
	if err != nil {
		r.Fatal(err)
	}
	return u
}

// A reset ends all sessions and devices, queues the notice, and is told once, when
// everybody can already see the new password.
func TestReset(t *testing.T) {
	var r *rig
	told := 0
	r = newRig(t, func(o *auth.Options) {
		o.PasswordReset = func(_ context.Context, e auth.PasswordReset) {
			told++
			if u := r.stored(); u.Password == r.ada.Password || e.UserID != u.ID {
				t.Errorf("told of %q before the commit", e.UserID)
			}
		}
	})
	r.kept()
	token := r.mint()
	r.reset(token, newPassword).want(200, "reset_success")
	if told != 1 || r.count("sessions")+r.count("remember_tokens") != 0 || r.count("outbox") != 1 {
		t.Errorf("told %d times, %d sessions, %d devices, %d mails", told, r.count("sessions"), r.count("remember_tokens"), r.count("outbox"))
	}
	r.reset(token, newPassword).want(422, "reset_failed")
	r.login(adaPassword, false).want(422, "credentials_do_not_match")
	r.login(newPassword, false).want(200, "login_success")
	if told != 1 {
		t.Errorf("told %d times, want once", told)
	}
}

// lateFailure is an auth.Tx whose transactions fail when they are to commit.
type lateFailure struct{ auth.Tx }

func (f lateFailure) Settle(ctx context.Context, step func(context.Context) error) error {
	return f.Tx.Settle(ctx, func(ctx context.Context) error {
		return errors.Join(step(ctx), errors.New("commit: the connection is gone"))
	})
}

// A reset that did not commit changes nothing, and nobody is told.
func TestResetThatDoesNotCommit(t *testing.T) {
	told := 0
	var token string
	var r *rig
	tx := &switchable{}
	r = newRig(t, func(o *auth.Options) {
		tx.Tx, o.Tx = o.Tx, tx
		o.PasswordReset = func(context.Context, auth.PasswordReset) { told++ }
	})
	token = r.mint()
	tx.Tx = lateFailure{tx.Tx}
	r.reset(token, newPassword).want(500, "internal_error")
	if told != 0 || r.stored().Password != r.ada.Password || r.count("outbox") != 0 {
		t.Errorf("told %d times, %d mails", told, r.count("outbox"))
	}
	tx.Tx = r.db
	r.reset(token, newPassword).want(200, "reset_success")
}

// switchable is an auth.Tx that a test replaces.
type switchable struct{ auth.Tx }

func TestResetIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		code  string
		plain string
		spoil func(r *rig, token string) (string, error)
	}{
		"an expired token": {"reset_failed", newPassword, func(r *rig, token string) (string, error) {
			r.now = r.now.Add(time.Hour)
			return token, nil
		}},
		"a made-up token": {"reset_failed", newPassword, func(_ *rig, token string) (string, error) {
			return strings.ToUpper(token), nil
		}},
		"an empty token": {"reset_failed", newPassword, func(*rig, string) (string, error) { return "", nil }},
		"an older token": {"reset_failed", newPassword, func(r *rig, token string) (string, error) {
			r.mint()
			return token, nil
		}},
		"a person who was disabled": {"reset_failed", newPassword, func(r *rig, token string) (string, error) {
			return token, r.db.SetDisabled(r.Context(), r.ada.ID, true)
		}},
		"a short password": {"password_too_short", "short", func(_ *rig, token string) (string, error) { return token, nil }},
		"the own address":  {"password_too_common", adaEmail, func(_ *rig, token string) (string, error) { return token, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			token, err := test.spoil(r, r.mint())
			if err != nil {
				t.Fatal(err)
			}
			r.reset(token, test.plain).want(422, test.code)
			if r.stored().Password != r.ada.Password || r.count("outbox") != 0 {
				t.Error("something was changed")
			}
		})
	}
}

// What bcrypt would cut is no new password where bcrypt is what counts, and the
// token can still be used.
func TestResetWithBcrypt(t *testing.T) {
	r := newRig(t, func(o *auth.Options) { o.PasswordHash = "bcrypt" })
	token := r.mint()
	r.reset(token, strings.Repeat("engine ", 11)).want(422, "password_too_long")
	r.reset(token, newPassword).want(200, "reset_success")
	if hash := r.stored().Password; !strings.HasPrefix(hash, "$2y$12$") {
		t.Errorf("hash %q", hash)
	}
	r.login(newPassword, false).want(200, "login_success")
}

// The link leads to the screen for as long as its token is valid, and opening it
// uses nothing up.
func TestShowReset(t *testing.T) {
	r := newRig(t, nil)
	token := r.mint()
	show := func(token string) string {
		req := httptest.NewRequest("GET", "/password/reset/x?email="+url.QueryEscape(adaEmail), nil)
		req.SetPathValue("token", token)
		return r.serve(r.ShowReset(), req).header.Get("Location")
	}
	for range 2 {
		if got, want := show(token), "/login#/set-password/"+token+"/ada%40example.com"; got != want {
			t.Errorf("leads to %q, want %q", got, want)
		}
	}
	if got := show("x"); got != "/login#/set-password" {
		t.Errorf("a made-up token leads to %q", got)
	}
	r.reset(token, newPassword).want(200, "reset_success")
	if got := show(token); got != "/login#/set-password" {
		t.Errorf("a used token leads to %q", got)
	}
}

// directly is an auth.Tx without a database.
type directly struct{}

func (directly) InTx(ctx context.Context, f func(context.Context) error) error   { return f(ctx) }
func (directly) Settle(ctx context.Context, f func(context.Context) error) error { return f(ctx) }

// queued notes for whom mail was queued.
type queued struct{ users []string }

func (q *queued) QueueReset(_ context.Context, userID, _, _ string) error {
	q.users = append(q.users, userID)
	return nil
}
func (q *queued) QueueChanged(context.Context, string, string, string, string) error { return nil }
func (q *queued) QueueNotice(context.Context, auth.Notice, string, string, string) error {
	return nil
}

func (q *queued) QueueTexts(context.Context, string, map[string]string, string, string, string) error {
	return nil
}

// Forgot counts, queues and takes as long for an address that nobody has. In the
// bubble reading takes no time, so that every answer takes exactly one step.
func TestForgotIsAlikeForAll(t *testing.T) {
	mails, attempts := &queued{}, newCounters()
	r := newRig(t, func(o *auth.Options) {
		o.Tx, o.Mailer, o.Throttle = directly{}, mails, attempts
		o.Users = people{byLogin: map[string]auth.User{adaEmail: {ID: "1"}, "gone@example.com": {ID: "2", Disabled: true}}}
	})
	for i, email := range []string{adaEmail, "nobody@example.com", "gone@example.com"} {
		synctest.Test(t, func(t *testing.T) {
			r.T = t
			start := time.Now()
			r.post(r.Forgot(), map[string]any{"email": email}).want(200, "reset_link_sent")
			if took := time.Since(start); took != 20*time.Millisecond {
				t.Errorf("%s: answered after %v", email, took)
			}
			want := []string{"1", "", ""}[i]
			if len(mails.users) != i+1 || mails.users[i] != want || attempts.hits["resend"] != i+1 || attempts.hits["forgot"] != 2*(i+1) {
				t.Errorf("%s: mails for %q, attempts %v", email, mails.users, attempts.hits)
			}
		})
	}
}

// A further request sends a mail only when enough time has passed since the last,
// twice as much after each, until there was none for a day.
func TestForgotResend(t *testing.T) {
	r := newRig(t, nil)
	mails := 0
	for _, step := range []struct {
		after time.Duration
		mail  bool
	}{
		{0, true},
		{59 * time.Second, false},
		{time.Second, true},
		{time.Minute, false},
		{time.Minute, true}, // two minutes
		{3 * time.Minute, false},
		{time.Minute, true},
		{8 * time.Minute, true},
		{16 * time.Minute, true},
		{32 * time.Minute, true},
		{59 * time.Minute, false},
		{time.Minute, true},
		{time.Hour, true},
		{23 * time.Hour, true},
		{30 * time.Minute, false},
		{24 * time.Hour, true},
		{time.Minute, true},
	} {
		r.now = r.now.Add(step.after)
		if step.mail {
			mails++
		}
		r.post(r.Forgot(), map[string]any{"email": "ADA@example.com"}).want(200, "reset_link_sent")
		if n := r.count("outbox"); n != mails {
			t.Fatalf("%v after the last request: %d mails, want %d", step.after, n, mails)
		}
	}
}

// A stranger who asks for links and tries tokens all day long: the owner's link
// works, whatever the counters of the address say, and the day brings few mails.
func TestStrangerCannotBlockRecovery(t *testing.T) {
	r := newRig(t, nil)
	token := r.mint()
	for range 5 {
		r.reset("bogus", newPassword).want(422, "reset_failed")
	}
	r.reset("bogus", newPassword).want(429, "auth_throttle|60|1")
	r.reset(token, "short").want(422, "password_too_short")
	r.reset(token, newPassword).want(200, "reset_success")

	before := r.count("outbox")
	for range 24 * 60 {
		r.now = r.now.Add(time.Minute)
		r.post(r.Forgot(), map[string]any{"email": adaEmail}).want(200, "reset_link_sent")
	}
	if n := r.count("outbox") - before; n > 30 {
		t.Errorf("%d mails in a day", n)
	}
}
