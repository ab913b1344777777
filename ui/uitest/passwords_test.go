package uitest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

func TestForgotPassword(t *testing.T) {
	h := newHost(t)
	h.answer("POST /auth/forgot-password", says(200, obj{"message": "reset_link_sent"}))
	b := open(t)
	b.Visit(h.URL + "/login#/orders")
	b.Ready("#login")
	b.Fill("#login", "ada@example.com")
	b.Click("#forgot")
	b.Ready("#email")
	b.At(h.URL + "/login#/forgot-password")
	b.Fill("#email", "ada@example.com")
	submit(b)
	b.See("If there is an account for ada@example.com")
	want := []map[string]any{{"email": "ada@example.com"}}
	if d := cmp.Diff(want, h.posted("/auth/forgot-password")); d != "" {
		t.Errorf("posted (-want +got):\n%s", d)
	}
	b.Click(".back")
	b.Ready("#password")
	b.Focused("#forgot") // back where the way began
	h.answer("POST /auth/login", says(200, loggedIn(redirectTo("/dashboard"))))
	b.Fill("#password", "x")
	submit(b)
	b.At(h.URL + "/dashboard#/orders")
}

// The token is out of the address bar and the history before anything else
// happens, and survives neither a reload nor a look at the page.
func TestSetPassword(t *testing.T) {
	const path = "/auth/reset-password"
	h := newHost(t)
	h.answer("POST "+path, says(422, fault("password_too_common", "password")))
	b := open(t)
	b.Visit(h.URL + "/login#/set-password/t%2F0k3n/ada%2Bx%40example.com")
	b.Ready("#password_confirmation")
	b.At(h.URL + "/login#/set-password")
	history, err := chromedp.Run(b.Ctx, chromedp.NavigationEntries())
	b.Must(err)
	for _, e := range history.Entries {
		if strings.Contains(e.URL, "0k3n") {
			t.Errorf("the history keeps %s", e.URL)
		}
	}
	if browsertest.Eval[bool](b.Tab, `document.documentElement.outerHTML.includes('0k3n') || JSON.stringify(history.state).includes('0k3n')`) {
		t.Error("the page keeps the token where it can be seen")
	}
	passwords("one two three four", "one two three four")(b)
	b.See("easy to guess")
	b.Focused("#password")
	h.answer("POST "+path, says(200, obj{"message": "reset_success", "redirect": h.URL + "/login"}))
	passwords("five six seven eight", "five six seven eight")(b)
	b.See("Your password is changed")
	if got := browsertest.Eval[string](b.Tab, `document.querySelector('#login').value`); got != "ada+x@example.com" {
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
	b.Visit(h.URL + "/login#/set-password/t/a@b.c")
	b.Ready("#password_confirmation")
	passwords("five six seven eight", "five six seven eight")(b)
	b.At(h.URL + "/dashboard")
}

// A reset link is opened in spite of a session with an open step.
func TestSetPasswordWhileSignedIn(t *testing.T) {
	h := newHost(t)
	h.set("next", orgSetup())
	b := open(t)
	b.Visit(h.URL + "/login#/set-password/t/a@b.c")
	b.Ready("#password_confirmation")
}
