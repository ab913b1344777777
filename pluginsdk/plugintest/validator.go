package plugintest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Validate asks the plugin about the changes of one request.
func (p *Plugin) Validate(user pluginsdk.User, changes ...pluginsdk.Change) Ruling {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), callLimit)
	defer cancel()
	v, err := p.Client.ValidateFor(ctx, "test", user, changes)
	return Ruling{outcome{p.t, err, nil}, v}
}

// A Ruling is the answer of a validator. Its methods fail the test when the answer is another
// one, and return it for further checks.
type Ruling struct {
	outcome
	// Verdict is the answer itself, the zero value when the call failed.
	Verdict pluginsdk.Verdict
}

// Accepts wants changes that may be made, as they are or amended.
func (r Ruling) Accepts() Ruling {
	r.t.Helper()
	if r.succeeded() && r.Verdict.IsRefused() {
		r.t.Errorf("the changes are refused: %s", r.refusals())
	}
	return r
}

// AcceptsAsIs wants changes that may be made without an amendment.
func (r Ruling) AcceptsAsIs() Ruling {
	r.t.Helper()
	if r.Accepts(); r.Verdict.IsAmended() {
		r.t.Errorf("the changes are amended: %s", r.amendments())
	}
	return r
}

// Refuses wants a refusal of a property of a change, with a message that contains text. The
// property is empty for the entity as a whole.
func (r Ruling) Refuses(change int, property, text string) Ruling {
	r.t.Helper()
	if !r.succeeded() {
		return r
	}
	found := false
	r.Verdict.Refusals(func(c int, p, message string) {
		found = found || c == change && p == property && strings.Contains(message, text)
	})
	if !found {
		r.t.Errorf("the refusals are %s, want one of change %d, property %q, with %q", r.refusals(), change, property, text)
	}
	return r
}

// Amends wants an amendment of a property, with the value as [pluginsdk.Amend] takes it.
func (r Ruling) Amends(change int, property string, value any) Ruling {
	r.t.Helper()
	if !r.succeeded() {
		return r
	}
	want, found := "", false
	pluginsdk.Amend(change, property, value).Amendments(func(_ int, _ string, v json.RawMessage) { want = string(v) })
	r.Verdict.Amendments(func(c int, p string, v json.RawMessage) {
		found = found || c == change && p == property && string(v) == want
	})
	if !found {
		r.t.Errorf("the amendments are %s, want %s of change %d, property %q", r.amendments(), want, change, property)
	}
	return r
}

func (r Ruling) refusals() string {
	var list []string
	r.Verdict.Refusals(func(change int, property, message string) {
		list = append(list, fmt.Sprintf("change %d, property %q: %q", change, property, message))
	})
	return "[" + strings.Join(list, "; ") + "]"
}

func (r Ruling) amendments() string {
	var list []string
	r.Verdict.Amendments(func(change int, property string, value json.RawMessage) {
		list = append(list, fmt.Sprintf("change %d, property %q = %s", change, property, value))
	})
	return "[" + strings.Join(list, "; ") + "]"
}
