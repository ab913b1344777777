package plugintest

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/conformance"
)

// Conformance starts a plugin's program, in any language, and runs the
// conformance checks against it, each as a subtest. The program is configured
// with an empty config block.
func Conformance(t *testing.T, command string, args ...string) {
	t.Helper()
	ConformanceOf(t, conformance.Program{Command: append([]string{command}, args...)})
}

// ConformanceOf is [Conformance] for a program that needs more than a command,
// such as a config block.
func ConformanceOf(t *testing.T, p conformance.Program) {
	t.Helper()
	report, err := conformance.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Run(f.Check, func(t *testing.T) {
			if f.Err != nil {
				t.Error(f.Err)
			}
		})
	}
}

// Run starts a program and configures it, by default with Config("{}"), for tests
// of plugins in other languages by the same means as those in Go. It fails the
// test when the plugin refuses the setup.
func Run(t testing.TB, p conformance.Program, setup ...pluginsdk.Setup) *Plugin {
	t.Helper()
	running, err := conformance.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.Stop)
	s := &Plugin{Client: running.Client, t: t}
	ctx, cancel := context.WithTimeout(t.Context(), callLimit)
	defer cancel()
	if s.about, err = s.Client.Describe(ctx, "test"); err != nil {
		t.Fatal(err)
	}
	s.mustConfigure(setup)
	return s
}

// Build builds the Go program in a directory, such as ".", and returns its path.
func Build(t testing.TB, dir string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "plugin")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", dir, err, out)
	}
	return program
}
