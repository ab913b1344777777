package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// What an operator does leaves a row and a line with the system user's name; what fails
// leaves neither.
func TestOperatorsActsAreWrittenDown(t *testing.T) {
	me, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		t.Skip("the system does not know who runs the test: ", err)
	}
	t.Setenv("SUDO_USER", "")
	for name, engine := range raceEngines() {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, opener(t, engine(t).open)(), nil)
			b := s.browser(t)
			b.login(adaEmail, adaPassword, false).want(t, 200, "")
			list, err := s.admin.Sessions(t.Context(), "", 1)
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			ctx, a, id := t.Context(), s.admin, list[0].ID
			var want []string
			for _, act := range []struct {
				name, subject string
				err           error
			}{
				{"session_revoke", id, a.RevokeSession(ctx, id)},
				{"user_add", "bob@example.com", errOf(a.AddUser(ctx, "bob@example.com", "Bob", newPassword))},
				{"user_disable", adaEmail, a.SetDisabled(ctx, adaEmail, true)},
				{"user_enable", adaEmail, a.SetDisabled(ctx, adaEmail, false)},
				{"user_passwd", adaEmail, a.SetPassword(ctx, adaEmail, newPassword)},
				{"session_revoke", adaEmail, a.RevokeUser(ctx, adaEmail)},
				{"throttle_clear", adaEmail, errOf(a.ClearCounters(ctx, adaEmail))},
				{"throttle_clear", "all", errOf(a.ClearCounters(ctx, ""))},
			} {
				if act.err != nil {
					t.Errorf("%s: %v", act.name, act.err)
				}
				want = append(want, act.name+" "+act.subject)
			}
			_, _, err = a.ResetLink(ctx, adaEmail)
			want = append(want, "user_reset_link "+adaEmail)
			if err != nil {
				t.Error(err)
			}
			for what, err := range map[string]error{
				"a taken address": errOf(a.AddUser(ctx, "BOB@example.com", "Bob", newPassword)),
				"no session":      a.RevokeSession(ctx, "0123456789abcdef"),
				"nobody":          a.SetDisabled(ctx, "eve@example.com", true),
				"a weak password": a.SetPassword(ctx, adaEmail, "short"),
			} {
				if err == nil {
					t.Errorf("%s: no error", what)
				}
			}
			var got []string
			for _, row := range auditRows(t, s.db) {
				if row.Operator != me.Username || row.At != s.clock.Now().UnixMilli() {
					t.Errorf("%+v, want by %s at %v", row, me.Username, s.clock.Now())
				}
				got = append(got, row.Act+" "+row.Subject)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			for _, line := range want {
				event, subject, _ := strings.Cut(line, " ")
				if text := "audit: event=" + event + " operator=" + me.Username + " subject=" + subject; !strings.Contains(s.log.String(), text) {
					t.Errorf("no line %q", text)
				}
			}
		})
	}
}

// An operator ends all sessions and devices of everybody: also more than one step ends.
func TestRevokeAll(t *testing.T) {
	for name, engine := range raceEngines() {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, opener(t, engine(t).open)(), nil)
			ctx := t.Context()
			bob, err := s.db.AddUser(ctx, "bob@example.com", "Bob", weakHash())
			if err != nil {
				t.Fatal(err)
			}
			const others = 510
			err = s.db.InTx(ctx, func(ctx context.Context) error {
				var errs []error
				for i := range others {
					errs = append(errs, s.db.Sessions().CreateSession(ctx, auth.SessionRow{
						Hash: fmt.Appendf(nil, "%032d", i), UserID: bob.ID, Created: s.clock.Now(), Seen: s.clock.Now(), Expires: s.clock.Now().Add(time.Hour),
					}))
				}
				return errors.Join(errs...)
			})
			if err != nil {
				t.Fatal(err)
			}
			kept, plain := s.browser(t), s.browser(t)
			kept.login(adaEmail, adaPassword, true).want(t, 200, "")
			plain.login("bob@example.com", adaPassword, false).want(t, 200, "")

			devices, sessions, err := s.admin.RevokeAll(ctx)
			if err != nil || devices != 1 || sessions != others+2 {
				t.Errorf("ended %d devices, %d sessions: %v", devices, sessions, err)
			}
			for _, b := range []*browser{kept, plain} {
				b.get("/auth/intents/current").want(t, 401, "unauthenticated")
			}
			if devices, sessions, err = s.admin.RevokeAll(ctx); err != nil || devices+sessions != 0 {
				t.Errorf("again: ended %d devices, %d sessions: %v", devices, sessions, err)
			}
			var got []string
			for _, row := range auditRows(t, s.db) {
				got = append(got, row.Act+" "+row.Subject)
			}
			if diff := cmp.Diff([]string{"session_revoke all", "session_revoke all"}, got); diff != "" {
				t.Error(diff)
			}
			kept.login(adaEmail, adaPassword, true).want(t, 200, "")
		})
	}
}

type auditRow struct {
	At                     int64
	Operator, Act, Subject string
}

func auditRows(t *testing.T, db *store.DB) []auditRow {
	t.Helper()
	var list []auditRow
	if err := db.Reader().Select(&list, `SELECT at, operator, act, subject FROM vestibule_audit ORDER BY id`); err != nil {
		t.Fatal(err)
	}
	return list
}

// What is counted by the id of a user is listed by login name, and cleared by it: the rest
// of a password and the refusals of a step that holds.
func TestCountersOfPeopleHaveTheirNames(t *testing.T) {
	s := withFactor(t, sqliteStore(t))
	b := s.signedIn(t)
	b.post(stepPath, map[string]any{"code": "wrong"}).want(t, 200, "")
	b.post(stepPath, map[string]any{"rescue": "wrong"}).want(t, 200, "")
	s.browser(t).login(adaEmail, "wrong", false).want(t, 422, "")
	s.browser(t).login("Nobody@example.com", "wrong", false).want(t, 422, "")
	list, err := s.admin.Counters(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, c := range list {
		if c.Login != "" {
			got[c.Kind+" "+c.Login] = c.Count
		}
	}
	want := map[string]int{
		"held ada@example.com": 2, "held_long ada@example.com": 1, "held_recovery ada@example.com": 1,
		"login ada@example.com": 1, "password ada@example.com": 1, "password_day ada@example.com": 1,
		"login nobody@example.com": 1, "password_unknown nobody@example.com": 1, "password_unknown_day nobody@example.com": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for login, n := range map[string]int{"ADA@example.com": 6, "nobody@example.com": 3} {
		if got, err := s.admin.ClearCounters(t.Context(), login); err != nil || got != n {
			t.Errorf("%s: cleared %d, %v; want %d", login, got, err, n)
		}
	}
}
