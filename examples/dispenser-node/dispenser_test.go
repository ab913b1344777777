package dispensernode_test

import (
	"os/exec"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/conformance"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// The example is run as its README says.
func TestExample(t *testing.T) {
	node := need(t)
	if out, err := exec.Command(node, "--test").CombinedOutput(); err != nil {
		t.Errorf("node --test: %v\n%s", err, out)
	}
	plugintest.Conformance(t, node, "dispenser.js")
	p := plugintest.Run(t, conformance.Program{Command: []string{node, "dispenser.js"}}, plugintest.Config(`{"page": "/conditions"}`))
	p.Dispense(user(nil)).Holds("/conditions")
	accept := func(r *pluginsdk.Request) {
		r.Held, r.Form = "/conditions", pluginsdk.ValuesOf(map[string]pluginsdk.Value{"accept": true})
	}
	if effects := p.Dispense(user(nil), accept).IsDone().Intent.Effects(); len(effects) != 1 || effects[0].Name() != "terms_accepted" {
		t.Errorf("the effects are %v", effects)
	}
	p.Dispense(user("2026-05-04T12:00:00Z")).IsDone()
}

func user(accepted pluginsdk.Value) pluginsdk.User {
	return pluginsdk.User{ID: "1", Name: "Ada", Columns: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"terms_accepted": accepted})}
}
