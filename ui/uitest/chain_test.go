package uitest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newChain starts the real binary with three dispensers, in this order.
func newChain(t *testing.T, order []string) *real {
	t.Helper()
	build(t)
	r := newRealWith(t, "", factorBlocks(t)+fmt.Sprintf(`
auth {
  dispensers = ["%s"]
}
plugin "terms" {
  command    = [%q]
  roles      = ["dispenser"]
  user_read  = ["terms_version"]
  user_write = ["terms_version"]
  config {
    version = "2026-11"
    page    = "/accept-terms"
  }
}
route "accept-terms" {
  path  = "/accept-terms"
  file  = %q
  guard = "session"
}
plugin "orgs" {
  command    = [%q]
  roles      = ["dispenser", "org_setup"]
  user_read  = ["partner_id"]
  user_write = ["partner_id"]
}
`, strings.Join(order, `", "`), filepath.Join(built.dir, "terms"), shopPage(t, "accept-terms.html"), filepath.Join(built.dir, "orgsetup")),
		"second_factor TEXT", "terms_version TEXT", "partner_id INTEGER")
	r.shopAssets()
	return r
}

// A person takes the steps of three plugins, one after the other, in every order. Whatever
// address is typed in between, the person gets back to the step, also that of a step which is not due yet.
// Afterwards only the second factor is asked for again.
func TestRealDispensersInEveryOrder(t *testing.T) {
	for _, order := range [][]string{
		{"totp", "terms", "orgs"}, {"totp", "orgs", "terms"}, {"terms", "totp", "orgs"}, {"terms", "orgs", "totp"}, {"orgs", "totp", "terms"}, {"orgs", "terms", "totp"},
	} {
		t.Run(strings.Join(order, " "), func(t *testing.T) {
			b := open(t)
			r := newChain(t, order)
			b.Visit(r.base + "/dashboard")
			b.signIn(password)
			var secret string
			for _, name := range order {
				b.atStep(r, name)
				for _, typed := range []string{"/dashboard", "/second-factor", "/accept-terms"} {
					b.Visit(r.base + typed)
					b.atStep(r, name)
				}
				switch name {
				case "totp":
					secret = strings.ReplaceAll(b.Text("#secret"), " ", "")
					b.give("#enrol", codeAt(t, secret, time.Now()))
					b.Ready("#codes")
					b.Click("#codes .primary")
				case "terms":
					b.Click("#accept .primary")
				case "orgs":
					organisationNamed(b, "Analytical Engines")
				}
			}
			b.At(r.base + "/dashboard")

			other := open(t)
			other.toCode(r)
			other.Visit(r.base + "/dashboard")
			other.At(r.base + "/second-factor")
			other.Ready("#code")
			other.give("#code", codeAt(t, secret, time.Now().Add(30*time.Second)))
			other.At(r.base + "/dashboard")
		})
	}
}

// atStep waits until the step of a plugin is before the person.
func (b *tab) atStep(r *real, name string) {
	b.T.Helper()
	switch name {
	case "totp":
		b.At(r.base + "/second-factor")
		b.Ready("#enrol")
		b.Wait(`document.querySelector('#secret').textContent`)
	case "terms":
		b.At(r.base + "/accept-terms")
		b.Ready("#accept .primary:not([disabled])")
	case "orgs":
		b.Ready("#org_name")
	}
}
