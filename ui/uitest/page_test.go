package uitest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

func TestKeyboardAlone(t *testing.T) {
	h := newHost(t)
	h.answer("POST /auth/login", says(422, fault("credentials_do_not_match", "login")))
	b := open(t)
	b.Visit(h.URL + "/login")
	b.Focused("#login")
	b.Press("ada@example.com", kb.Tab)
	b.Focused("#password")
	b.Press("wrong", kb.Tab)
	b.Focused(".reveal[aria-pressed=false]")
	b.Press(" ")
	b.Focused(".reveal[aria-pressed=true]")
	b.Press(kb.Tab)
	b.Focused("#remember")
	b.Press(" ", kb.Tab)
	b.Focused("#forgot")
	b.Press(kb.Tab)
	b.Focused("button[type=submit]")
	b.Press(kb.Enter)
	b.Focused("#password[type=password]") // which may be typed at once: it is selected
	b.Wait(`(({ selectionStart, selectionEnd }) => selectionStart === 0 && selectionEnd === 5)(document.querySelector('#password'))`)
	b.Wait(`document.querySelector('#login').value === 'ada@example.com' && !document.querySelector('[aria-invalid]')`)

	h.answer("POST /auth/login", says(200, loggedIn(orgSetup())))
	b.Press(kb.Enter) // from within a field
	b.Focused("h1")
	b.Press(kb.Tab)
	b.Focused("input[type=radio]")
	b.Press(" ", kb.ArrowDown)
	b.Focused("#legal_form-2:checked")
	b.Press(kb.Tab, "Analytical Engines", kb.Tab)
	b.Focused("#company_size")
	b.Press("G", kb.Tab)
	b.Focused("#function")
	b.Press("A", kb.Tab)
	b.Focused("#billing_email")
	b.Press(kb.Tab)
	b.Focused("#marketing_consent")
	h.answer("POST /auth/intents/org-setup", says(200, satisfaction("satisfied", nil, nil, redirectTo("/dashboard"))))
	b.Press(kb.Tab, kb.Enter)
	b.At(h.URL + "/dashboard")
	want := map[string]any{
		"legal_form": 2.0, "org_name": "Analytical Engines", "company_size": "growing", "function": "architect", "marketing_consent": false,
	}
	if d := cmp.Diff(want, h.posted("/auth/intents/org-setup")[0]); d != "" {
		t.Errorf("posted (-want +got):\n%s", d)
	}
}

// Errors are tied to their fields, told to screen readers, and linked from a
// summary.
func TestErrorsAreAnnounced(t *testing.T) {
	h := newHost(t)
	h.set("next", orgSetup())
	b := open(t)
	b.Visit(h.URL + "/login")
	b.Ready("#org_name")
	submit(b)
	b.Focused("#legal_form-1")
	b.Wait(`document.querySelector('[role=alert]').textContent === 'Please check 4 entries: You act as, Name of the organisation, Size, Your role'`)
	b.Click(`.strip a[href="#org_name"]`)
	b.Focused("#org_name")
	b.At(h.URL + "/login")
	if n := len(h.posted("/auth/intents/org-setup")); n != 0 {
		t.Errorf("an incomplete form was sent %d times", n)
	}
}

func TestPasswordManagersAreServed(t *testing.T) {
	cases := []struct {
		name, hash string
		next       any
		want       map[string]string
	}{
		{"sign in", "", nil, map[string]string{"login": "username", "password": "current-password"}},
		{"forgot password", "#/forgot-password", nil, map[string]string{"email": "email"}},
		{"set password", "#/set-password/t/a@b.c", nil, map[string]string{
			"email": "username", "password": "new-password", "password_confirmation": "new-password",
		}},
		{"org setup", "", orgSetup(), map[string]string{"org_name": "organization", "billing_email": "email"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t)
			h.set("next", c.next)
			b := open(t)
			b.Visit(h.URL + "/login" + c.hash)
			b.Ready("form")
			got := browsertest.Eval[map[string]string](b.Tab, `Object.fromEntries([...document.querySelectorAll('input')]
				.filter((i) => !['radio', 'checkbox'].includes(i.type)).map((i) => [i.name, i.autocomplete]))`)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("autocomplete (-want +got):\n%s", d)
			}
			prevented := browsertest.Eval[bool](b.Tab, `[...document.querySelectorAll('input')].some((i) =>
				!i.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true })))`)
			if prevented {
				t.Error("paste is kept from a field")
			}
		})
	}
}

func TestSecondClickSendsOnce(t *testing.T) {
	h := newHost(t)
	release := make(chan struct{})
	h.answer("POST /auth/login", func(w http.ResponseWriter, _ *http.Request) {
		<-release
		writeJSON(w, 200, loggedIn(redirectTo("/dashboard")))
	})
	b := open(t)
	b.Visit(h.URL + "/login")
	b.Ready("#login")
	credentials(b)
	b.Ready(".busy")
	submit(b)
	b.Press(kb.Enter)
	close(release)
	b.At(h.URL + "/dashboard")
	if n := len(h.posted("/auth/login")); n != 1 {
		t.Errorf("%d posts, want 1", n)
	}
}

func TestLogoAndFooter(t *testing.T) {
	h := newHost(t)
	h.set("app_name", `<b>Acme & "Sons"</b>`)
	h.set("logo", "/vendor/vestibule/auth/logo-full.svg")
	h.set("routes", obj{"home": "/", "dashboard": nil, "terms": "javascript:alert(1)", "privacy": "https://example.com/privacy", "cookies": nil})
	b := open(t)
	b.Visit(h.URL + "/login")
	b.Ready(".app-name")
	if got := b.Text("header"); got != `<b>Acme & "Sons"</b>` {
		t.Errorf("in place of the logo: %q", got)
	}
	got := browsertest.Eval[[]string](b.Tab, `[...document.querySelectorAll('footer a')].map((a) => a.textContent + ' ' + a.href)`)
	if d := cmp.Diff([]string{"Privacy https://example.com/privacy"}, got); d != "" {
		t.Errorf("footer (-want +got):\n%s", d)
	}
}

func TestLanguages(t *testing.T) {
	for locale, want := range map[string]string{"de": "de Anmelden", "de-AT": "de Anmelden", "en": "en Sign in", "fr": "en Sign in"} {
		for _, inline := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/inline=%v", locale, inline), func(t *testing.T) {
				h := newHost(t)
				h.inline = inline
				b := open(t)
				b.Visit(h.URL + "/login?lang=" + locale)
				b.Ready("#login")
				if got := browsertest.Eval[string](b.Tab, `document.documentElement.lang + ' ' + document.querySelector('h1').textContent`); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		}
	}
}

// A person chooses the language: what was typed, the fragment and the focus stay, a
// reload remembers it, and the host is told with what is posted.
func TestLanguageIsChosen(t *testing.T) {
	h := newHost(t)
	langs := make(chan string, 1)
	h.answer("POST /auth/forgot-password", func(w http.ResponseWriter, r *http.Request) {
		langs <- r.URL.Query().Get("lang")
		writeJSON(w, 200, obj{"message": "reset_link_sent"})
	})
	b := open(t)
	b.Visit(h.URL + "/login#/orders/17")
	b.Ready("#login")
	b.Fill("#login", "ada@example.com")
	b.Click("#language-de")
	b.See("Anmelden")
	b.Focused("#language-de[aria-current]")
	b.At(h.URL + "/login?lang=de#/orders/17")
	b.Click("#forgot")
	b.Wait(`document.querySelector('#email')?.value === 'ada@example.com'`)
	submit(b)
	b.See("Sehen Sie in Ihr Postfach")
	if got := <-langs; got != "de" {
		t.Errorf("the mail is asked for in %q", got)
	}
}

// A wide logo is centred, in the form for the theme, and one without a form for the
// dark stands on a light plate there.
func TestWideLogos(t *testing.T) {
	h := newHost(t)
	wide := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 60"><path d="M0 0h900v60H0z"/></svg>`
	svg := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write([]byte(wide))
	}
	h.answer("GET /assets/ci/logo-full.svg", svg)
	h.answer("GET /assets/ci/logo-full-dark.svg", svg)
	b := open(t)
	b.Media("dark")
	for dark, want := range map[any]string{nil: "/assets/ci/logo-full.svg rgb(245, 246, 247)", "/assets/ci/logo-full-dark.svg": "/assets/ci/logo-full-dark.svg rgba(0, 0, 0, 0)"} {
		h.set("logo_dark", dark)
		for _, width := range []int64{1280, 320} {
			b.Size(width, 900)
			b.Visit(h.URL + "/login")
			b.Wait(`document.querySelector('.logo')?.complete && document.querySelector('.card')`)
			got := browsertest.Eval[string](b.Tab, `(() => {
				const logo = document.querySelector('.logo'), card = document.querySelector('.card').getBoundingClientRect(), box = logo.getBoundingClientRect();
				const off = Math.abs(box.left + box.right - card.left - card.right) / 2;
				return new URL(logo.currentSrc).pathname + ' ' + getComputedStyle(logo).backgroundColor + (off > 1 || box.left < 0 ? ' off by ' + off : '');
			})()`)
			if got != want {
				t.Errorf("%d pixels: %s, want %s", width, got, want)
			}
		}
	}
}

// The first screen takes at most five requests, all GET, all of the own origin.
func TestFirstScreenRequests(t *testing.T) {
	h := newHost(t)
	b := open(t)
	b.Visit(h.URL + "/login?lang=de")
	b.Ready("#login")
	b.Wait(`document.readyState === 'complete' && document.querySelector('.logo').complete`)
	other := browsertest.Eval[[]string](b.Tab, `performance.getEntriesByType('resource').map((e) => e.name).filter((n) => !n.startsWith(location.origin))`)
	requests := h.requested()
	t.Logf("%d requests: %s", len(requests), strings.Join(requests, ", "))
	if len(requests) > 5 || len(other) > 0 {
		t.Errorf("%d requests, %v from elsewhere", len(requests), other)
	}
	for _, r := range requests {
		if !strings.HasPrefix(r, "GET ") {
			t.Errorf("%s before anything was done", r)
		}
	}
}
