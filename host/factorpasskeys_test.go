package host_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Whoever has the password alone is held at the second factor, and makes no passkey there that would pass it.
func TestUnsettledPeopleMakeNoPasskeys(t *testing.T) {
	s := passkeySite(t, sqliteStore(t), nil)
	s.withPasskey(t, nil)
	list, err := s.db.Passkeys().List(t.Context(), s.user.ID, 10)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	answers := map[string]*gate{
		"held": {}, "open": {answer: func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
			return pluginsdk.OrgSetup("org"), nil
		}},
	}
	for name, g := range answers {
		t.Run(name, func(t *testing.T) {
			unsettled := passkeySite(t, s.db, func(o *host.Options) { o.Dispenser = g })
			b := unsettled.browser(t)
			b.login(adaEmail, adaPassword, false).want(t, 200, "")
			for _, path := range []string{"/auth/account/passkeys/options", "/auth/account/passkeys", "/auth/account/confirm/options", "/auth/account/confirm", "/auth/account/password"} {
				b.post(path, map[string]any{"name": "x", "password": adaPassword, "credential": map[string]any{}}).want(t, 403, "unsettled")
			}
			b.do("PATCH", "/auth/account/passkeys/"+list[0].ID, "application/json", `{"name":"x"}`).want(t, 403, "unsettled")
			b.delete("/auth/account/passkeys/"+list[0].ID).want(t, 403, "unsettled")
		})
	}
	if left, err := s.db.Passkeys().List(t.Context(), s.user.ID, 10); err != nil || len(left) != 1 || left[0].Name != list[0].Name {
		t.Errorf("left %v, %v", left, err)
	}
}
