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
	p := plugintest.Run(t, conformance.Program{Command: []string{python, "dispenser.py"}}, plugintest.Config(`{"page": "/pay"}`))
	p.Dispense(user(int64(1))).Redirects("/pay").With(pluginsdk.ConsumeIntended())
	p.Dispense(user(nil)).IsDone()
}

func user(ends pluginsdk.Value) pluginsdk.User {
	return pluginsdk.User{ID: "1", Name: "Ada", Columns: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"trial_ends_at": ends})}
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
