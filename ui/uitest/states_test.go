package uitest

import (
	"net/http"

	"github.com/chromedp/cdproto/network"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// A state is a screen in one of the conditions that people meet it in.
type state struct {
	name string
	hash string
	// query follows ?lang= in the address.
	query string
	setup func(h *host)
	act   func(b *tab)
	// until is true when the state is there.
	until string
}

const (
	strip   = `document.querySelector('.messages .strip')`
	pressed = `button[type=submit]`
)

func submit(b *tab) { b.Click(pressed) }

func credentials(b *tab) {
	b.Fill("#login", "ada@example.com")
	b.Fill("#password", "correct horse")
	submit(b)
}

func organisation(b *tab) { organisationNamed(b, "Analytical Engines Ltd") }

func organisationNamed(b *tab, name string) {
	b.Click("label:has(#legal_form-2)")
	b.Fill("#org_name", name)
	b.Choose("#company_size", "small")
	b.Choose("#function", "architect")
	b.Fill("#billing_email", "bills@example.com")
	b.Click(".tick:has(#marketing_consent)")
	submit(b)
}

func passwords(first, second string) func(b *tab) {
	return func(b *tab) {
		b.Fill("#password", first)
		b.Fill("#password_confirmation", second)
		submit(b)
	}
}

func answering(route string, f http.HandlerFunc) func(h *host) {
	return func(h *host) { h.answer(route, f) }
}

// openStep makes the page that of a signed-in user whose organisation is due.
func openStep(more ...func(h *host)) func(h *host) {
	return func(h *host) {
		h.set("next", orgSetup())
		for _, f := range more {
			f(h)
		}
	}
}

// never answers; the request ends when the test does.
func never(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func hangUp(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// offline cuts the network of the tab, or joins it again.
func (b *tab) offline(on bool) {
	b.T.Helper()
	browsertest.Call(b.Tab, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: on, DownloadThroughput: -1, UploadThroughput: -1})
	browsertest.Call(b.Tab, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: on, DownloadThroughput: -1, UploadThroughput: -1}},
	})
}

func states() []state {
	all := signInStates()
	all = append(all, passwordStates()...)
	all = append(all, accountStates()...)
	all = append(all, identityStates()...)
	return append(all, organisationStates()...)
}

func signInStates() []state {
	const login, org = "POST /auth/login", "POST /auth/intents/org-setup"
	return []state{
		{name: "signin", until: `document.activeElement.id === 'login'`},
		{name: "signin-shown-password", act: func(b *tab) {
			b.Fill("#login", "ada@example.com")
			b.Fill("#password", "correct horse")
			b.Click(".reveal")
		}, until: `document.querySelector('#password').type === 'text'`},
		{name: "signin-empty", act: submit, until: `document.querySelector('#password-error').checkVisibility()`},
		{
			name: "signin-wrong", act: credentials, until: strip,
			setup: answering(login, says(422, fault("credentials_do_not_match", "login"))),
		},
		{
			name: "signin-throttled", act: credentials, until: `document.querySelector('.countdown')`,
			setup: answering(login, says(429, fault("auth_throttle|58|1", "login"), "Retry-After", "58")),
		},
		{name: "signin-busy", act: credentials, until: `document.querySelector('.busy')`, setup: answering(login, never)},
		{name: "signin-unreachable", act: credentials, until: strip, setup: answering(login, hangUp)},
		{name: "signin-offline", act: func(b *tab) {
			b.offline(true)
			credentials(b)
		}, until: strip + ` && document.querySelector('.banners .strip')`},
		{
			name: "signin-unavailable", act: credentials, until: strip,
			setup: answering(login, says(503, fault("dispenser_unavailable", ""), "Retry-After", "30")),
		},
		{name: "signin-route-missing", act: credentials, until: strip, setup: answering(login, says(500, fault("route_not_found", "")))},
		{
			name: "signin-unknown-step", act: credentials, until: strip,
			setup: answering(login, says(200, loggedIn(obj{"kind": "quiz", "version": "1", "payload": obj{}}))),
		},
		{name: "signin-broken-link", hash: "#/set-password/half", until: strip},
		{name: "signin-no-logo", until: `document.querySelector('.app-name')`, setup: func(h *host) {
			h.set("logo", "/vendor/vestibule/auth/logo-full.svg")
			h.set("routes", obj{"home": "/", "dashboard": "/dashboard", "terms": nil, "privacy": "/privacy", "cookies": nil})
		}},
		{name: "signin-session-ended", act: organisation, until: strip, setup: openStep(answering(org, says(401, fault("unauthenticated", ""))))},
		{name: "sign-out", hash: "#/sign-out", until: `document.querySelector('form[action="/logout"]')`},
		{name: "sign-out-busy", hash: "#/sign-out", act: func(b *tab) {
			// The browser would leave the page: kept here, to be looked at.
			browsertest.Eval[any](b.Tab, `addEventListener('submit', (e) => e.preventDefault()); null`)
			submit(b)
		}, until: `document.querySelector('.busy')`},
	}
}

func passwordStates() []state {
	const forgot, reset = "POST /auth/forgot-password", "POST /auth/reset-password"
	const link = "#/set-password/f00ba7/ada%40example.com"
	ask := func(b *tab) {
		b.Fill("#email", "ada@example.com")
		submit(b)
	}
	long := "one two three four"
	return []state{
		{name: "forgot", hash: "#/forgot-password", until: `document.activeElement.id === 'email'`},
		{
			name: "forgot-invalid", hash: "#/forgot-password", act: ask, until: `document.querySelector('#email-error').checkVisibility()`,
			setup: answering(forgot, says(422, fault("email", "email"))),
		},
		{
			name: "forgot-sent", hash: "#/forgot-password", act: ask, until: `document.querySelector('.strip.success')`,
			setup: answering(forgot, says(200, obj{"message": "reset_link_sent"})),
		},
		{
			name: "forgot-throttled", hash: "#/forgot-password", act: ask, until: `document.querySelector('.countdown')`,
			setup: answering(forgot, says(429, fault("auth_throttle|600|10", "email"), "Retry-After", "600")),
		},
		{name: "set-password", hash: link, until: `document.activeElement.id === 'password'`},
		{name: "set-password-invited", hash: "&invited" + link, until: `document.activeElement.id === 'password'`},
		{name: "first-passkey", hash: "&invited" + link, until: `document.querySelector('#email')`, setup: withoutPasswords()},
		{
			name: "first-passkey-refused", hash: "&invited" + link, act: submit, until: strip,
			setup: withoutPasswords(answering("POST /auth/invitation/options", says(422, fault("reset_failed", "email")))),
		},
		{name: "set-password-short", hash: link, act: passwords("short", "short"), until: `document.querySelector('#password-error').checkVisibility()`},
		{
			name: "set-password-mismatch", hash: link, act: passwords(long, long+"!"),
			until: `document.querySelector('#password_confirmation-error').checkVisibility()`,
		},
		{
			name: "set-password-common", hash: link, act: passwords(long, long), until: `document.querySelector('#password-error').checkVisibility()`,
			setup: answering(reset, says(422, fault("password_too_common", "password"))),
		},
		{
			name: "set-password-expired", hash: link, act: passwords(long, long), until: strip,
			setup: answering(reset, says(422, fault("reset_failed", "email"))),
		},
		{name: "set-password-done", hash: link, act: passwords(long, long), until: `document.querySelector('.strip.success')`, setup: func(h *host) {
			h.answer(reset, says(200, obj{"message": "reset_success", "redirect": h.URL + "/login"}))
		}},
	}
}

func organisationStates() []state {
	const org = "POST /auth/intents/org-setup"
	step := obj{"fields": obj{"org_name": []string{"This name is taken."}, "billing_email": []string{"email"}}, "message": "Nearly there."}
	const there = `document.querySelector('#org_name')`
	return []state{
		{name: "org-setup", setup: openStep(), until: there},
		{name: "org-setup-empty", setup: openStep(), act: submit, until: strip},
		{name: "org-setup-more-input", act: organisation, until: strip, setup: openStep(
			answering(org, says(200, satisfaction("needs_more_input", step, nil, nil))))},
		{name: "org-setup-error", act: organisation, until: strip, setup: openStep(
			answering(org, says(200, satisfaction("error", nil, []string{"The directory does not know this organisation."}, nil))))},
		{name: "org-setup-unavailable", act: organisation, until: strip, setup: openStep(
			answering(org, says(503, fault("handler_unavailable", ""), "Retry-After", "5")))},
		{name: "org-setup-no-handler", act: organisation, until: strip, setup: openStep(
			answering(org, says(501, fault("org_setup_handler_missing", ""))))},
		{name: "org-setup-busy", act: organisation, until: `document.querySelector('.busy')`, setup: openStep(answering(org, never))},
		{name: "trouble", hash: "#/org-setup", until: `document.querySelector('h1 ~ .strip.error')`, setup: answering(
			"GET /auth/intents/current", says(500, fault("internal_error", "")))},
	}
}
