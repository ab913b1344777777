package pluginsdk_test

import (
	"context"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// What a call is told of its trace reaches the author's code, and what it is not told
// does not.
func TestTrace(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	var got [2]string
	p := plugintest.Serve(t, pluginsdk.Plugin{
		Name: "traced",
		Dispenser: pluginsdk.DispenserFunc(func(_ context.Context, _ pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
			got[0], got[1] = req.Traceparent, req.Tracestate
			return pluginsdk.Redirect("/dashboard"), nil
		}),
	})
	for name, want := range map[string][2]string{
		"with state": {parent, "a=1,b=2"}, "without": {parent, ""}, "none": {},
	} {
		t.Run(name, func(t *testing.T) {
			req := &pluginsdk.Request{ID: "1", IntentID: "1", Method: "POST", Path: "/auth/login", Traceparent: want[0], Tracestate: want[1]}
			if _, err := p.Client.Dispense(t.Context(), pluginsdk.User{ID: "1"}, req); err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
