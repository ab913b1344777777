package uitest

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// newOwnHost serves examples/own-login in place of the built-in app.
func newOwnHost(t *testing.T) *host {
	t.Helper()
	h := newHost(t)
	h.dist = os.DirFS(filepath.Join("..", "..", "examples", "own-login"))
	return h
}

func TestOwnLoginManifest(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", "own-login", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest map[string]string
	if err := json.Unmarshal(data, &manifest); err != nil || manifest["core"] != "2" {
		t.Errorf("manifest names core %q (%v)", manifest["core"], err)
	}
}

// The replacement keeps every route and every contract, in its own words.
func TestOwnLoginKeepsTheContract(t *testing.T) {
	const org = "/auth/intents/org-setup"
	h := newOwnHost(t)
	h.answer("POST /auth/login", says(422, fault("credentials_do_not_match", "login")))
	b := open(t)
	b.Visit(h.URL + "/login#/orders/17")
	b.See("Good to see you.")
	own := func() {
		b.Fill("#login", "ada@example.com")
		b.Fill("#password", "correct horse")
		b.Click("#sign-in form button")
	}
	own()
	b.See("We do not know this pair")
	b.Focused("#login[aria-invalid]")
	h.answer("POST /auth/login", says(429, fault("auth_throttle|1|1", "login"), "Retry-After", "1"))
	own()
	b.See("Please wait 1 seconds.")
	b.See("Now you can try again.")
	h.answer("POST /auth/login", says(200, loggedIn(orgSetup())))
	own()
	b.See("One thing, Ada Lovelace.")
	b.At(h.URL + "/login#/org-setup")
	b.Choose("#legal_form", "2")
	b.Fill("#org_name", "Analytical Engines")
	b.Choose("#company_size", "small")
	b.Choose("#function", "architect")
	h.answer("POST "+org, says(200, satisfaction("needs_more_input", obj{"fields": obj{"org_name": []string{"Taken."}}}, nil, nil)))
	b.Click("#org-setup button")
	b.See("Taken.")
	h.answer("POST "+org, says(401, fault("unauthenticated", "")))
	b.Click("#org-setup button")
	b.See("You have been away")
	own()
	b.See("One thing, Ada Lovelace.")
	h.answer("POST "+org, says(200, satisfaction("satisfied", nil, nil, redirectTo("/dashboard"))))
	b.Click("#org-setup button")
	b.At(h.URL + "/dashboard#/orders/17")
	sent := h.posted(org)
	want := map[string]any{
		"legal_form": 2.0, "org_name": "Analytical Engines", "company_size": "small", "function": "architect", "marketing_consent": false,
	}
	if d := cmp.Diff(want, sent[len(sent)-1]); d != "" {
		t.Errorf("posted (-want +got):\n%s", d)
	}
}

// A browser that was led to one page too often waits for the person.
func TestOwnLoginStops(t *testing.T) {
	h := newOwnHost(t)
	h.set("session", "settled")
	h.set("stopped", "/dashboard")
	b := open(t)
	b.Visit(h.URL + "/login#/orders/17")
	b.See("Round and round.")
	b.Click("#stopped a[href='#/sign-out']")
	b.See("Leaving?")
	b.Click("#sign-out a")
	b.See("Round and round.")
	b.Click("#onward")
	b.At(h.URL + "/dashboard#/orders/17")
}

// What one person typed is not shown to the next who signs in on that page.
func TestOwnLoginShowsNobodyElseWhatWasTyped(t *testing.T) {
	h := newOwnHost(t)
	h.answer("POST /auth/login", says(200, loggedIn(orgSetup())))
	h.answer("POST /auth/intents/org-setup", says(401, fault("unauthenticated", "")))
	b := open(t)
	b.Visit(h.URL + "/login")
	signIn := func(login string) {
		b.See("Good to see you.")
		b.Fill("#login", login)
		b.Fill("#password", "correct horse")
		b.Click("#sign-in form button")
		b.See("One thing, Ada Lovelace.")
	}
	signIn("ada@example.com")
	b.Choose("#legal_form", "2")
	b.Fill("#org_name", "Analytical Engines")
	b.Choose("#company_size", "small")
	b.Choose("#function", "architect")
	b.Click("#org-setup button")
	b.See("You have been away")
	signIn("grace@example.com")
	if got := browsertest.Eval[string](b.Tab, `document.querySelector('#org_name').value`); got != "" {
		t.Errorf("the form holds %q of somebody else", got)
	}
}

func TestOwnLoginPasswords(t *testing.T) {
	h := newOwnHost(t)
	h.answer("POST /auth/forgot-password", says(200, obj{"message": "reset_link_sent"}))
	h.answer("POST /auth/reset-password", says(200, obj{"message": "reset_success", "redirect": h.URL + "/login"}))
	b := open(t)
	b.Visit(h.URL + "/login#/forgot-password")
	b.Fill("#email", "ada@example.com")
	b.Click("#forgot-password button")
	b.See("a link is on its way")
	b.Visit(h.URL + "/login#/set-password/t0k3n/ada%40example.com")
	b.Ready("#confirmation")
	b.At(h.URL + "/login#/set-password")
	b.Fill("#new-password", "one two three four")
	b.Fill("#confirmation", "one two three four")
	b.Click("#set-password button")
	b.See("The new password works")
	want := []map[string]any{{
		"token": "t0k3n", "email": "ada@example.com", "password": "one two three four", "password_confirmation": "one two three four",
	}}
	if d := cmp.Diff(want, h.posted("/auth/reset-password")); d != "" {
		t.Errorf("posted (-want +got):\n%s", d)
	}
	b.Visit(h.URL + "/login#/sign-out")
	b.Ready(`form[action="/logout"] button`)
}

func TestOwnLoginScreens(t *testing.T) {
	source := needAxe(t)
	for name, hash := range map[string]string{
		"sign-in": "#/", "forgot": "#/forgot-password", "set-password": "#/set-password/t/ada@example.com",
		"org-setup": "#/org-setup", "sign-out": "#/sign-out", "pending": "#/",
	} {
		t.Run(name, func(t *testing.T) {
			h := newOwnHost(t)
			switch name {
			case "org-setup":
				h.set("next", orgSetup())
			case "pending":
				identitiesOn(pendingLink)(h)
			}
			b := open(t)
			b.Visit(h.URL + "/login" + hash)
			b.Wait(`document.querySelector('section:not([hidden])')`)
			for _, l := range looks() {
				b.Size(l.width, l.height)
				b.Media(l.scheme)
				b.axe(source, hash, l.whole)
				b.PictureOfAll("own-login-" + name + "." + l.name)
			}
		})
	}
}

// The replacement knows accounts elsewhere: the fragment outlives them, and what will be linked is said.
func TestOwnLoginKnowsIdentities(t *testing.T) {
	h := newOwnHost(t)
	identitiesOn()(h)
	p := newProvider(t, h)
	h.answer("GET /auth/identity/company/callback", func(w http.ResponseWriter, r *http.Request) {
		pendingLink(h)
		http.Redirect(w, r, "/login", http.StatusFound)
	})
	b := open(t)
	b.Visit(h.URL + "/login#/orders/17")
	b.Ready("#elsewhere a")
	b.Click("#elsewhere a")
	b.Ready("#back")
	b.Click("#back")
	b.See("Company account (ada.lovelace@analytical-engines.example) comes in as you from then on")
	h.answer("DELETE /auth/identity/company", func(w http.ResponseWriter, _ *http.Request) {
		h.set("pending", nil)
		w.WriteHeader(204)
	})
	b.Click("#pending button")
	b.Wait(`document.querySelectorAll('#elsewhere a').length === 2 && !document.querySelector('#pending').checkVisibility()`)
	h.answer("POST /auth/login", says(200, loggedIn(redirectTo("/dashboard"))))
	b.Fill("#login", "ada@example.com")
	b.Fill("#password", "correct horse")
	b.Click("#sign-in form button")
	b.At(h.URL + "/dashboard#/orders/17")
	for _, address := range p.asked {
		if strings.Contains(address, "orders") {
			t.Errorf("the provider has learned of the fragment: %s", address)
		}
	}
}
