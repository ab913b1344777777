package uitest

import (
	"database/sql"
	"path/filepath"
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

// Who signs in by a passkey that the browser fills in is asked what a dispenser wants to know, and lands on the intended page
// with its fragment.
func TestRealPasskeyBeforeAStep(t *testing.T) {
	b := open(t)
	r := newReal(t, "")
	r.base = strings.Replace(r.base, "127.0.0.1", "localhost", 1)
	b.Visit("about:blank")
	authenticator(b)
	b.Visit(r.base + "/login?account")
	b.signIn(password)
	b.Ready("#org_name")
	organisation(b)
	b.At(r.base + "/login?account")
	b.Click("#passkeys-add")
	b.See("Your passkey is created.")
	r.forgetOrganisation()
	b.Visit(r.base + "/login#/sign-out")
	b.Ready(`form[action="/logout"]`)
	submit(b)
	b.At(r.base + "/")

	b.Visit(r.base + "/dashboard#/orders/17")
	b.Ready("#org_name") // nothing was clicked
	organisation(b)
	b.At(r.base + "/dashboard#/orders/17")
}

// forgetOrganisation has the dispenser ask for it once more.
func (r *real) forgetOrganisation() {
	r.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(r.dir, "vestibule.db"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE users SET partner_id = NULL"); err != nil {
		r.t.Fatal(err)
	}
}
