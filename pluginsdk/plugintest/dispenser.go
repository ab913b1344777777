package plugintest

import (
	"context"

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
	if a.succeeded() && (a.Intent.Kind() != pluginsdk.KindRedirect || a.Intent.Target() != target) {
		a.t.Errorf("the intent is %q %q, want a redirect to %q", a.Intent.Kind(), a.Intent.Target(), target)
	}
	return a
}

// AsksForOrganisation wants org_setup, with the person greeted by this name.
func (a Answer) AsksForOrganisation(personName string) Answer {
	a.t.Helper()
	if a.succeeded() && (a.Intent.Kind() != pluginsdk.KindOrgSetup || a.Intent.PersonName() != personName) {
		a.t.Errorf("the intent is %q for %q, want org_setup for %q", a.Intent.Kind(), a.Intent.PersonName(), personName)
	}
	return a
}

// IsDone wants [pluginsdk.Done].
func (a Answer) IsDone() Answer {
	a.t.Helper()
	if a.succeeded() && a.Intent.Kind() != pluginsdk.KindDone {
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
