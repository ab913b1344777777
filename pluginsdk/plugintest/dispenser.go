package plugintest

import (
	"context"
	"fmt"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Dispense asks the plugin for the next step of user, at sign-in. The request
// can be edited: its language is English, and the routes home, dashboard and
// login exist.
func (p *Plugin) Dispense(user pluginsdk.User, edit ...func(*pluginsdk.Request)) Answer {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), callLimit)
	defer cancel()
	intent, err := p.Client.Dispense(ctx, user, request("/auth/login", edit))
	return Answer{outcome: outcome{p.t, err, intent.Effects()}, Intent: intent}
}

// An Answer is what a dispenser answered. Its methods fail the test when the
// answer is another one, and return it for further checks.
type Answer struct {
	outcome
	// Intent is the answer itself, the zero Intent when the call failed.
	Intent pluginsdk.Intent
}

// Redirects wants a redirect to target.
func (a Answer) Redirects(target string) Answer {
	a.t.Helper()
	if a.succeeded() && (!a.Intent.IsRedirect() || a.Intent.Target() != target || a.Intent.Held()) {
		a.t.Errorf("the intent is %s, want a redirect to %q", describeIntent(a.Intent), target)
	}
	return a
}

// Holds wants a redirect to target that holds the person, with these prefixes open.
func (a Answer) Holds(target string, prefixes ...string) Answer {
	a.t.Helper()
	held := a.Intent.Held() && a.Intent.Target() == target && slices.Equal(a.Intent.Prefixes(), prefixes)
	if a.succeeded() && !held {
		a.t.Errorf("the intent is %s, want one that holds at %q with the prefixes %q", describeIntent(a.Intent), target, prefixes)
	}
	return a
}

// Refuses wants a held redirect with a message, as of a wrong code.
func (a Answer) Refuses(message string) Answer {
	a.t.Helper()
	if a.succeeded() && !slices.Contains(a.Intent.Errors(), message) {
		a.t.Errorf("the intent is %s, want one with the message %q", describeIntent(a.Intent), message)
	}
	return a
}

func describeIntent(i pluginsdk.Intent) string {
	text := fmt.Sprintf("%q %q", i.Kind(), i.Target())
	if i.Held() {
		text += fmt.Sprintf(", held with the prefixes %q and the messages %q", i.Prefixes(), i.Errors())
	}
	return text
}

// AsksForOrganisation wants org_setup, with the person greeted by this name.
func (a Answer) AsksForOrganisation(personName string) Answer {
	a.t.Helper()
	if a.succeeded() && (!a.Intent.IsOrgSetup() || a.Intent.PersonName() != personName) {
		a.t.Errorf("the intent is %q for %q, want org_setup for %q", a.Intent.Kind(), a.Intent.PersonName(), personName)
	}
	return a
}

// IsDone wants [pluginsdk.Done].
func (a Answer) IsDone() Answer {
	a.t.Helper()
	if a.succeeded() && !a.Intent.IsDone() {
		a.t.Errorf("the intent is %q, want done", a.Intent.Kind())
	}
	return a
}

// With wants an effect, such as pluginsdk.SetUser("partner_id", int64(7)).
func (a Answer) With(effect pluginsdk.Effect) Answer {
	a.t.Helper()
	a.has(effect)
	return a
}
