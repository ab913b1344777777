package pluginsdk_test

import (
	"context"
	"errors"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// A held redirect, and an effect that names what it replaces, arrive as they were made;
// what says why it holds, and holds nobody, breaks the contract.
func TestHold(t *testing.T) {
	answers := map[string]pluginsdk.Intent{
		"held":     pluginsdk.Redirect("/terms").Hold("/a", "/b"),
		"why":      pluginsdk.Redirect("/terms").Hold().NeedsMoreInput(map[string]any{"message": "ü"}),
		"refused":  pluginsdk.Redirect("/code").Hold().Failed("code_wrong", "ü"),
		"replaces": pluginsdk.Done().With(pluginsdk.SetUser("n", int64(2)).Replacing(nil), pluginsdk.SetUser("s", nil).Replacing("x")),
		"unheld":   pluginsdk.Redirect("/terms").Failed("code_wrong"),
		"setup":    pluginsdk.OrgSetup("Ada").Hold(),
		"session":  pluginsdk.Done().With(pluginsdk.SetSession("n", int64(2)).Replacing(int64(1))),
		"value":    pluginsdk.Done().With(pluginsdk.SetUser("n", int64(2)).Replacing(struct{}{})),
	}
	p := plugintest.Serve(t, pluginsdk.Plugin{Name: "holds", Dispenser: pluginsdk.DispenserFunc(
		func(_ context.Context, user pluginsdk.User, _ *pluginsdk.Request) (pluginsdk.Intent, error) {
			return answers[user.Name], nil
		},
	)})
	ask := func(name string) plugintest.Answer { return p.Dispense(pluginsdk.User{ID: "1", Name: name}) }
	ask("held").Holds("/terms", "/a", "/b")
	if step := ask("why").Holds("/terms").Intent.NextStep(); step["message"] != "ü" {
		t.Errorf("next step %v", step)
	}
	ask("refused").Holds("/code").Refuses("code_wrong").Refuses("ü")
	ask("replaces").IsDone().With(pluginsdk.SetUser("n", int64(2)).Replacing(nil)).With(pluginsdk.SetUser("s", nil).Replacing("x"))
	for name, want := range map[string]string{"unheld": "call Hold", "setup": "only a redirect can", "session": "only one of SetUser can", "value": "what the effect on"} {
		_, err := p.Client.Dispense(t.Context(), pluginsdk.User{ID: "1", Name: name}, &pluginsdk.Request{})
		if !errors.Is(err, pluginsdk.ErrContract) {
			t.Errorf("%s: %v", name, err)
		}
		ask(name).Fails(want)
	}
}
