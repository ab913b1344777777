package uitest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// askForFactor asks for the step of plugins/totp as the account screen does, and goes where it
// begins, which shows a form.
func (b *tab) askForFactor(r *real, form string) {
	b.T.Helper()
	got := browsertest.Eval[string](b.Tab, `fetch('/auth/account/steps/totp', {method: 'POST'}).then(async (r) => {
		const { next } = await r.json();
		if (r.ok) location.assign(next.payload.target);
		return r.status + ' ' + next?.payload.target;
	})`)
	if got != "200 /second-factor" {
		b.T.Fatalf("the step begins with %s", got)
	}
	b.At(r.base + "/second-factor")
	b.Ready(form)
}

// Somebody who has signed in adds an app, makes new recovery codes and turns the factor off,
// and the pages that they are entitled to stay open.
func TestRealFactorFromTheAccount(t *testing.T) {
	source := needAxe(t)
	build(t)
	r := newRealWith(t, "", strings.Replace(factorBlocks(t), `issuer = "Fernweh"`, `issuer = "Fernweh"
    enrol  = "offered"`, 1), "second_factor TEXT")
	r.shopAssets()
	b := open(t)
	b.Visit(r.base + "/login")
	b.signIn(password)
	b.Ready("#enrol")
	b.give("#enrol", codeAt(t, strings.ReplaceAll(b.Text("#secret"), " ", ""), time.Now()))
	b.Ready("#codes")
	b.Click("#codes .primary")
	b.At(r.base + "/dashboard")

	b.askForFactor(r, "#manage")
	b.looksOfStep(source, "factor-manage")
	b.Click("#manage-add")
	b.Ready("#enrol")
	second := strings.ReplaceAll(b.Text("#secret"), " ", "")
	b.give("#enrol", "000000")
	b.See("That code did not work")
	b.give("#enrol", codeAt(t, second, time.Now()))
	b.At(r.base + "/login?account")

	b.Visit(r.base + "/dashboard")
	b.askForFactor(r, "#manage")
	if apps, left := b.Text("#apps"), b.Text("#left"); apps != "2" || left != "10" {
		t.Errorf("the page shows %s apps and %s codes", apps, left)
	}
	b.Click("#manage [value=codes]")
	b.Ready("#codes")
	recovery := strings.Fields(b.Text("#recovery"))
	b.Visit(r.base + "/dashboard") // the step does not hold anybody
	b.At(r.base + "/dashboard")
	b.Visit(r.base + "/second-factor")
	b.Ready("#codes")
	b.See("The codes were shown before")
	b.Click("#codes .primary")
	b.At(r.base + "/login?account")

	// The code was given with the sign-in, not with this proof.
	if got := browsertest.Eval[int](b.Tab, fmt.Sprintf(`fetch('/auth/account/confirm', {
		method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({password: %q}),
	}).then((r) => r.status)`, password)); got != 204 {
		t.Fatalf("to confirm is answered with %d", got)
	}
	b.askForFactor(r, "#code")
	if !browsertest.Eval[bool](b.Tab, `document.querySelector('#then').hidden`) {
		t.Error("the page offers changes before the code")
	}
	b.give("#code", recovery[1])
	b.Ready("#manage")
	if left := b.Text("#left"); left != "9" {
		t.Errorf("%s codes are left", left)
	}

	other := open(t)
	other.toCode(r)
	other.give("#code", codeAt(t, second, time.Now().Add(30*time.Second)))
	other.At(r.base + "/dashboard")

	last := open(t)
	last.Language("de-DE")
	last.toCode(r)
	last.give("#code", recovery[0])
	last.At(r.base + "/dashboard")
	last.askForFactor(r, "#manage")
	last.looksOfStep(source, "factor-manage-de")
	last.Click("#manage-remove summary")
	last.Click("#manage-remove button")
	last.At(r.base + "/login?account")

	again := open(t)
	again.Visit(r.base + "/login")
	again.signIn(password)
	again.Ready("#enrol") // which is offered now
}
