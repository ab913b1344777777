package uitest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// newFactor starts the real binary with plugins/totp and the page of the shop.
func newFactor(t *testing.T) *real {
	t.Helper()
	build(t)
	r := newRealWith(t, "", factorBlocks(t), "second_factor TEXT")
	r.shopAssets()
	return r
}

// shopPage returns the absolute path of a page of the shop.
func shopPage(t *testing.T, name string) string {
	t.Helper()
	page, err := filepath.Abs(filepath.Join("..", "..", "examples", "shop", "site", name))
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// shopAssets copies what the pages of steps need.
func (r *real) shopAssets() {
	r.t.Helper()
	for _, name := range []string{"lang.js", "second-factor.js"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", "shop", "public", "assets", name))
		if err != nil {
			r.t.Fatal(err)
		}
		r.write("public/assets/"+name, string(text))
	}
}

// factorBlocks are plugins/totp and its page.
func factorBlocks(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf(`
plugin "totp" {
  command    = [%q]
  roles      = ["dispenser"]
  user_read  = ["second_factor"]
  user_write = ["second_factor"]
  config {
    key    = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
    page   = "/second-factor"
    issuer = "Fernweh"
  }
}
route "second-factor" {
  path  = "/second-factor"
  file  = %q
  guard = "session"
}
`, filepath.Join(built.dir, "totp"), shopPage(t, "second-factor.html"))
}

// A person sets a second factor up, signs in with a code and with a recovery code,
// each of which counts once, and whatever address is typed in between leads back.
func TestRealSecondFactor(t *testing.T) {
	source := needAxe(t)
	r := newFactor(t)
	b := open(t)
	b.Visit(r.base + "/second-factor") // a guest who asks for the step itself is not led back to it afterwards
	b.signIn(password)
	b.At(r.base + "/second-factor")
	b.Ready("#enrol")
	b.looksOfStep(source, "factor-enrol")
	edge := b.edge("#enrol")
	secret := strings.ReplaceAll(b.Text("#secret"), " ", "")
	b.give("#enrol", "000000")
	b.Wait(`document.querySelector('#enrol .field .fault').textContent.startsWith('That code did not work')`)
	b.Focused("#enrol-field[aria-invalid=true][aria-describedby~=enrol-field-error]")
	if after := b.edge("#enrol"); after != edge {
		t.Errorf("a wrong code moves the card from %v to %v", edge, after)
	}
	b.give("#enrol", codeAt(t, secret, time.Now()))
	b.Ready("#codes")
	b.looksOfStep(source, "factor-codes")
	recovery := strings.Fields(b.Text("#recovery"))
	if len(recovery) != 10 {
		t.Fatalf("the recovery codes are %q", recovery)
	}
	b.Visit(r.base + "/dashboard") // they have not been kept yet
	b.At(r.base + "/second-factor")
	b.See("The codes were shown before")
	b.Click("#codes .primary")
	b.At(r.base + "/dashboard")

	other := open(t)
	other.toCode(r)
	other.looksOfStep(source, "factor-code")
	other.Visit(r.base + "/dashboard")
	other.At(r.base + "/second-factor")
	other.give("#code", "123456")
	other.See("That code did not work")
	code := codeAt(t, secret, time.Now().Add(30*time.Second)) // the next one, which a clock that is ahead shows
	other.give("#code", code)
	other.At(r.base + "/dashboard")

	last := open(t)
	last.Language("de-DE")
	last.toCode(r)
	last.looksOfStep(source, "factor-code-de")
	last.give("#code", code)
	last.See("Dieser Code wurde schon benutzt")
	last.give("#code", strings.ToUpper(recovery[2]))
	last.At(r.base + "/dashboard")

	again := open(t)
	again.toCode(r)
	again.give("#code", recovery[2])
	again.See("That code did not work")
	again.Visit(r.base + "/dashboard")
	again.At(r.base + "/second-factor")
}

// edge returns where an element begins.
func (b *tab) edge(selector string) float64 {
	b.T.Helper()
	return browsertest.Eval[float64](b.Tab, fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().top`, selector))
}

func (b *tab) toCode(r *real) {
	b.T.Helper()
	b.Visit(r.base + "/login")
	b.signIn(password)
	b.At(r.base + "/second-factor")
	b.Ready("#code")
}

func (b *tab) give(form, code string) {
	b.T.Helper()
	b.Fill(form+" input[name=code]", code)
	b.Click(form + " .primary")
}

func codeAt(t *testing.T, secret string, at time.Time) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, at)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// looksOfStep inspects a page of the shop in every look.
func (b *tab) looksOfStep(axe, name string) {
	b.T.Helper()
	for _, l := range looks() {
		b.Size(l.width, l.height)
		b.Media(l.scheme)
		b.axe(axe, name+"."+l.name, l.whole)
		if wide := browsertest.Eval[bool](b.Tab, `document.documentElement.scrollWidth > innerWidth`); wide {
			b.T.Errorf("%s.%s scrolls sideways", name, l.name)
		}
		for _, out := range browsertest.Eval[[]string](b.Tab, `[...document.querySelectorAll('.card *')].filter((el) => el.checkVisibility() &&
			el.getBoundingClientRect().right > el.closest('.card').getBoundingClientRect().right).map((el) => el.textContent.trim())`) {
			b.T.Errorf("%s.%s: %q is wider than its card", name, l.name, out)
		}
		b.PictureOfAll(name + "." + l.name)
	}
	b.Size(1280, 900)
	b.Media("light")
}
