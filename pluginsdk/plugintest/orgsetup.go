package plugintest

import (
	"context"
	"maps"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Handle has the plugin judge a form. Fields that are left out get the values of
// a small organisation.
func (p *Plugin) Handle(user pluginsdk.User, form map[string]pluginsdk.Value, edit ...func(*pluginsdk.Request)) Judgement {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), callLimit)
	defer cancel()
	req := request("/auth/intents/org-setup", nil)
	all := map[string]pluginsdk.Value{
		"legal_form": int64(2), "org_name": "Analytical Engines", "company_size": "small",
		"function": "developer", "billing_email": nil, "marketing_consent": false,
	}
	maps.Copy(all, form)
	req.Form = pluginsdk.ValuesOf(all)
	for _, f := range edit {
		f(req)
	}
	result, err := p.Client.Handle(ctx, user, req)
	return Judgement{outcome: outcome{p.t, err, result.Effects()}, Result: result}
}

// A Judgement is what a handler answered. Its methods fail the test when the
// answer is another one, and return it for further checks.
type Judgement struct {
	outcome
	// Result is the answer itself, the zero Result when the call failed.
	Result pluginsdk.Result
}

// Satisfied wants [pluginsdk.Satisfied].
func (j Judgement) Satisfied() Judgement {
	j.t.Helper()
	j.status(pluginsdk.Satisfied())
	return j
}

// NeedsMoreInput wants [pluginsdk.NeedsMoreInput] with something to say at each of
// the fields.
func (j Judgement) NeedsMoreInput(fields ...string) Judgement {
	j.t.Helper()
	if !j.status(pluginsdk.NeedsMoreInput(nil)) {
		return j
	}
	at, _ := j.Result.NextStep()["fields"].(map[string]any)
	for _, name := range fields {
		if at[name] == nil {
			j.t.Errorf("next_step is %v, want something at the field %q", j.Result.NextStep(), name)
		}
	}
	return j
}

// Refuses wants [pluginsdk.Failed] with a message that contains text.
func (j Judgement) Refuses(text string) Judgement {
	j.t.Helper()
	if j.status(pluginsdk.Failed()) && !strings.Contains(strings.Join(j.Result.Errors(), "\n"), text) {
		j.t.Errorf("the messages are %q, want one with %q", j.Result.Errors(), text)
	}
	return j
}

// With wants an effect, such as pluginsdk.SetUser("partner_id", int64(7)).
func (j Judgement) With(effect pluginsdk.Effect) Judgement {
	j.t.Helper()
	j.has(effect)
	return j
}

// status wants the status of another result.
func (j Judgement) status(of pluginsdk.Result) bool {
	j.t.Helper()
	if !j.succeeded() {
		return false
	}
	got, want := j.Result.Status(), of.Status()
	if got != want {
		j.t.Errorf("the status is %q, want %q", got, want)
	}
	return got == want
}
