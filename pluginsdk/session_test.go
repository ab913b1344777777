package pluginsdk_test

import (
	"context"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// An author learns in a test that a session cannot hold so much.
func TestSessionValuesHaveALimit(t *testing.T) {
	half := strings.Repeat("x", 16<<10)
	tests := map[string]struct {
		has     pluginsdk.Values
		effects []pluginsdk.Effect
		want    string // empty when it passes
	}{
		"one at its limit":  {effects: []pluginsdk.Effect{pluginsdk.SetSession("a", half)}},
		"one over it":       {effects: []pluginsdk.Effect{pluginsdk.SetSession("a", half+"x")}, want: `the session value "a" has 16385 bytes; 16384 are allowed`},
		"two over the sum":  {effects: []pluginsdk.Effect{pluginsdk.SetSession("a", half), pluginsdk.SetSession("b", []byte(half))}, want: "32790 bytes together; 32768 are allowed"},
		"one replaced":      {pluginsdk.ValuesOf(map[string]pluginsdk.Value{"a": half}), []pluginsdk.Effect{pluginsdk.SetSession("a", half)}, ""},
		"one removed":       {pluginsdk.ValuesOf(map[string]pluginsdk.Value{"a": half}), []pluginsdk.Effect{pluginsdk.SetSession("b", half), pluginsdk.SetSession("a", nil)}, ""},
		"one more":          {pluginsdk.ValuesOf(map[string]pluginsdk.Value{"a": half}), []pluginsdk.Effect{pluginsdk.SetSession("b", half)}, "together"},
		"full, but as told": {pluginsdk.ValuesOf(map[string]pluginsdk.Value{"a": half, "b": half}), nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := dispenses(t, func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
				return pluginsdk.Done().With(tt.effects...), nil
			})
			a := p.Dispense(pluginsdk.User{}, func(r *pluginsdk.Request) { r.Session = tt.has })
			if tt.want == "" {
				a.IsDone()
				return
			}
			a.Fails(pluginsdk.ErrContract.Error())
			a.Fails(tt.want)
		})
	}
}
