package uitest

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// Through the real host: an account by password, a passkey made there, signed out, signed in by it at the button and by
// autofill, and ended again, of which the browser learns.
func TestRealPasskeys(t *testing.T) {
	b := open(t)
	r := newRealWith(t, "", "")
	r.base = strings.Replace(r.base, "127.0.0.1", "localhost", 1) // browsers have no passkeys on an address
	b.Visit("about:blank")
	key := authenticator(b)
	b.Visit(r.base + "/login?account")
	b.signIn(password)
	b.At(r.base + "/login?account")
	b.See("You have no passkey yet.")
	b.Click("#passkeys-add")
	b.See("Your passkey is created.")
	b.Click("[id^=passkeys-rename]")
	b.Ready("#name")
	b.Fill("#name", "My laptop")
	b.Click("dialog " + pressed)
	b.See("The new name is saved.")
	b.See("My laptop")

	out := func() {
		b.T.Helper()
		b.Visit(r.base + "/login#/sign-out")
		b.Ready(`form[action="/logout"]`)
		submit(b)
		b.At(r.base + "/")
	}
	present := func(on bool) {
		b.T.Helper()
		browsertest.Call(b.Tab, webauthn.SetAutomaticPresenceSimulation, webauthn.SetAutomaticPresenceSimulationParams{AuthenticatorID: key, Enabled: on})
	}
	present(false) // autofill is a person's choice, which the authenticator would make at once
	out()
	b.Visit(r.base + "/dashboard#/orders/17")
	b.Ready("#passkey")
	b.Click("#passkey")
	present(true) // not before the click, which autofill would then be ahead of
	b.At(r.base + "/dashboard#/orders/17")
	out()
	b.Visit(r.base + "/dashboard#/orders/18") // and nothing is clicked
	b.At(r.base + "/dashboard#/orders/18")

	b.Visit(r.base + "/login?account")
	b.Click("[id^=passkeys-remove]")
	b.Ready("dialog " + pressed)
	b.Click("dialog " + pressed)
	b.See("The passkey is removed.")
	b.See("You have no passkey yet.")
}
