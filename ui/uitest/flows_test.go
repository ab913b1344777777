package uitest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

// at waits for an address, fragment included.
func (b *tab) at(url string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`location.href === %q`, url))
}

// ready waits for a screen by an element of it.
func (b *tab) ready(selector string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector(%q)?.checkVisibility()`, selector))
}

// focused waits until an element has the focus.
func (b *tab) focused(selector string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.activeElement?.matches(%q)`, selector))
}

func TestSignInGoesToTheTarget(t *testing.T) {
	cases := []struct{ name, fragment, target, want string }{
		{"a path", "", "/dashboard", "/dashboard"},
		{"the fragment that the user came with", "#/orders/17?tab=2", "/dashboard", "/dashboard#/orders/17?tab=2"},
		{"a target with a fragment of its own", "#/orders", "/dashboard#/start", "/dashboard#/start"},
		{"our own fragment is not carried on", "#/", "/dashboard", "/dashboard"},
		{"an absolute address", "#x", "BASE/dashboard?a=1", "/dashboard?a=1#x"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t)
			h.answer("POST /auth/login", says(200, loggedIn(redirectTo(strings.Replace(c.target, "BASE", h.URL, 1)))))
			b := open(t)
			b.visit(h.URL + "/login" + c.fragment)
			b.ready("#login")
			b.click(".tick")
			credentials(b)
			b.at(h.URL + c.want)
			want := []map[string]any{{"login": "ada@example.com", "password": "correct horse", "remember": true}}
			if d := cmp.Diff(want, h.posted("/auth/login")); d != "" {
				t.Errorf("posted (-want +got):\n%s", d)
			}
		})
	}
}

func TestUnsafeTargetsAreRefused(t *testing.T) {
	h := newHost(t)
	b := open(t)
	for _, target := range []string{"javascript:alert(1)", "//evil.example/x", `/\evil.example`, "data:text/html,x", "dashboard"} {
		h.answer("POST /auth/login", says(200, loggedIn(redirectTo(target))))
		b.visit(h.URL + "/login")
		b.ready("#login")
		credentials(b)
		b.see("not safe to open")
		b.at(h.URL + "/login")
	}
}

func TestAnotherStepIsClearlyRefused(t *testing.T) {
	h := newHost(t)
	h.set("next", obj{"kind": "quiz", "version": "1", "payload": obj{}})
	b := open(t)
	b.visit(h.URL + "/login")
	b.see("quiz")
	b.ready(`a[href="#/sign-out"]`)
}

// The organisation loop: more input, an error, then on; the fragment outlives
// it, and a reload on the way too.
func TestOrganisationLoop(t *testing.T) {
	const path = "/auth/intents/org-setup"
	h := newHost(t)
	h.answer("POST /auth/login", func(w http.ResponseWriter, _ *http.Request) {
		h.set("next", orgSetup())
		writeJSON(w, 200, loggedIn(orgSetup()))
	})
	step := obj{"fields": obj{"org_name": []string{"Taken."}, "vat_id": []string{"Please send us your VAT number."}}, "message": "Nearly."}
	h.answer("POST "+path, says(200, satisfaction("needs_more_input", step, nil, nil)))
	b := open(t)
	b.visit(h.URL + "/login#/orders/17")
	b.ready("#login")
	credentials(b)
	b.see("Welcome, Ada Lovelace")
	b.at(h.URL + "/login#/org-setup")
	b.do(chromedp.Navigate("about:blank"), chromedp.NavigateBack())
	b.see("Welcome, Ada Lovelace")

	organisation(b)
	b.see("Nearly.")
	b.see("Please send us your VAT number.")
	b.focused("#org_name[aria-invalid=true][aria-describedby~=org_name-error]")

	h.answer("POST "+path, says(200, satisfaction("error", nil, []string{"The directory said no."}, nil)))
	submit(b)
	b.see("The directory said no.")
	h.answer("POST "+path, says(200, satisfaction("satisfied", nil, nil, redirectTo("/dashboard"))))
	submit(b)
	b.at(h.URL + "/dashboard#/orders/17")
	sent := h.posted(path)
	want := map[string]any{
		"legal_form": 2.0, "org_name": "Analytical Engines Ltd", "company_size": "small",
		"function": "architect", "billing_email": "bills@example.com", "marketing_consent": true,
	}
	if d := cmp.Diff(want, sent[0]); d != "" || len(sent) != 3 {
		t.Errorf("%d posts, the first (-want +got):\n%s", len(sent), d)
	}
}

func TestOptionalFieldsAreLeftOut(t *testing.T) {
	const path = "/auth/intents/org-setup"
	h := newHost(t)
	h.set("next", orgSetup())
	h.answer("POST "+path, says(200, satisfaction("satisfied", nil, nil, redirectTo("/dashboard"))))
	b := open(t)
	b.visit(h.URL + "/login")
	b.ready("#org_name")
	b.click("label:has(#legal_form-1)")
	b.fill("#org_name", "Ada")
	b.choose("#company_size", "solo")
	b.choose("#function", "other")
	submit(b)
	b.at(h.URL + "/dashboard")
	want := []map[string]any{{"legal_form": 1.0, "org_name": "Ada", "company_size": "solo", "function": "other", "marketing_consent": false}}
	if d := cmp.Diff(want, h.posted(path)); d != "" {
		t.Errorf("posted (-want +got):\n%s", d)
	}
}

// fields reads what the organisation screen holds.
func fields(b *tab) string {
	b.t.Helper()
	return eval[string](b, `['legal_form-2', 'marketing_consent'].map((id) => document.getElementById(id).checked).join() + ' ' +
		['org_name', 'company_size', 'function', 'billing_email'].map((id) => document.getElementById(id).value).join()`)
}

// ended signs in, fills in the organisation after a reload, and loses the session.
func ended(t *testing.T) (*host, *tab) {
	t.Helper()
	h := newHost(t)
	h.answer("POST /auth/intents/org-setup", says(401, fault("unauthenticated", "")))
	h.answer("POST /auth/login", says(200, loggedIn(orgSetup())))
	b := open(t)
	b.visit(h.URL + "/login")
	b.ready("#login")
	credentials(b)
	b.ready("#org_name")
	h.set("next", orgSetup())
	b.visit(h.URL + "/login#/orders/17")
	b.ready("#org_name")
	organisation(b)
	b.see("Your session has ended")
	return h, b
}

// A session that ends on the organisation screen: sign-in, then the same
// screen with what was typed, then the target with the fragment.
func TestSessionExpiryResumes(t *testing.T) {
	h, b := ended(t)
	credentials(b)
	b.ready("#org_name")
	if got, want := fields(b), "true,true Analytical Engines Ltd,small,architect,bills@example.com"; got != want {
		t.Errorf("the form holds %q, want %q", got, want)
	}
	h.answer("POST /auth/intents/org-setup", says(200, satisfaction("satisfied", nil, nil, redirectTo("/dashboard"))))
	submit(b)
	b.at(h.URL + "/dashboard#/orders/17")
}

// What one person typed is not shown to the next who signs in on that page.
func TestNobodyElseSeesWhatWasTyped(t *testing.T) {
	_, b := ended(t)
	b.fill("#login", "grace@example.com")
	b.fill("#password", "correct horse")
	submit(b)
	b.ready("#org_name")
	if got := fields(b); got != "false,false ,,," {
		t.Errorf("the form holds %q of somebody else", got)
	}
}

// A step that was done in another tab: the host is asked what is due.
func TestStepThatIsNotCurrent(t *testing.T) {
	h := newHost(t)
	h.set("next", orgSetup())
	h.answer("POST /auth/intents/org-setup", says(409, fault("intent_not_current", "")))
	h.answer("GET /auth/intents/current", says(200, obj{"next": redirectTo("/dashboard")}))
	b := open(t)
	b.visit(h.URL + "/login")
	b.ready("#org_name")
	organisation(b)
	b.at(h.URL + "/dashboard")
}

func TestOrganisationScreenForGuests(t *testing.T) {
	h := newHost(t)
	h.answer("GET /auth/intents/current", says(401, fault("unauthenticated", "")))
	b := open(t)
	b.visit(h.URL + "/login#/org-setup")
	b.ready("#login")
	b.see("Your session has ended")
}

func TestThrottleCountsDown(t *testing.T) {
	h := newHost(t)
	h.answer("POST /auth/login", says(429, fault("auth_throttle|2|1", "login"), "Retry-After", "2"))
	b := open(t)
	b.visit(h.URL + "/login")
	b.ready("#login")
	credentials(b)
	b.ready(".countdown")
	b.wait(`document.querySelector('[role=alert]').textContent.includes('Too many attempts. You can try again in')`)
	submit(b) // does nothing: the button is locked, and keeps the focus
	b.focused(`button[aria-disabled=true]`)
	b.wait(`!document.querySelector('.countdown')`)
	b.wait(`document.querySelector('[role=status]').textContent === 'You can try again now.'`)
	if n := len(h.posted("/auth/login")); n != 1 {
		t.Errorf("%d posts while locked, want 1", n)
	}
	h.answer("POST /auth/login", says(200, loggedIn(redirectTo("/dashboard"))))
	submit(b)
	b.at(h.URL + "/dashboard")
}

// Signing out is a real form, sent with an Origin that the host can compare.
func TestSignOut(t *testing.T) {
	h := newHost(t)
	origins := make(chan string, 1)
	h.answer("POST /logout", func(w http.ResponseWriter, r *http.Request) {
		origins <- r.Header.Get("Origin")
		http.Redirect(w, r, "/", http.StatusSeeOther)
	})
	b := open(t)
	b.visit(h.URL + "/login#/sign-out")
	b.ready(`form[action="/logout"]`)
	submit(b)
	b.at(h.URL + "/")
	select {
	case got := <-origins:
		if got != h.URL {
			t.Errorf("Origin is %q, want %q", got, h.URL)
		}
	case <-time.After(5 * time.Second):
		t.Error("nothing was posted to /logout")
	}
}

func TestOfflineAndBack(t *testing.T) {
	h := newHost(t)
	h.answer("POST /auth/login", says(200, loggedIn(redirectTo("/dashboard"))))
	b := open(t)
	b.visit(h.URL + "/login")
	b.ready("#login")
	b.offline(true)
	b.see("You are offline.")
	credentials(b)
	b.see("Not sent")
	b.offline(false)
	b.see("You are connected again.")
	submit(b)
	b.at(h.URL + "/dashboard")
}
