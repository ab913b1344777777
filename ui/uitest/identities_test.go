package uitest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// identityOf is one in the bootstrap data.
func identityOf(name, label string) obj {
	return obj{"name": name, "label": label, "url": "/auth/identity/" + name}
}

// identitiesOn makes the sign-in page that of a host with identity providers.
func identitiesOn(more ...func(h *host)) func(h *host) {
	return func(h *host) {
		h.set("identities", []obj{identityOf("company", "Company account"), identityOf("guild", "Worshipful Guild of Analytical Engineers and Computers")})
		for _, f := range more {
			f(h)
		}
	}
}

// oneIdentity is the only way to sign in.
func oneIdentity(h *host) {
	h.set("identities", []obj{identityOf("company", "Company account")})
	h.set("password", obj{"min_length": 12, "sign_in": false})
}

// pendingLink is an identity that the next sign-in links.
func pendingLink(h *host) {
	h.set("pending", obj{"name": "company", "label": "Company account", "account": "ada.lovelace@analytical-engines.example"})
}

// linkedOnly is the account of somebody who signs in with an identity and nothing else.
func linkedOnly() obj {
	account := accountOf()
	account["password"], account["passkeys"] = false, nil
	return account
}

func identityStates() []state {
	const there, dialog = `document.querySelector('#identity-company')`, `document.querySelector('dialog')`
	ended := func(h *host) { h.set("session", "ended") }
	confirm := answering("DELETE /auth/account/identities/company", says(403, fault("confirmation_required", "")))
	unlink := func(b *tab) {
		b.Click("#identities-unlink-company")
		b.Click("dialog " + pressed)
		b.Wait(`document.querySelectorAll('dialog').length === 2`)
	}
	return []state{
		{name: "signin-identities", until: there, setup: passkeysOn(identitiesOn())},
		{name: "signin-identity-alone", until: there, setup: oneIdentity},
		{name: "signin-identity-alone-ended", until: `document.querySelector('.strip')`, setup: identitiesOn(oneIdentity, ended)},
		{name: "signin-identities-no-password", until: there, setup: passkeysOn(identitiesOn(func(h *host) { h.set("password", obj{"min_length": 12, "sign_in": false}) }))},
		{name: "signin-pending", until: `document.querySelector('#forget')`, setup: passkeysOn(identitiesOn(pendingLink))},
		{
			name: "signin-pending-refused", act: func(b *tab) { b.Click("#forget") }, until: strip,
			setup: identitiesOn(pendingLink, answering("DELETE /auth/identity/company", says(204, nil))),
		},
		{name: "invited-identity", hash: "&invited#/set-password/t/a@b.c", until: `document.querySelector('#email')`, setup: oneIdentity},
		{
			name: "invited-identities-refused", hash: "&invited#/set-password/t/a@b.c", act: submit, until: strip,
			setup: identitiesOn(func(h *host) { h.set("password", obj{"min_length": 12, "sign_in": false}) },
				answering("POST /auth/invitation/identities/company", says(422, fault("reset_failed", "email")))),
		},
		{name: "account-identities", query: "&account", until: `document.querySelector('#identities-link-guild')`, setup: openAccount(identitiesOn())},
		{
			name: "account-unlink-last", query: "&account", until: strip, setup: openAccount(answering("GET /auth/account", says(200, linkedOnly())),
				answering("DELETE /auth/account/identities/company", says(409, fault("last_way_to_sign_in", "")))),
			act: func(b *tab) {
				b.Click("#identities-unlink-company")
				b.Click("dialog " + pressed)
			},
		},
		{name: "account-confirm-any", query: "&account", act: unlink, until: dialog, setup: openAccount(confirm)},
		{name: "account-confirm-identity", query: "&account", act: unlink, until: dialog, setup: openAccount(confirm, answering("GET /auth/account", says(200, linkedOnly())))},
	}
}

// provider is a site of its own that asks nobody anything: it shows a page with a link back to the host.
type provider struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newProvider(t *testing.T, h *host) *provider {
	t.Helper()
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked = append(p.asked, r.URL.String()+" "+r.Referer())
		p.mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>Provider</title><a id="back" href="` + h.URL + `/auth/identity/company/callback?state=s">Back</a>`))
	}))
	t.Cleanup(p.Close)
	h.answer("GET /auth/identity/company", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, p.URL+"/authorize?state=s", http.StatusFound)
	})
	return p
}

// from goes from the sign-in page to the provider.
func (p *provider) from(b *tab, page string) {
	b.T.Helper()
	b.Visit(page)
	b.Click("#identity-company")
	b.At(p.URL + "/authorize?state=s")
	b.Ready("#back")
}

// Where identities alone sign people in, somebody who was invited chooses one. The token goes to the host alone.
func TestInvitedChoosesAnIdentity(t *testing.T) {
	h := newHost(t)
	identitiesOn(func(h *host) { h.set("password", obj{"min_length": 12, "sign_in": false}) })(h)
	p := newProvider(t, h)
	const path = "/auth/invitation/identities/guild"
	h.answer("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		if len(h.posted(path)) == 1 {
			says(503, fault("identity_unavailable", ""))(w, r)
			return
		}
		says(200, obj{"url": p.URL + "/authorize?state=s"})(w, r)
	})
	b := open(t)
	b.Visit(h.URL + "/login?invited#/set-password/t0ken/eve%40example.com")
	b.Ready("#identity-guild")
	if got := browsertest.Eval[string](b.Tab, `location.hash + document.querySelector('#email').value`); got != "#/set-passwordeve@example.com" {
		t.Errorf("the screen shows %q", got)
	}
	b.Click("#identity-guild")
	b.See("The provider cannot be reached")
	b.Focused("#identity-guild")
	b.Click("#identity-guild")
	b.At(p.URL + "/authorize?state=s")
	want := obj{"token": "t0ken", "email": "eve@example.com"}
	if d := cmp.Diff([]obj{want, want}, h.posted(path)); d != "" {
		t.Errorf("posted (-want +got):\n%s", d)
	}
	for _, address := range slices.Concat(p.asked, h.requested()) {
		if strings.Contains(address, "t0ken") {
			t.Errorf("an address has the token: %s", address)
		}
	}
}

// The fragment waits in the tab while the person is at the provider: no server and no address there has it, and it is
// used once, by the sign-in that it was kept for.
func TestFragmentOutlivesAProvider(t *testing.T) {
	h := newHost(t)
	identitiesOn()(h)
	p := newProvider(t, h)
	back := func(session string, next any) {
		h.answer("GET /auth/identity/company/callback", func(w http.ResponseWriter, r *http.Request) {
			h.set("session", session)
			h.set("next", next)
			http.Redirect(w, r, "/login", http.StatusFound)
		})
	}
	guest := func() {
		h.set("session", "guest")
		h.set("next", nil)
	}
	back("settled", redirectTo("/dashboard?tab=2"))
	b := open(t)
	p.from(b, h.URL+"/login?redirect=%2Fdashboard%3Ftab%3D2#/orders/17")
	b.Click("#back")
	b.At(h.URL + "/dashboard?tab=2#/orders/17")
	if kept := browsertest.Eval[int](b.Tab, `sessionStorage.length`); kept != 0 {
		t.Errorf("the tab keeps %d items", kept)
	}
	for _, address := range slices.Concat(p.asked, h.requested()) {
		if strings.Contains(address, "orders") {
			t.Errorf("a server has learned of the fragment: %s", address)
		}
	}

	b.Visit(h.URL + "/login") // and no other sign-in gets it
	b.At(h.URL + "/dashboard?tab=2")
	guest()
	p.from(b, h.URL+"/login#/orders/18")
	guest()
	b.Visit(h.URL + "/login") // the person has given it up
	b.Ready("#login")
	h.answer("POST /auth/login", says(200, loggedIn(redirectTo("/dashboard"))))
	credentials(b)
	b.At(h.URL + "/dashboard")

	back("open", orgSetup())
	guest()
	p.from(b, h.URL+"/login#/orders/19")
	b.Click("#back")
	b.See("Welcome, Ada Lovelace")
	h.answer("POST /auth/intents/org-setup", says(200, satisfaction("satisfied", nil, nil, redirectTo("/dashboard"))))
	b.Do(chromedp.Reload())
	b.See("Welcome, Ada Lovelace")
	organisation(b)
	b.At(h.URL + "/dashboard#/orders/19")
}

// The link to a provider says which page the person wants and which language they read.
func TestProviderLearnsLanguageAndPage(t *testing.T) {
	h := newHost(t)
	identitiesOn()(h)
	b := open(t)
	b.Visit(h.URL + "/login?redirect=%2Fdashboard%3Fa%3D1%26b")
	b.Ready("#identity-company")
	b.Click("#language-de")
	b.See("Anmelden")
	got := browsertest.Eval[string](b.Tab, `document.querySelector('#identity-company').getAttribute('href')`)
	if want := "/auth/identity/company?return=login&lang=de&redirect=%2Fdashboard%3Fa%3D1%26b"; got != want {
		t.Errorf("the link is %s, want %s", got, want)
	}
}

// Where only one provider signs people in there is one button, and why somebody is there is said all the same.
func TestOneIdentityIsOneButton(t *testing.T) {
	h := newHost(t)
	oneIdentity(h)
	h.set("session", "ended")
	b := open(t)
	b.Visit(h.URL + "/login")
	b.See("Your session has ended")
	got := browsertest.Eval[[]string](b.Tab, `[...document.querySelectorAll('main a, main button, main input')].map((e) => e.textContent + ' ' + e.className)`)
	if d := cmp.Diff([]string{"Sign in with Company account primary"}, got); d != "" {
		t.Errorf("the card has (-want +got):\n%s", d)
	}
	b.Wait(`document.querySelector('[role=status]').textContent.startsWith('Your session has ended')`)
}

// What will be linked is in sight until the sign-in, with the fragment kept and without the button that would come
// around; and the person can say no.
func TestPendingLink(t *testing.T) {
	h := newHost(t)
	identitiesOn()(h)
	p := newProvider(t, h)
	h.answer("GET /auth/identity/company/callback", func(w http.ResponseWriter, r *http.Request) {
		pendingLink(h)
		http.Redirect(w, r, "/login", http.StatusFound)
	})
	h.answer("POST /auth/login", says(422, fault("credentials_do_not_match", "login")))
	b := open(t)
	p.from(b, h.URL+"/login#/orders/17")
	b.Click("#back")
	b.See("Company account (ada.lovelace@analytical-engines.example) is then linked to your account")
	b.Wait(`!document.querySelector('#identity-company') && document.querySelector('#identity-guild')`)
	b.Focused("h1")
	credentials(b)
	b.See("password is wrong")
	b.See("is then linked to your account")
	h.answer("POST /auth/login", says(200, loggedIn(redirectTo("/dashboard"))))
	credentials(b)
	b.At(h.URL + "/dashboard#/orders/17")

	b.Visit(h.URL + "/login")
	h.answer("DELETE /auth/identity/company", says(503, fault("database_unavailable", ""), "Retry-After", "5"))
	b.Click("#forget")
	b.See("cannot reach its data")
	b.See("is then linked to your account")
	h.answer("DELETE /auth/identity/company", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) })
	b.Click("#forget")
	b.See("Nothing is linked.")
	b.Wait(`!document.querySelector('#forget') && document.querySelector('#identity-company')`)
}

// Linking leaves the page and comes back to it: the account screen says what has become of it where it was begun, and
// says nothing of what has not.
func TestAccountLinksAndConfirms(t *testing.T) {
	h := newHost(t)
	openAccount(identitiesOn())(h)
	account := linkedOnly()
	account["identities"] = []obj{
		{"name": "company", "label": "Company account", "linked": "2026-05-02T08:00:00Z"}, {"name": "guild", "label": "Guild", "linked": nil},
	}
	h.answer("GET /auth/account", says(200, account))
	p := newProvider(t, h)
	h.answer("POST /auth/account/identities/guild", says(403, fault("confirmation_required", "")))
	h.answer("POST /auth/account/confirm/company", says(200, obj{"url": p.URL + "/authorize?state=s&prompt=login"}))
	b := open(t)
	away := func(page string) {
		b.T.Helper()
		b.At(page)
		b.Ready("#back")
	}
	b.Visit(h.URL + "/login?account")
	b.Click("#identities-link-guild")
	b.Ready("dialog " + pressed)
	if got := b.Text("dialog " + pressed); got != "Confirm with Company account" {
		t.Errorf("the dialog offers %q", got)
	}
	b.Click("dialog " + pressed)
	away(p.URL + "/authorize?state=s&prompt=login")
	b.Visit(h.URL + "/login?account") // given up
	b.Ready("#identities-link-guild")
	if browsertest.Eval[bool](b.Tab, `document.querySelector('.strip') !== null`) {
		t.Error("the screen says that something was done")
	}
	b.Click("#identities-link-guild")
	b.Click("dialog " + pressed)
	away(p.URL + "/authorize?state=s&prompt=login")
	account["recent"] = 590
	h.answer("POST /auth/account/identities/guild", says(200, obj{"url": p.URL + "/authorize?state=g"}))
	b.Visit(h.URL + "/login?account")
	b.See("It is confirmed that it is you.")
	b.Focused("#identities-link-guild")
	b.Click("#identities-link-guild")
	away(p.URL + "/authorize?state=g")
	account["identities"].([]obj)[1]["linked"] = "2026-11-24T08:00:00Z"
	b.Visit(h.URL + "/login?account")
	b.See("The account is linked.")
	b.Focused("#identities-unlink-guild")
	b.Do(chromedp.Reload())
	b.Ready("#identities-unlink-guild")
	if browsertest.Eval[bool](b.Tab, `document.querySelector('.strip') !== null`) {
		t.Error("the screen says it twice")
	}
}

// The address of a provider is held against what may be opened.
func TestUnsafeProviderIsNotOpened(t *testing.T) {
	h := newHost(t)
	openAccount(identitiesOn(), answering("POST /auth/account/identities/guild", says(200, obj{"url": "javascript:alert(1)"})))(h)
	b := open(t)
	b.Visit(h.URL + "/login?account")
	b.Click("#identities-link-guild")
	b.See("Something went wrong (200)")
	b.At(h.URL + "/login?account")
}
