package plugintest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// An outcome holds what the answers of all roles have in common.
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
		if reflect.DeepEqual(e, want) {
			return
		}
	}
	o.t.Errorf("the effects are %s, want among them %s", describe(o.effects...), describe(want))
}

func describe(effects ...pluginsdk.Effect) string {
	texts := make([]string, len(effects))
	for i, e := range effects {
		switch {
		case e.IsMail():
			texts[i] = fmt.Sprintf("send the mail %s with %q", e.Name(), e.Texts())
		case e.IsConsumeIntended():
			texts[i] = "consume the intended URL"
		case e.IsSetSession():
			texts[i] = fmt.Sprintf("set session %s = %#v", e.Name(), e.Value())
		case e.IsSetUser():
			texts[i] = fmt.Sprintf("set user %s = %#v", e.Name(), e.Value())
			if old, named := e.Replaced(); named {
				texts[i] += fmt.Sprintf(" in place of %#v", old)
			}
		}
	}
	return "[" + strings.Join(texts, "; ") + "]"
}
