package plugintest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// An outcome is what the answers of both roles have in common.
type outcome struct {
	t       testing.TB
	err     error
	effects []pluginsdk.Effect
}

// Fails fails the test unless the call failed with an error that contains text.
func (o outcome) Fails(text string) {
	o.t.Helper()
	if o.err == nil || !strings.Contains(o.err.Error(), text) {
		o.t.Errorf("the call's error is %v, want one with %q", o.err, text)
	}
}

func (o outcome) succeeded() bool {
	o.t.Helper()
	if o.err != nil {
		o.t.Errorf("the call failed: %v", o.err)
	}
	return o.err == nil
}

// has fails the test unless the effect was asked for.
func (o outcome) has(want pluginsdk.Effect) {
	o.t.Helper()
	for _, e := range o.effects {
		if e.Kind() == want.Kind() && e.Name() == want.Name() && reflect.DeepEqual(e.Value(), want.Value()) {
			return
		}
	}
	o.t.Errorf("the effects are %s, want among them %s", describe(o.effects...), describe(want))
}

func describe(effects ...pluginsdk.Effect) string {
	texts := make([]string, len(effects))
	for i, e := range effects {
		switch e.Kind() {
		case pluginsdk.EffectConsumeIntended:
			texts[i] = "consume the intended URL"
		case pluginsdk.EffectSetSession:
			texts[i] = fmt.Sprintf("set session %s = %#v", e.Name(), e.Value())
		case pluginsdk.EffectSetUser:
			texts[i] = fmt.Sprintf("set user %s = %#v", e.Name(), e.Value())
		}
	}
	return "[" + strings.Join(texts, "; ") + "]"
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
	j.status(pluginsdk.StatusSatisfied)
	return j
}

// NeedsMoreInput wants [pluginsdk.NeedsMoreInput] with something to say at each of
// the fields.
func (j Judgement) NeedsMoreInput(fields ...string) Judgement {
	j.t.Helper()
	if !j.status(pluginsdk.StatusNeedsMoreInput) {
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
	if j.status(pluginsdk.StatusError) && !strings.Contains(strings.Join(j.Result.Errors(), "\n"), text) {
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

func (j Judgement) status(want pluginsdk.Status) bool {
	j.t.Helper()
	if !j.succeeded() {
		return false
	}
	if j.Result.Status() != want {
		j.t.Errorf("the status is %q, want %q", j.Result.Status(), want)
	}
	return j.Result.Status() == want
}
