package uitest

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// examplePath returns the absolute path of a file of an example.
func examplePath(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "examples", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// verifyBlocks are examples/verify-email, its page and its mails.
func verifyBlocks(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf(`
mail {
  templates = %q
}
plugin "verify-email" {
  command    = [%q]
  roles      = ["dispenser"]
  mails      = ["verify-email"]
  user_read  = ["email_verified_at"]
  user_write = ["email_verified_at"]
  config {
    secret = "0123456789abcdef0123456789abcdef"
  }
}
route "verify-email" {
  path = "/verify-email"
  file = %q
}
`, examplePath(t, "verify-email/mails"), filepath.Join(built.dir, "verify-email"), examplePath(t, "verify-email/verify-email.html"))
}

// A person opens the link of the mail in the browser that waits for it, in a browser of another
// language without a session, and once more afterwards.
func TestRealVerifyEmail(t *testing.T) {
	source := needAxe(t)
	build(t)
	r := newRealWith(t, "", verifyBlocks(t))
	b := open(t)
	b.Visit(r.base + "/dashboard")
	b.signIn(password)
	b.At(r.base + "/verify-email")
	b.looksOfStep(source, "verify-email")
	link := r.sink.linkTo(t, "/verify-email")
	b.Visit(r.base + "/dashboard")
	b.At(r.base + "/verify-email")
	b.Click("#again")
	b.See("The mail is on its way.")
	b.Visit(link[:len(link)-1] + "_")
	b.See("This link is not valid any more.")

	german := open(t)
	german.Language("de-DE")
	german.Visit(r.base + "/dashboard")
	german.signIn(password)
	german.See("Bestätigen Sie Ihre Adresse")
	german.looksOfStep(source, "verify-email-de")
	german.Click("#again")
	german.See("Die Mail ist unterwegs.")
	german.Visit(r.base + "/verify-email?token=x")
	german.See("Dieser Link gilt nicht mehr.")

	b.Visit(link)
	b.At(r.base + "/dashboard")
	b.Visit(link) // the step is over
	b.At(r.base + "/dashboard")
	german.Visit(r.base + "/login")
	german.At(r.base + "/dashboard")
	b.Quiet()
}

// The link opens the way for somebody who signs in only then.
func TestRealVerifyEmailElsewhere(t *testing.T) {
	build(t)
	r := newRealWith(t, "", verifyBlocks(t))
	b := open(t)
	b.Visit(r.base + "/dashboard")
	b.signIn(password)
	b.At(r.base + "/verify-email")
	other := open(t)
	other.Language("de-DE")
	other.Visit(r.sink.linkTo(t, "/verify-email"))
	other.signIn(password)
	other.At(r.base + "/dashboard")
}

// The page of a step sends the person on where the next step is a form of the front-end app.
func TestRealVerifyEmailThenOrganisation(t *testing.T) {
	build(t)
	r := newRealWith(t, "", verifyBlocks(t)+fmt.Sprintf(`
auth {
  dispensers = ["verify-email", "orgs"]
}
plugin "orgs" {
  command    = [%q]
  roles      = ["dispenser", "org_setup"]
  user_read  = ["partner_id"]
  user_write = ["partner_id"]
}
`, filepath.Join(built.dir, "orgsetup")), "partner_id INTEGER")
	b := open(t)
	b.Visit(r.base + "/dashboard")
	b.signIn(password)
	b.At(r.base + "/verify-email")
	b.Visit(r.sink.linkTo(t, "/verify-email"))
	organisationNamed(b, "Analytical Engines")
	b.At(r.base + "/dashboard")
}

// A person who must set a new password gets the link from the page, sets it, and goes on.
func TestRealMustChangePassword(t *testing.T) {
	source := needAxe(t)
	build(t)
	r := newRealWith(t, "", fmt.Sprintf(`
plugin "must-change-password" {
  command    = [%q]
  roles      = ["dispenser", "listener"]
  user_read  = ["must_change_password"]
  user_write = ["must_change_password"]
}
route "change-password" {
  path = "/change-password"
  file = %q
}
`, filepath.Join(built.dir, "must-change-password"), examplePath(t, "must-change-password/change-password.html")), "must_change_password BOOLEAN DEFAULT 1")
	german := open(t)
	german.Language("de-DE")
	german.Visit(r.base + "/dashboard")
	german.signIn(password)
	german.At(r.base + "/change-password")
	german.looksOfStep(source, "change-password-de")

	b := open(t)
	b.Visit(r.base + "/dashboard")
	b.signIn(password)
	b.At(r.base + "/change-password")
	b.looksOfStep(source, "change-password")
	b.Visit(r.base + "/dashboard")
	b.At(r.base + "/change-password")
	b.Fill("#email", person)
	b.Click("#form button")
	b.See("Look for the mail")
	b.Visit(r.sink.link(t))
	const renewed = "a flock of unladen swallows"
	b.Ready("#password_confirmation")
	passwords(renewed, renewed)(b)
	b.See("Your password is changed")
	b.signIn(renewed)
	b.Wait(`['/dashboard', '/change-password'].includes(location.pathname)`)
	if browsertest.Eval[string](b.Tab, `location.pathname`) == "/change-password" { // the event of the reset may be delivered after this sign-in
		b.Click("a.back")
	}
	b.At(r.base + "/dashboard")
	german.Visit(r.base + "/dashboard") // the reset has ended this session
	german.Ready("#login")
}
