package uitest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// signIn fills in the sign-in screen.
func (b *tab) signIn(secret string) {
	b.t.Helper()
	b.ready("#login")
	b.fill("#login", person)
	b.fill("#password", secret)
	submit(b)
}

// A stranger comes to a guarded page with a fragment, signs in, passes the
// plugin's step in spite of a reload and an ended session, and lands there.
func TestRealOrganisation(t *testing.T) {
	b := open(t)
	r := newReal(t, "")
	b.visit(r.base + "/dashboard#/orders/17")
	b.at(r.base + "/login#/orders/17")
	b.signIn(password)
	b.see("Welcome, Ada Lovelace")
	b.visit(r.base + "/dashboard") // not done yet: back to the step
	b.see("Welcome, Ada Lovelace")

	b.visit(r.base + "/login#/orders/17")
	b.ready("#org_name")
	organisationNamed(b, "123")
	b.see("must have at least one letter")
	b.choose("#company_size", "enterprise")
	b.fill("#org_name", "Analytical Engines Ltd")
	b.fill("#billing_email", " ")
	submit(b)
	b.see("we need an address for invoices")
	b.focused("#billing_email[aria-invalid=true]")
	b.fill("#billing_email", "bills@example.com")

	r.command("", "session", "revoke", "--email", person)
	submit(b)
	b.see("Your session has ended")
	b.signIn(password)
	b.ready("#org_name")
	if got := eval[string](b, `document.querySelector('#org_name').value`); got != "Analytical Engines Ltd" {
		t.Errorf("what was typed is lost: %q", got)
	}
	submit(b)
	b.at(r.base + "/dashboard#/orders/17")

	b.visit(r.base + "/login")
	b.at(r.base + "/dashboard") // signed in and settled
	b.visit(r.base + "/ui/auth/#/sign-out")
	b.ready(`form[action="/logout"]`)
	submit(b)
	b.at(r.base + "/")
	b.visit(r.base + "/dashboard")
	b.ready("#login")
}

func TestRealPasswordReset(t *testing.T) {
	b := open(t)
	r := newReal(t, "")
	b.visit(r.base + "/login?lang=de")
	b.ready("#login")
	b.click("#forgot")
	b.ready("#email")
	b.fill("#email", person)
	submit(b)
	b.see("Wenn es ein Konto für " + person + " gibt")
	link := r.sink.link(t)

	b.visit(r.base + "/login")
	b.signIn(password) // the link works while signed in, too
	b.ready("#org_name")
	b.visit(link)
	b.ready("#password_confirmation")
	b.at(r.base + "/login#/set-password")
	passwords("password1234", "password1234")(b)
	b.see("easy to guess")
	passwords("a brand new sentence", "a brand new sentence")(b)
	b.see("Your password is changed")
	b.signIn(password)
	b.see("do not match")
	b.signIn("a brand new sentence")
	b.ready("#org_name")

	b.visit(link) // spent
	b.ready("#org_name, #login")
}

// The whole way by keyboard, in German, in the dark, on 320 pixels.
func TestRealKeyboard(t *testing.T) {
	b := open(t)
	r := newReal(t, "")
	b.size(320, 640)
	b.media("dark")
	b.visit(r.base + "/login?lang=de#/orders/17")
	b.focused("#login")
	b.press(person, kb.Tab, "wrong", kb.Enter)
	b.see("passen nicht zusammen")
	b.focused("#login")
	b.press(kb.Tab)
	b.focused("#password")
	for range "wrong" {
		b.press(kb.Backspace)
	}
	b.press(password, kb.Enter)
	b.focused("h1")
	b.see("Willkommen, Ada Lovelace")
	b.press(kb.Tab, " ", kb.Tab, "Analytische Maschinen", kb.Tab, "K", kb.Tab, "A", kb.Tab, kb.Tab, " ")
	b.checks("de", "org setup by keyboard")
	b.press(kb.Enter)
	b.at(r.base + "/dashboard#/orders/17")
}

func TestRealThrottle(t *testing.T) {
	b := open(t)
	r := newReal(t, "")
	b.visit(r.base + "/login")
	for range 5 {
		b.signIn("wrong")
		b.wait(`document.querySelector('#login-error').checkVisibility()`)
	}
	b.signIn("wrong")
	b.ready(".countdown")
	b.wait(`!document.querySelector('.countdown')`)
	b.signIn(password)
	b.ready("#org_name")
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
	b.visit(r.base + "/dashboard#/orders/17")
	b.see("Good to see you.")
	b.fill("#login", person)
	b.fill("#password", password)
	b.click("#sign-in button")
	b.see("One thing, Ada Lovelace.")
	b.choose("#legal_form", "2")
	b.fill("#org_name", "Analytical Engines")
	b.choose("#company_size", "small")
	b.choose("#function", "architect")
	b.click("#org-setup button")
	b.at(r.base + "/dashboard#/orders/17")
}
