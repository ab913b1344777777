package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/conformance"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

func person(must pluginsdk.Value) pluginsdk.User {
	return pluginsdk.User{ID: "7", Email: "ada@example.com", Columns: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"must_change_password": must})}
}

// story asks the plugin, in whatever language, about people with and without the mark.
func story(t *testing.T, p *plugintest.Plugin) {
	for _, must := range []pluginsdk.Value{true, int64(1)} {
		p.Dispense(person(must)).Holds("/change-password")
		p.Notify(pluginsdk.Event{ID: "e1", Kind: "password_reset", User: person(must)}).With(pluginsdk.SetUser("must_change_password", false))
	}
	for _, must := range []pluginsdk.Value{false, int64(0), nil} {
		p.Dispense(person(must)).IsDone()
	}
	for name, e := range map[string]pluginsdk.Event{
		"nothing to clear": {ID: "e2", Kind: "password_reset", User: person(false)},
		"another kind":     {ID: "e3", Kind: "something_new", User: person(true)},
		"nobody":           {ID: "e4", Kind: "password_reset", User: pluginsdk.User{ID: "7"}},
	} {
		if n := p.Notify(e).Acknowledges(); len(n.Effects) > 0 {
			t.Errorf("%s: the effects are %v", name, n.Effects)
		}
	}
}

func TestGo(t *testing.T) { story(t, plugintest.Serve(t, newPlugin())) }

func TestPython(t *testing.T) {
	program := conformance.Program{Command: []string{python(t), "must_change_password.py"}}
	story(t, plugintest.Run(t, program))
	plugintest.ConformanceOf(t, program)
}

func TestConfig(t *testing.T) {
	problems := plugintest.ConfigProblems(t, newPlugin(), pluginsdk.Setup{UserRead: []string{"must_change_password"}})
	if len(problems) != 1 || problems[0].Path != "column" {
		t.Errorf("without the grant: %v", problems)
	}
}

func TestConformance(t *testing.T) { plugintest.Conformance(t, plugintest.Build(t, ".")) }

// python returns a Python with gRPC, Debian's first, or skips the test, or fails it
// with REQUIRE_PYTHON=1, when there is none.
func python(t *testing.T) string {
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
