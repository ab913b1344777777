package dispenserpython_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/conformance"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// The example is run as its README says.
func TestExample(t *testing.T) {
	python := need(t)
	cmd := exec.Command(python, "-m", "unittest")
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("python3 -m unittest: %v\n%s", err, out)
	}
	plugintest.Conformance(t, python, "dispenser.py")
	p := plugintest.Run(t, conformance.Program{Command: []string{python, "dispenser.py"}}, plugintest.Config(`{"page": "/conditions"}`))
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

// need returns a Python with gRPC, Debian's first, or skips the test, or fails it
// with REQUIRE_PYTHON=1, when there is none.
func need(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(python, "-c", "import grpc").Run() == nil {
			return python
		}
	}
	if os.Getenv("REQUIRE_PYTHON") == "1" {
		t.Fatal("Python with grpcio is missing: apt-get install python3-grpcio")
	}
	t.Skip("Python with grpcio is missing: apt-get install python3-grpcio")
	return ""
}
