package auth_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// The effects of a listener and the mark that it knows of the event are one: both are
// written, or none.
func TestEffectsAreAppliedWithTheMark(t *testing.T) {
	r := newRig(t, func(o *auth.Options) { o.Dispenser = nil })
	gone := errors.New("the database is away")
	mail := pluginsdk.Mail("audit/greeting", map[string]string{"link": "/a"})
	for name, tt := range map[string]struct {
		effects []pluginsdk.Effect
		user    string
		after   error // of the mark
		again   bool  // the event is taken by somebody else
		applied bool
		name    string
		mails   int
		left    int // events
		fails   bool
	}{
		"applied":               {effects: []pluginsdk.Effect{pluginsdk.SetUser("name", "Augusta"), mail}, applied: true, name: "Augusta", mails: 1},
		"in place of the value": {effects: []pluginsdk.Effect{pluginsdk.SetUser("name", "Augusta").Replacing("Ada"), mail}, applied: true, name: "Augusta", mails: 1},
		"another value by now":  {effects: []pluginsdk.Effect{mail, pluginsdk.SetUser("name", "Augusta").Replacing("Eve")}, name: "Ada", left: 1},
		"the mark fails":        {effects: []pluginsdk.Effect{pluginsdk.SetUser("name", "Augusta"), mail}, after: gone, name: "Ada", left: 1, fails: true},
		"marked by another":     {effects: []pluginsdk.Effect{pluginsdk.SetUser("name", "Augusta"), mail}, again: true, applied: true, name: "Ada"},
		"nobody":                {effects: []pluginsdk.Effect{pluginsdk.SetUser("name", "Augusta"), mail}, user: "4711", applied: true, name: "Ada"},
		"a credential":          {effects: []pluginsdk.Effect{mail, pluginsdk.SetUser("password", "x")}, name: "Ada", left: 1, fails: true},
		"no such column":        {effects: []pluginsdk.Effect{mail, pluginsdk.SetUser("nowhere", 1)}, name: "Ada", left: 1, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, statement := range []string{"DELETE FROM vestibule_outbox", "DELETE FROM vestibule_counters", "UPDATE users SET name = 'Ada'"} {
				if _, err := r.db.Writer().ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			user := r.ada.ID
			if tt.user != "" {
				user = tt.user
			}
			box := r.db.Outbox()
			if err := box.Announce(t.Context(), "password_reset", user, []string{"audit"}); err != nil {
				t.Fatal(err)
			}
			event, err := box.Lease(t.Context(), outbox.Claim{Free: []string{"audit"}, Known: []string{"audit"}, Now: r.now, Until: r.now.Add(time.Minute)})
			if err != nil || event.ID == "" {
				t.Fatal(event, err)
			}
			if tt.again {
				if err := box.Done(t.Context(), event.ID); err != nil {
					t.Fatal(err)
				}
			}
			applied, err := r.ApplyTold(t.Context(), user, tt.effects, func(ctx context.Context) (bool, error) {
				taken, err := box.Take(ctx, event)
				return taken, errors.Join(err, tt.after)
			})
			if applied != tt.applied || (err != nil) != tt.fails {
				t.Errorf("applied %v, %v", applied, err)
			}
			now, err := r.db.Users().FindByID(t.Context(), r.ada.ID)
			if err != nil || now.Name != tt.name {
				t.Errorf("the name is %q, want %q (%v)", now.Name, tt.name, err)
			}
			var mails, events int
			count := `SELECT COUNT(CASE WHEN listener = '' THEN 1 END), COUNT(CASE WHEN listener <> '' THEN 1 END) FROM vestibule_outbox`
			if err := r.db.Reader().QueryRowContext(t.Context(), count).Scan(&mails, &events); err != nil || mails != tt.mails || events != tt.left {
				t.Errorf("%d mails and %d events are left, want %d and %d (%v)", mails, events, tt.mails, tt.left, err)
			}
		})
	}
}
