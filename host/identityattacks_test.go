package host_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// A page elsewhere can send any browser to a callback, with an image. That is no failed sign-in of the network, where nobody
// could sign in any more.
func TestForeignCallbacksLockNobodyOut(t *testing.T) {
	f := newProvider()
	s := newSite(t, sqliteStore(t), withIdentity(f, "never", false, func(o *host.Options) { o.Auth.ClientAttempts = 5 }))
	s.signedIn(t).links("company", "ada").leadsTo(t, "/login?account")
	victim := s.browser(t)
	state := victim.leaves("company", "")
	for range 6 {
		victim.returns("company", strings.Repeat("A", 43), "ada").want(t, 400, "identity_state")
		victim.get("/auth/identity/company/callback?a=1&a=2").want(t, 400, "malformed_request")
	}
	victim.returns("company", state, "ada").leadsTo(t, "/dashboard")
	s.browser(t).login(adaEmail, adaPassword, false).want(t, 200, "login_success")
	// A state that was spent has a cost: it counts.
	replay := s.browser(t)
	state = replay.leaves("company", "")
	cookie := replay.cookie("vestibule_identity")
	for range 6 {
		replay.forget(sessionName)
		replay.setCookie("vestibule_identity", cookie)
		replay.returns("company", state, "ada")
	}
	if a := s.browser(t).get("/auth/identity/company"); a.StatusCode != 429 {
		t.Errorf("after five replays: %d", a.StatusCode)
	}
}
