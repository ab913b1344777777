package host_test

import (
	"os"
	"os/user"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
