package uitest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// Nothing that is said moves the card: not two empty fields, which need no summary, and
// not a wrong password. The address goes along to where a link is asked for, and back.
func TestTheCardStaysWhereItIs(t *testing.T) {
	h := newHost(t)
	h.set("login_field", "email")
	h.answer("POST /auth/login", says(422, fault("credentials_do_not_match", "login")))
	b := open(t)
	b.Visit(h.URL + "/login")
	b.Ready("#login")
	browsertest.Eval[any](b.Tab, `window.shift = 0; new PerformanceObserver((list) =>
		list.getEntries().forEach((e) => (window.shift += e.hadRecentInput ? 0 : e.value))).observe({ type: 'layout-shift', buffered: true }); null`)
	edge := func() float64 {
		return browsertest.Eval[float64](b.Tab, `document.querySelector('.card').getBoundingClientRect().top`)
	}
	before := edge()
	submit(b)
	b.Focused("#login[aria-invalid=true]")
	if browsertest.Eval[bool](b.Tab, `document.querySelector('.strip') !== null`) {
		t.Error("two empty fields have a summary")
	}
	credentials(b)
	b.See("Email or password is wrong.")
	if after := edge(); after != before {
		t.Errorf("the upper edge of the card went from %v to %v", before, after)
	}
	if shift := browsertest.Eval[float64](b.Tab, `window.shift`); shift != 0 {
		t.Errorf("a layout shift of %v", shift)
	}
	if got := b.Text("label[for=login]"); got != "Email" {
		t.Errorf("the field for the login is called %q where only addresses count", got)
	}
	b.Click("#forgot")
	b.Wait(`document.querySelector('#email')?.value === 'ada@example.com'`)
	b.Fill("#email", "grace@example.com")
	b.Click(".back")
	b.Wait(`document.querySelector('#login')?.value === 'grace@example.com'`)
}

// The page says why somebody is there who did not ask for it, and why nothing happens.
func TestReasonsAreGiven(t *testing.T) {
	h := newHost(t)
	h.set("session", "ended")
	b := open(t)
	b.Visit(h.URL + "/login")
	b.See("Your session has ended")
	b.Visit(h.URL + "/login#/sign-out")
	b.See("You are signed out")
	if browsertest.Eval[bool](b.Tab, `document.querySelector('form') !== null`) {
		t.Error("a guest is asked whether to stay signed in")
	}
	browsertest.Call(b.Tab, emulation.SetDocumentCookieDisabled, emulation.SetDocumentCookieDisabledParams{Disabled: true})
	b.Visit(h.URL + "/login?again")
	b.See("loses cookies")
}

// The sign-in shows that the browser has lost the cookie: after the redirect back, and before a step is filled in. It shows
// nothing to a person who saw a page in between and signed out there.
func TestLostCookie(t *testing.T) {
	const lost = "blocks or loses cookies"
	h := newHost(t)
	h.set("session", "guest")
	h.answer("GET /guarded", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/login?redirect=/guarded", http.StatusFound)
	})
	h.answer("POST /auth/login", says(200, loggedIn(redirectTo("/guarded"))))
	b := open(t)
	b.Visit(h.URL + "/login")
	b.Ready("#login")
	credentials(b)
	b.At(h.URL + "/login?redirect=/guarded")
	b.See(lost)
	b.Wait(`document.querySelector('[role=alert]').textContent.includes('` + lost + `')`)

	h.answer("GET /auth/intents/current", says(401, fault("unauthenticated", "")))
	h.answer("POST /auth/login", says(200, loggedIn(orgSetup())))
	b.Visit(h.URL + "/login?again")
	b.Wait(`document.querySelector('#login') && !document.querySelector('.strip')`)
	credentials(b)
	b.See(lost)

	h.answer("POST /auth/login", says(200, loggedIn(redirectTo("/dashboard"))))
	credentials(b)
	b.At(h.URL + "/dashboard")
	browsertest.Eval[any](b.Tab, `location.assign('/login'); null`)
	b.Ready("#login")
	if strings.Contains(b.Text(".card"), lost) {
		t.Error("somebody who left a page of the application is told that the cookie is lost")
	}
}

// What a screen was doing is not said of the next one.
func TestStatusIsOfThisScreen(t *testing.T) {
	h := newHost(t)
	h.answer("POST /auth/login", says(200, loggedIn(orgSetup())))
	h.answer("POST /auth/forgot-password", says(200, obj{"message": "reset_link_sent"}))
	b := open(t)
	b.Visit(h.URL + "/login#/forgot-password")
	b.Ready("#email")
	b.Fill("#email", "ada@example.com")
	submit(b)
	b.See("Check your email")
	b.Wait(`document.querySelector('[role=status]').textContent.includes('a link to choose a new password')`)
	b.Visit(h.URL + "/login?again")
	b.Ready("#login")
	credentials(b)
	b.Ready("#org_name")
	if said := b.Text("[role=status]"); said != "" {
		t.Errorf("at the next screen the status says %q", said)
	}
}

// A fault of a field is on the page once: at the field. The summary names the fields.
func TestErrorsStandOnce(t *testing.T) {
	h := newHost(t)
	h.set("next", orgSetup())
	h.answer("POST /auth/intents/org-setup", says(200, satisfaction("needs_more_input",
		obj{"fields": obj{"org_name": []string{"This name is taken."}}, "message": "Nearly there."}, nil, nil)))
	b := open(t)
	b.Visit(h.URL + "/login")
	b.Ready("#org_name")
	organisation(b)
	b.See("Nearly there.")
	if n := strings.Count(b.Text(".card"), "This name is taken."); n != 1 {
		t.Errorf("the fault of the name stands %d times on the page", n)
	}
	if got := b.Text(`.strip a[href="#org_name"]`); got != "Name of the organisation" {
		t.Errorf("the summary leads to the field as %q", got)
	}
}

// A target that answers 204 leaves the browser where it is: after a while the page says
// so, and offers to go there again.
func TestTargetThatShowsNothing(t *testing.T) {
	h := newHost(t)
	h.answer("POST /auth/login", says(200, loggedIn(redirectTo("/nothing"))))
	h.answer("GET /nothing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	b := open(t)
	b.Visit(h.URL + "/login")
	b.Ready("#login")
	browsertest.Eval[any](b.Tab, `(() => { const later = setTimeout; window.setTimeout = (f, ms) => later(f, ms / 50); })(); null`)
	credentials(b)
	b.See("has not opened its page yet")
	b.Focused("h1")
	h.answer("GET /nothing", nil)
	b.Click("button.primary")
	b.At(h.URL + "/nothing")
}

// The hint about the length counts while somebody types.
func TestLengthCounts(t *testing.T) {
	h := newHost(t)
	b := open(t)
	b.Visit(h.URL + "/login#/set-password/f00ba7/ada%40example.com")
	b.Ready("#password")
	b.Press("sieben!")
	b.See("7 of 12")
	b.Press("zwölf")
	b.See("Long enough")
}

// Without JavaScript the page says what to do, in its look and in one language.
func TestWithoutJavaScript(t *testing.T) {
	h := newHost(t)
	b := open(t)
	browsertest.Call(b.Tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.Visit(h.URL + "/login?lang=de")
	b.Wait(`document.readyState === 'complete'`)
	b.Picture("no-script")
	got := browsertest.Eval[string](b.Tab, `[...document.querySelectorAll('.card')].filter((c) => c.checkVisibility()).map((c) => c.lang + ' ' + c.querySelector('p').textContent).join()`)
	if want := "de Für die Anmeldung wird JavaScript benötigt. Bitte schalten Sie es ein und laden Sie die Seite neu."; got != want {
		t.Errorf("the page shows %q, want %q", got, want)
	}
}
