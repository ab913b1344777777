package host_test

import (
	"sync"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey/passkeytest"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// Of passkeys that are deleted at once at two hosts one stays where there is no other way to sign in: for somebody without a
// password, and where nobody signs in with one.
func TestLastWayToSignInAtTwoHosts(t *testing.T) {
	for name, passwordOff := range map[string]bool{"no password": false, "no sign-in by password": true} {
		t.Run(name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, open func() *store.DB) {
				first := passkeySite(t, open(), nil)
				b := first.browser(t)
				b.login(adaEmail, adaPassword, false).want(t, 200, "")
				off := func(o *host.Options) { o.Auth.PasswordOff = passwordOff }
				hosts := []*testSite{passkeySite(t, open(), off), passkeySite(t, open(), off)}
				if !passwordOff {
					if err := first.db.Users().SetPassword(t.Context(), first.user.ID, "!", "secret"); err != nil {
						t.Fatal(err)
					}
				}
				b.base = hosts[0].URL
				for range 3 {
					b.enrol(passkeytest.New(b.base), "Key").want(t, 201, "")
				}
				list, err := first.db.Passkeys().List(t.Context(), first.user.ID, 20)
				if err != nil {
					t.Fatal(err)
				}
				var all sync.WaitGroup
				statuses := make([]int, len(list))
				for i, one := range list {
					at := *b
					at.base = hosts[i%2].URL
					all.Go(func() { statuses[i] = at.do("DELETE", "/auth/account/passkeys/"+one.ID, "", "").StatusCode })
				}
				all.Wait()
				left, err := first.db.Passkeys().List(t.Context(), first.user.ID, 20)
				if err != nil || len(left) != 1 {
					t.Errorf("%d passkeys are left, %v; statuses %v", len(left), err, statuses)
				}
			})
		})
	}
}
