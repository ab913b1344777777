package plugintest

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Begin asks the plugin where a browser is sent, with a callback and a state of the test's.
func (p *Plugin) Begin(edit ...func(*pluginsdk.BeginRequest)) Begun {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), callLimit)
	defer cancel()
	r := pluginsdk.BeginRequest{ID: "test", Callback: "https://app.example.com/auth/identity/test/callback", State: "the-state-of-the-test", Locale: "en"}
	for _, f := range edit {
		f(&r)
	}
	a, err := p.Client.Begin(ctx, r)
	return Begun{outcome: outcome{p.t, err, nil}, Authorization: a, plugin: p, request: r}
}

// A Begun is a sign-in that a plugin has begun. Its methods fail the test when the browser
// is sent elsewhere, and return it for further checks.
type Begun struct {
	outcome
	// Authorization is the answer itself, the zero value when the call failed.
	Authorization pluginsdk.Authorization

	plugin  *Plugin
	request pluginsdk.BeginRequest
}

// SendsTo wants an address, which is compared without its query.
func (b Begun) SendsTo(address string) Begun {
	b.t.Helper()
	if got, _, _ := strings.Cut(b.Authorization.URL, "?"); b.succeeded() && got != address {
		b.t.Errorf("the browser is sent to %q, want %q", got, address)
	}
	return b
}

// Asks wants a parameter in the query of the address. Without a value it may have any, but
// not none.
func (b Begun) Asks(parameter, value string) Begun {
	b.t.Helper()
	if !b.succeeded() {
		return b
	}
	if got := b.Parameter(parameter); got == "" || got != cmp.Or(value, got) {
		b.t.Errorf("the parameter %s of the address is %q, want %q", parameter, got, value)
	}
	return b
}

// Parameter returns a parameter in the query of the address; empty if there is none.
func (b Begun) Parameter(name string) string {
	_, query, _ := strings.Cut(b.Authorization.URL, "?")
	values, _ := url.ParseQuery(query) // what cannot be read is not there
	return values.Get(name)
}

// Finish gives the plugin the parameters with which a browser comes back from this
// sign-in. The state is added to them.
func (b Begun) Finish(parameters map[string]string) Identification {
	b.t.Helper()
	all := map[string]string{"state": b.request.State}
	maps.Copy(all, parameters)
	return b.plugin.Finish(pluginsdk.FinishRequest{
		ID: b.request.ID, Callback: b.request.Callback, Parameters: all, Private: b.Authorization.Private,
		Locale: b.request.Locale, Fresh: b.request.Fresh,
	})
}

// Finish asks the plugin who the person is, also for a sign-in that it has not begun.
func (p *Plugin) Finish(r pluginsdk.FinishRequest) Identification {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), callLimit)
	defer cancel()
	result, err := p.Client.Finish(ctx, r)
	return Identification{outcome: outcome{p.t, err, result.Effects()}, Result: result}
}

// An Identification is the answer of an identity provider to a browser that is back. Its
// methods fail the test when the answer is another one, and return it for further checks.
type Identification struct {
	outcome
	// Result is the answer itself, the zero value when the call failed.
	Result pluginsdk.IdentityResult
}

// Identifies wants the person with a subject.
func (i Identification) Identifies(subject string) Identification {
	i.t.Helper()
	if got, found := i.identity(); found && got.Subject != subject {
		i.t.Errorf("the subject is %q, want %q", got.Subject, subject)
	}
	return i
}

// Verified wants an address that the provider has verified; empty for none.
func (i Identification) Verified(email string) Identification {
	i.t.Helper()
	got, found := i.identity()
	if !got.EmailVerified {
		got.Email = ""
	}
	if found && got.Email != email {
		i.t.Errorf("the verified address is %q, want %q", got.Email, email)
	}
	return i
}

// Refuses wants [pluginsdk.Refused] with a reason that contains text.
func (i Identification) Refuses(text string) Identification {
	i.t.Helper()
	if !i.succeeded() {
		return i
	}
	if got, found := i.Result.Identity(); found {
		i.t.Errorf("the person is %q, want a refusal", got.Subject)
	} else if !strings.Contains(i.Result.Reason(), text) {
		i.t.Errorf("the reason is %q, want one with %q", i.Result.Reason(), text)
	}
	return i
}

// With wants an effect, such as pluginsdk.SetUser("team", "blue").
func (i Identification) With(effect pluginsdk.Effect) Identification {
	i.t.Helper()
	i.has(effect)
	return i
}

func (i Identification) identity() (pluginsdk.Identity, bool) {
	i.t.Helper()
	if !i.succeeded() {
		return pluginsdk.Identity{}, false
	}
	got, found := i.Result.Identity()
	if !found {
		i.t.Errorf("the person is refused (%q), want an identity", i.Result.Reason())
	}
	return got, found
}
