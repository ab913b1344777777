package uitest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
)

// press types keys wherever the focus is.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

func TestKeyboardAlone(t *testing.T) {
	h := newHost(t)
	h.answer("POST /auth/login", says(422, fault("credentials_do_not_match", "login")))
	b := open(t)
	b.visit(h.URL + "/login")
	b.focused("#login")
	b.press("ada@example.com", kb.Tab)
	b.focused("#password")
	b.press("wrong", kb.Tab)
	b.focused(".reveal[aria-pressed=false]")
	b.press(" ")
	b.focused(".reveal[aria-pressed=true]")
	b.press(kb.Tab)
	b.focused("#remember")
	b.press(" ", kb.Tab)
	b.focused("#forgot")
	b.press(kb.Tab)
	b.focused("button[type=submit]")
	b.press(kb.Enter)
	b.focused("#login[aria-invalid=true]") // the first field at fault
	b.wait(`document.querySelector('#password').type === 'password'`)
	b.press(kb.Tab)
	b.focused("#password")

	h.answer("POST /auth/login", says(200, loggedIn(orgSetup())))
	b.press(kb.Enter) // from within a field
	b.focused("h1")
	b.press(kb.Tab)
	b.focused("input[type=radio]")
	b.press(" ", kb.ArrowDown)
	b.focused("#legal_form-2:checked")
	b.press(kb.Tab, "Analytical Engines", kb.Tab)
	b.focused("#company_size")
	b.press("G", kb.Tab)
	b.focused("#function")
	b.press("A", kb.Tab)
	b.focused("#billing_email")
	b.press(kb.Tab)
	b.focused("#marketing_consent")
	h.answer("POST /auth/intents/org-setup", says(200, satisfaction("satisfied", nil, nil, redirectTo("/dashboard"))))
	b.press(kb.Tab, kb.Enter)
	b.at(h.URL + "/dashboard")
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
	b.visit(h.URL + "/login")
	b.ready("#org_name")
	submit(b)
	b.focused("#legal_form-1")
	b.wait(`document.querySelector('[role=alert]').textContent.startsWith('Please check 4 entries: You act as: Please fill this in.')`)
	b.click(`.strip a[href="#org_name"]`)
	b.focused("#org_name")
	b.at(h.URL + "/login#/org-setup")
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
			b.visit(h.URL + "/login" + c.hash)
			b.ready("form")
			got := eval[map[string]string](b, `Object.fromEntries([...document.querySelectorAll('input')]
				.filter((i) => !['radio', 'checkbox'].includes(i.type)).map((i) => [i.name, i.autocomplete]))`)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("autocomplete (-want +got):\n%s", d)
			}
			prevented := eval[bool](b, `[...document.querySelectorAll('input')].some((i) =>
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
	b.visit(h.URL + "/login")
	b.ready("#login")
	credentials(b)
	b.ready(".busy")
	submit(b)
	b.press(kb.Enter)
	close(release)
	b.at(h.URL + "/dashboard")
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
	b.visit(h.URL + "/login")
	b.ready(".app-name")
	if got := b.text("header"); got != `<b>Acme & "Sons"</b>` {
		t.Errorf("in place of the logo: %q", got)
	}
	got := eval[[]string](b, `[...document.querySelectorAll('footer a')].map((a) => a.textContent + ' ' + a.href)`)
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
				b.visit(h.URL + "/login?lang=" + locale)
				b.ready("#login")
				if got := eval[string](b, `document.documentElement.lang + ' ' + document.querySelector('h1').textContent`); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		}
	}
}

// The first screen takes at most five requests, all GET, all of the own origin.
func TestFirstScreenRequests(t *testing.T) {
	h := newHost(t)
	b := open(t)
	b.visit(h.URL + "/login?lang=de")
	b.ready("#login")
	b.wait(`document.readyState === 'complete' && document.querySelector('.logo').complete`)
	other := eval[[]string](b, `performance.getEntriesByType('resource').map((e) => e.name).filter((n) => !n.startsWith(location.origin))`)
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
