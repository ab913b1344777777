package auth_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// unanswered is an auth.Tx that loses the answer to the first commit of what may be done
// twice, which happened or not.
type unanswered struct {
	auth.Tx
	happened bool
}

func (u unanswered) Settle(ctx context.Context, f func(context.Context) error) error {
	errLost := errors.New("the connection is gone")
	err := u.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := f(ctx); err != nil || u.happened {
			return err
		}
		return errLost
	})
	if err != nil && !errors.Is(err, errLost) {
		return err
	}
	return u.Tx.InTx(ctx, f)
}

// Whoever signs in, comes back, signs out or sets a password while the answer to the
// commit is lost is told what became of it, and nothing is there twice.
func TestLostCommits(t *testing.T) {
	for name, happened := range map[string]bool{"happened": true, "did not happen": false} {
		t.Run(name, func(t *testing.T) {
			tx := &switchable{}
			r := newRig(t, func(o *auth.Options) { tx.Tx, o.Tx = o.Tx, tx })
			holds := func(sessions, devices, mails int) {
				t.Helper()
				if s, d, m := r.count("sessions"), r.count("remember_tokens"), r.count("outbox"); s != sessions || d != devices || m != mails {
					t.Errorf("%d sessions, %d devices, %d mails; want %d, %d, %d", s, d, m, sessions, devices, mails)
				}
			}
			tx.Tx = unanswered{tx.Tx, happened}
			session, device := r.kept()
			if who, _ := r.visit(session); who.UserID != r.ada.ID {
				t.Error("the session is not that of the cookie")
			}
			holds(1, 1, 0)

			who, a := r.visit(device) // without the session, as after the browser's end
			next := a.cookies[deviceName]
			if who.UserID != r.ada.ID || a.cookies[sessionName] == nil || next == nil || next.Value == device.Value {
				t.Fatalf("came back as %q with %v", who.UserID, a.cookies)
			}
			if who, _ := r.visit(a.cookies[sessionName]); who.UserID != r.ada.ID {
				t.Error("the session is not that of the cookie")
			}
			holds(2, 1, 0)

			r.post(r.Confirm(), map[string]any{"password": adaPassword}, a.cookies[sessionName]).want(http.StatusNoContent, "")
			if who, _ := r.visit(a.cookies[sessionName]); !who.Session.Proved.Equal(r.now) || who.Session.Proof != "pwd" {
				t.Errorf("proved at %v by %q", who.Session.Proved, who.Session.Proof)
			}
			stolen := *next
			stolen.Value = device.Value[:len(device.Value)-4] + "AAAA"
			if who, _ := r.visit(&stolen); who.SignedIn() || !slices.Contains(r.events, "replay") {
				t.Errorf("a wrong verifier comes back as %q, events %q", who.UserID, r.events)
			}
			holds(0, 0, 0)

			session, device = r.kept()
			r.post(r.Logout(), map[string]any{}, session, device).want(http.StatusSeeOther, "")
			holds(0, 0, 0)

			session, device = r.kept()
			changed := r.post(r.ChangePassword(), map[string]any{"password": newPassword + "8", "password_confirmation": newPassword + "8"}, session, device)
			changed.want(http.StatusNoContent, "")
			if who, _ := r.visit(changed.cookies[sessionName]); who.UserID != r.ada.ID || changed.cookies[deviceName].MaxAge >= 0 {
				t.Errorf("the session is not that of the cookie, or the device's stays: %v", changed.cookies)
			}
			if who, _ := r.visit(session); who.SignedIn() {
				t.Error("the session of before lives on")
			}
			holds(1, 0, 1)
			r.login(newPassword+"8", true)
			token := r.mint()
			r.reset(token, newPassword).want(200, "reset_success")
			holds(0, 0, 2)
			r.login(newPassword, false).want(200, "login_success")
		})
	}
}
