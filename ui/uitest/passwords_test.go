package uitest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

func TestForgotPassword(t *testing.T) {
	h := newHost(t)
	h.answer("POST /auth/forgot-password", says(200, obj{"message": "reset_link_sent"}))
	b := open(t)
	b.visit(h.URL + "/login#/orders")
	b.ready("#login")
	b.fill("#login", "ada@example.com")
	b.click("#forgot")
	b.ready("#email")
	b.at(h.URL + "/login#/forgot-password")
	b.fill("#email", "ada@example.com")
	submit(b)
	b.see("If there is an account for ada@example.com")
	want := []map[string]any{{"email": "ada@example.com"}}
	if d := cmp.Diff(want, h.posted("/auth/forgot-password")); d != "" {
		t.Errorf("posted (-want +got):\n%s", d)
	}
	b.click(".back")
	b.ready("#password")
	b.focused("#forgot") // back where the way began
	h.answer("POST /auth/login", says(200, loggedIn(redirectTo("/dashboard"))))
	b.fill("#password", "x")
	submit(b)
	b.at(h.URL + "/dashboard#/orders")
}

// The token is out of the address bar and the history before anything else
// happens, and survives neither a reload nor a look at the page.
func TestSetPassword(t *testing.T) {
	const path = "/auth/reset-password"
	h := newHost(t)
	h.answer("POST "+path, says(422, fault("password_too_common", "password")))
	b := open(t)
	b.visit(h.URL + "/login#/set-password/t%2F0k3n/ada%2Bx%40example.com")
	b.ready("#password_confirmation")
	b.at(h.URL + "/login#/set-password")
	history, err := chromedp.Run(b.ctx, chromedp.NavigationEntries())
	b.must(err)
	for _, e := range history.Entries {
		if strings.Contains(e.URL, "0k3n") {
			t.Errorf("the history keeps %s", e.URL)
		}
	}
	if eval[bool](b, `document.documentElement.outerHTML.includes('0k3n') || JSON.stringify(history.state).includes('0k3n')`) {
		t.Error("the page keeps the token where it can be seen")
	}
	passwords("one two three four", "one two three four")(b)
	b.see("easy to guess")
	b.focused("#password")
	h.answer("POST "+path, says(200, obj{"message": "reset_success", "redirect": h.URL + "/login"}))
	passwords("five six seven eight", "five six seven eight")(b)
	b.see("Your password is changed")
	if got := eval[string](b, `document.querySelector('#login').value`); got != "ada+x@example.com" {
		t.Errorf("the login starts with %q", got)
	}
	want := map[string]any{
		"token": "t/0k3n", "email": "ada+x@example.com", "password": "five six seven eight", "password_confirmation": "five six seven eight",
	}
	if d := cmp.Diff(want, h.posted(path)[1]); d != "" {
		t.Errorf("posted (-want +got):\n%s", d)
	}
}

func TestResetSuccessElsewhere(t *testing.T) {
	h := newHost(t)
	h.answer("POST /auth/reset-password", says(200, obj{"message": "reset_success", "redirect": h.URL + "/dashboard"}))
	b := open(t)
	b.visit(h.URL + "/login#/set-password/t/a@b.c")
	b.ready("#password_confirmation")
	passwords("five six seven eight", "five six seven eight")(b)
	b.at(h.URL + "/dashboard")
}

// A reset link is opened in spite of a session with an open step.
func TestSetPasswordWhileSignedIn(t *testing.T) {
	h := newHost(t)
	h.set("next", orgSetup())
	b := open(t)
	b.visit(h.URL + "/login#/set-password/t/a@b.c")
	b.ready("#password_confirmation")
}
