package uitest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

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
			b.Visit(h.URL + "/login" + c.fragment)
			b.Ready("#login")
			b.Click(".tick")
			credentials(b)
			b.At(h.URL + c.want)
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
		b.Visit(h.URL + "/login")
		b.Ready("#login")
		credentials(b)
		b.See("not safe to open")
		b.At(h.URL + "/login")
	}
}

func TestAnotherStepIsClearlyRefused(t *testing.T) {
	h := newHost(t)
	h.set("next", obj{"kind": "quiz", "version": "1", "payload": obj{}})
	b := open(t)
	b.Visit(h.URL + "/login")
	b.See("quiz")
	b.Ready(`a[href="#/sign-out"]`)
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
	b.Visit(h.URL + "/login#/orders/17")
	b.Ready("#login")
	credentials(b)
	b.See("Welcome, Ada Lovelace")
	b.At(h.URL + "/login#/orders/17") // the step stands in the session, and not in the address
	b.Do(chromedp.Navigate("about:blank"), chromedp.NavigateBack())
	b.See("Welcome, Ada Lovelace")

	organisation(b)
	b.See("Nearly.")
	b.See("Please send us your VAT number.")
	b.Focused("#org_name[aria-invalid=true][aria-describedby~=org_name-error]")

	h.answer("POST "+path, says(200, satisfaction("error", nil, []string{"The directory said no."}, nil)))
	submit(b)
	b.See("The directory said no.")
	h.answer("POST "+path, says(200, satisfaction("satisfied", nil, nil, redirectTo("/dashboard"))))
	submit(b)
	b.At(h.URL + "/dashboard#/orders/17")
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
	b.Visit(h.URL + "/login")
	b.Ready("#org_name")
	b.Click("label:has(#legal_form-1)")
	b.Fill("#org_name", "Ada")
	b.Choose("#company_size", "solo")
	b.Choose("#function", "other")
	submit(b)
	b.At(h.URL + "/dashboard")
	want := []map[string]any{{"legal_form": 1.0, "org_name": "Ada", "company_size": "solo", "function": "other", "marketing_consent": false}}
	if d := cmp.Diff(want, h.posted(path)); d != "" {
		t.Errorf("posted (-want +got):\n%s", d)
	}
}

// fields reads what the organisation screen holds.
func fields(b *tab) string {
	b.T.Helper()
	return browsertest.Eval[string](b.Tab, `['legal_form-2', 'marketing_consent'].map((id) => document.getElementById(id).checked).join() + ' ' +
		['org_name', 'company_size', 'function', 'billing_email'].map((id) => document.getElementById(id).value).join()`)
}

// ended signs in, fills in the organisation after a reload, and loses the session.
func ended(t *testing.T) (*host, *tab) {
	t.Helper()
	h := newHost(t)
	h.answer("POST /auth/intents/org-setup", says(401, fault("unauthenticated", "")))
	h.answer("POST /auth/login", says(200, loggedIn(orgSetup())))
	b := open(t)
	b.Visit(h.URL + "/login")
	b.Ready("#login")
	credentials(b)
	b.Ready("#org_name")
	h.set("next", orgSetup())
	b.Visit(h.URL + "/login#/orders/17")
	b.Ready("#org_name")
	organisation(b)
	b.See("Your session has ended")
	return h, b
}

// A session that ends on the organisation screen: sign-in, then the same
// screen with what was typed, then the target with the fragment.
func TestSessionExpiryResumes(t *testing.T) {
	h, b := ended(t)
	credentials(b)
	b.Ready("#org_name")
	if got, want := fields(b), "true,true Analytical Engines Ltd,small,architect,bills@example.com"; got != want {
		t.Errorf("the form holds %q, want %q", got, want)
	}
	h.answer("POST /auth/intents/org-setup", says(200, satisfaction("satisfied", nil, nil, redirectTo("/dashboard"))))
	submit(b)
	b.At(h.URL + "/dashboard#/orders/17")
}

// What one person typed is not shown to the next who signs in on that page.
func TestNobodyElseSeesWhatWasTyped(t *testing.T) {
	_, b := ended(t)
	b.Fill("#login", "grace@example.com")
	b.Fill("#password", "correct horse")
	submit(b)
	b.Ready("#org_name")
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
	b.Visit(h.URL + "/login")
	b.Ready("#org_name")
	organisation(b)
	b.At(h.URL + "/dashboard")
}

// The sign-in mentions the end of a session only if there was one.
func TestOrganisationScreenForGuests(t *testing.T) {
	const ended = "Your session has ended"
	for session, want := range map[string]bool{"guest": false, "ended": true} {
		t.Run(session, func(t *testing.T) {
			h := newHost(t)
			h.set("session", session)
			h.answer("GET /auth/intents/current", says(401, fault("unauthenticated", "")))
			b := open(t)
			b.Visit(h.URL + "/login#/org-setup")
			b.Ready("#login")
			if got := strings.Contains(b.Text(".card"), ended); got != want {
				t.Errorf("the page says %q: %v, want %v", ended, got, want)
			}
		})
	}
}

func TestThrottleCountsDown(t *testing.T) {
	h := newHost(t)
	h.answer("POST /auth/login", says(429, fault("auth_throttle|2|1", "login"), "Retry-After", "2"))
	b := open(t)
	b.Visit(h.URL + "/login")
	b.Ready("#login")
	credentials(b)
	b.Ready(".countdown")
	b.Wait(`document.querySelector('[role=alert]').textContent.includes('Too many attempts. You can try again in')`)
	submit(b) // does nothing: the button is locked, and keeps the focus
	b.Focused(`button[aria-disabled=true]`)
	b.Wait(`!document.querySelector('.countdown')`)
	b.Wait(`document.querySelector('[role=status]').textContent === 'You can try again now.'`)
	if n := len(h.posted("/auth/login")); n != 1 {
		t.Errorf("%d posts while locked, want 1", n)
	}
	h.answer("POST /auth/login", says(200, loggedIn(redirectTo("/dashboard"))))
	submit(b)
	b.At(h.URL + "/dashboard")
}

// Signing out is a real form, sent with an Origin that the host can compare.
func TestSignOut(t *testing.T) {
	h := newHost(t)
	origins := make(chan string, 1)
	h.answer("POST /logout", func(w http.ResponseWriter, r *http.Request) {
		origins <- r.Header.Get("Origin")
		http.Redirect(w, r, "/login", http.StatusSeeOther) // as where home is behind the sign-in
	})
	b := open(t)
	b.Visit(h.URL + "/login#/sign-out")
	b.Ready(`form[action="/logout"]`)
	submit(b)
	b.See("You are signed out")
	b.At(h.URL + "/login")
	select {
	case got := <-origins:
		if got != h.URL {
			t.Errorf("Origin is %q, want %q", got, h.URL)
		}
	case <-time.After(5 * time.Second):
		t.Error("nothing was posted to /logout")
	}
}

// Whoever has signed in on the page that they came to as a guest signs out for real.
func TestSignOutOfAnOpenStep(t *testing.T) {
	h := newHost(t)
	h.set("session", "guest")
	h.answer("POST /auth/login", says(200, loggedIn(orgSetup())))
	b := open(t)
	b.Visit(h.URL + "/login")
	b.Ready("#login")
	credentials(b)
	b.Ready("#org_name")
	b.Click("#leave")
	b.Ready(`form[action="/logout"]`)
}

func TestOfflineAndBack(t *testing.T) {
	h := newHost(t)
	h.answer("POST /auth/login", says(200, loggedIn(redirectTo("/dashboard"))))
	b := open(t)
	b.Visit(h.URL + "/login")
	b.Ready("#login")
	b.offline(true)
	b.See("You are offline.")
	credentials(b)
	b.See("Not sent")
	b.offline(false)
	b.See("You are connected again.")
	submit(b)
	b.At(h.URL + "/dashboard")
}

// A step that holds is followed from the sign-in page. A browser that was led there too
// often waits for the person, who goes on, with the fragment, or signs out.
func TestHeldStepIsFollowed(t *testing.T) {
	h := newHost(t)
	h.set("session", "held")
	h.set("next", redirectTo("/terms"))
	h.answer("GET /terms", says(200, obj{}))
	b := open(t)
	b.Visit(h.URL + "/login")
	b.At(h.URL + "/terms")
	h.set("next", nil)
	h.set("stopped", "/terms")
	b.Visit(h.URL + "/login#/line/7")
	b.See("You were sent back here")
	b.Focused("button.primary")
	b.Click(".back")
	b.Ready(`form[action="/logout"]`)
	b.Click(".back")
	b.See("You were sent back here")
	b.Click("button.primary")
	b.At(h.URL + "/terms#/line/7")
	b.Visit(h.URL + "/ui/auth/#/sign-out")
	b.Ready(`form[action="/logout"] button`)
}
