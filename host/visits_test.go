package host_test

import (
	"context"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/session"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// A visit that waits for others in the memory of a host is recorded when the host stops, and a sign-out at another host counts
// at once in between.
func TestWaitingVisitsOfAStoppedHost(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		one := newSite(t, open(), nil)
		two := newSite(t, open(), func(o *host.Options) { o.Now = one.clock.Now })
		stays, leaves := one.browser(t), one.browser(t)
		for _, b := range []*browser{stays, leaves} {
			b.login(adaEmail, adaPassword, false).next(t)
		}
		begun := one.clock.Now()
		seen := func(b *browser) (time.Time, error) {
			hash, _ := session.HashID(b.cookie(sessionName))
			r, err := two.db.Sessions().FindSession(t.Context(), hash)
			return r.Seen, err
		}
		one.clock.Advance(4*time.Minute + 30*time.Second)
		for _, b := range []*browser{stays, leaves} {
			b.get("/dashboard").want(t, 302, "")
		}
		if at, err := seen(stays); err != nil || at.Sub(begun).Abs() > time.Minute {
			t.Errorf("seen %v after the sign-in, %v, want the visit in memory", at.Sub(begun), err)
		}
		leaves.on(two).do("POST", "/logout", "", "").want(t, 303, "")
		leaves.get("/auth/intents/current").want(t, 401, "")
		if err := one.host.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		if at, err := seen(stays); err != nil || one.clock.Now().Sub(at) > time.Minute {
			t.Errorf("seen %v before the stop, %v", one.clock.Now().Sub(at), err)
		}
		if _, err := seen(leaves); err == nil {
			t.Error("the session that ended is back")
		}
	})
}
