package uitest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// signIn fills in the sign-in screen.
func (b *tab) signIn(secret string) {
	b.T.Helper()
	b.Ready("#login")
	b.Fill("#login", person)
	b.Fill("#password", secret)
	submit(b)
}

// A stranger comes to a guarded page with a fragment, signs in, passes the
// plugin's step in spite of a reload and an ended session, and lands there.
func TestRealOrganisation(t *testing.T) {
	b := open(t)
	r := newReal(t, "")
	b.Visit(r.base + "/dashboard#/orders/17")
	b.At(r.base + "/login#/orders/17")
	b.signIn(password)
	b.See("Welcome, Ada Lovelace")
	b.Visit(r.base + "/dashboard") // not done yet: back to the step
	b.See("Welcome, Ada Lovelace")

	b.Visit(r.base + "/login#/orders/17")
	b.Ready("#org_name")
	organisationNamed(b, "&&&")
	b.See("must have at least one letter")
	b.Choose("#company_size", "enterprise")
	b.Fill("#org_name", "Analytical Engines Ltd")
	b.Fill("#billing_email", " ")
	submit(b)
	b.See("we need an address for invoices")
	b.Focused("#billing_email[aria-invalid=true]")
	b.Fill("#billing_email", "bills@example.com")

	r.command("", "session", "revoke", "--email", person)
	submit(b)
	b.See("Your session has ended")
	b.signIn(password)
	b.Ready("#org_name")
	if got := browsertest.Eval[string](b.Tab, `document.querySelector('#org_name').value`); got != "Analytical Engines Ltd" {
		t.Errorf("what was typed is lost: %q", got)
	}
	submit(b)
	b.At(r.base + "/dashboard#/orders/17")

	b.Visit(r.base + "/login")
	b.At(r.base + "/dashboard") // signed in and settled
	for fragment, want := range map[string]string{"#/org-setup": "", "#/forgot-password": "", "#/": "", "#/orders/9": "#/orders/9"} {
		b.slowly(r)
		b.Visit(r.base + "/login" + fragment)
		b.At(r.base + "/dashboard" + want)
	}
	b.Visit(r.base + "/login#/sign-out")
	b.Ready(`form[action="/logout"]`)
	submit(b)
	b.At(r.base + "/")
	b.Visit(r.base + "/dashboard")
	b.Ready("#login")

	b.Click("#forgot")
	b.Ready("#email")
	b.Click(".back")
	b.signIn(password)
	b.At(r.base + "/dashboard")
	b.slowly(r)
	b.Do(chromedp.NavigateBack()) // to the screen before the sign-in
	b.At(r.base + "/dashboard")
}

// slowly lets the host forget how often it led the tab on, as if time had passed.
func (b *tab) slowly(r *real) {
	b.T.Helper()
	browsertest.Call(b.Tab, network.DeleteCookies, network.DeleteCookiesParams{Name: "vestibule_hops", URL: r.base})
}

func TestRealPasswordReset(t *testing.T) {
	b := open(t)
	r := newReal(t, "")
	b.Visit(r.base + "/login?lang=de")
	b.Ready("#login")
	b.Click("#forgot")
	b.Ready("#email")
	b.Fill("#email", person)
	submit(b)
	b.See("Wenn es ein Konto für " + person + " gibt")
	link := r.sink.link(t)

	b.Visit(r.base + "/login")
	b.signIn(password) // the link works while signed in, too
	b.Ready("#org_name")
	b.Visit(link)
	b.Ready("#password_confirmation")
	b.At(r.base + "/login#/set-password")
	passwords("password1234", "password1234")(b)
	b.See("easy to guess")
	passwords("a brand new sentence", "a brand new sentence")(b)
	b.See("Your password is changed")
	b.signIn(password)
	b.See("password is wrong")
	b.signIn("a brand new sentence")
	b.Ready("#org_name")

	dead := func(words string) { // in spite of the open session
		b.T.Helper()
		b.See(words)
		b.At(r.base + "/login#/set-password")
		b.Ready("#login")
	}
	b.Visit(link)
	dead("has been used, has expired or is incomplete")
	b.Click(`.strip a`)
	b.Ready("#email")
	b.Visit(r.base + "/login")
	b.Ready("#org_name")
	organisationNamed(b, "Analytical Engines")
	b.At(r.base + "/dashboard") // settled now
	for _, broken := range []string{link, strings.Split(link, "?")[0], r.base + "/password/reset/x?email=" + person} {
		b.Visit(broken)
		dead("has been used, has expired or is incomplete")
	}
	b.Language("de-DE")
	b.Visit(link)
	dead("wurde schon verwendet, ist abgelaufen oder unvollständig")
	b.Visit(r.base + "/login")
	b.At(r.base + "/dashboard")
}

// Somebody who was invited sets a password by the mailed link, in a browser where somebody
// else is signed in, and signs in with it.
func TestRealInvitation(t *testing.T) {
	const invited = "eve@example.com"
	b := open(t)
	r := newReal(t, "")
	b.Visit(r.base + "/login")
	b.signIn(password)
	b.Ready("#org_name")
	r.command("", "user", "add", "--email", invited, "--name", "Eve", "--invite")
	link := r.sink.link(t)
	b.Visit(link)
	b.Ready("#password_confirmation")
	b.At(r.base + "/login?invited#/set-password")
	b.See("Welcome to")
	b.See("Choose a password for your account")
	if got := browsertest.Eval[string](b.Tab, `document.querySelector('#email').value`); got != invited {
		t.Errorf("the account shown is %q", got)
	}
	passwords("password1234", "password1234")(b)
	b.See("easy to guess")
	passwords("a brand new sentence", "a brand new sentence")(b)
	b.See("Your password is set")

	b.Visit(link)
	b.See("has been used, has expired or is incomplete")
	b.At(r.base + "/login#/set-password")
	r.command("", "session", "revoke", "--all")
	b.Visit(r.base + "/login")
	b.Ready("#login")
	b.Fill("#login", invited)
	b.Fill("#password", "a brand new sentence")
	submit(b)
	b.See("Welcome, Eve")
}

// The whole way by keyboard, in German, in the dark, on 320 pixels.
func TestRealKeyboard(t *testing.T) {
	b := open(t)
	r := newReal(t, "")
	b.Size(narrow, 640)
	b.Media("dark")
	b.Visit(r.base + "/login?lang=de#/orders/17")
	b.Focused("#login")
	b.Press(person, kb.Tab, "wrong", kb.Enter)
	b.See("Passwort ist falsch")
	b.Focused("#password")
	b.Press(password, kb.Enter) // over what was wrong
	b.Focused("h1")
	b.See("Willkommen, Ada Lovelace")
	b.Press(kb.Tab, " ", kb.Tab, "Analytische Maschinen", kb.Tab, "K", kb.Tab, "A", kb.Tab, kb.Tab, " ")
	b.checks("de", "org setup by keyboard")
	b.Press(kb.Enter)
	b.At(r.base + "/dashboard#/orders/17")
}

func TestRealThrottle(t *testing.T) {
	b := open(t)
	r := newReal(t, "")
	b.Visit(r.base + "/login")
	for range 5 {
		b.signIn("wrong")
		b.Focused("#password") // rather than the button, once the answer is there
		b.See("password is wrong")
	}
	b.signIn("wrong")
	b.Ready(".countdown")
	b.Wait(`!document.querySelector('.countdown')`)
	b.signIn(password)
	b.Ready("#org_name")
}

// Two lines of .ui5-sources.hcl, and nothing else.
func TestRealReplacement(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join("..", "..", "examples", "own-login"))
	if err != nil {
		t.Fatal(err)
	}
	b := open(t)
	r := newReal(t, fmt.Sprintf("source \"auth\" { dir = %q }\n", dir))
	if out := r.command("", "check"); strings.Contains(out, "error") {
		t.Errorf("check says:\n%s", out)
	}
	b.Visit(r.base + "/dashboard#/orders/17")
	b.See("Good to see you.")
	b.Fill("#login", person)
	b.Fill("#password", password)
	b.Click("#sign-in form button")
	b.See("One thing, Ada Lovelace.")
	b.Choose("#legal_form", "2")
	b.Fill("#org_name", "Analytical Engines")
	b.Choose("#company_size", "small")
	b.Choose("#function", "architect")
	b.Click("#org-setup button")
	b.At(r.base + "/dashboard#/orders/17")
}
