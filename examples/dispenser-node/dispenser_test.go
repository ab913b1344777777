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
	p := plugintest.Run(t, conformance.Program{Command: []string{node, "dispenser.js"}}, plugintest.Config(`{"page": "/pay"}`))
	p.Dispense(user(int64(1))).Redirects("/pay").With(pluginsdk.ConsumeIntended())
	p.Dispense(user(nil)).IsDone()
}

func user(ends pluginsdk.Value) pluginsdk.User {
	return pluginsdk.User{ID: "1", Name: "Ada", Columns: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"trial_ends_at": ends})}
}
