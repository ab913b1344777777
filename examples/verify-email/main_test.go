package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/conformance"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

const block = `{"secret": "0123456789abcdef0123456789abcdef"}`

var ada = pluginsdk.User{ID: "7", Email: "ada@example.com", Columns: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"email_verified_at": nil})}

// link returns the token of the mail in an answer.
func link(t *testing.T, a plugintest.Answer) string {
	t.Helper()
	for _, e := range a.Intent.Effects() {
		if e.IsMail() && e.Name() == "verify-email" {
			path, token, _ := strings.Cut(e.Texts()["link"], "?token=")
			if path != "/verify-email" || token == "" {
				t.Errorf("the link is %q", e.Texts()["link"])
			}
			return token
		}
	}
	return ""
}

func posts(values map[string]pluginsdk.Value) func(*pluginsdk.Request) {
	return func(r *pluginsdk.Request) {
		r.Held, r.Form = "/verify-email", pluginsdk.ValuesOf(values)
		r.Session = pluginsdk.ValuesOf(map[string]pluginsdk.Value{"sent": true})
	}
}

func sets(a plugintest.Answer, column string) bool {
	for _, e := range a.Intent.Effects() {
		if e.IsSetUser() && e.Name() == column {
			return true
		}
	}
	return false
}

// story asks the plugin, in whatever language, about one person until the address is
// verified.
func story(t *testing.T, p *plugintest.Plugin) {
	first := p.Dispense(ada).Holds("/verify-email").With(pluginsdk.SetSession("sent", true))
	token := link(t, first)
	if again := p.Dispense(ada, posts(nil)).Holds("/verify-email"); link(t, again) != "" {
		t.Error("a second mail went to one session")
	}
	if again := p.Dispense(ada, posts(map[string]pluginsdk.Value{"again": "true"})).Holds("/verify-email"); link(t, again) == "" {
		t.Error("no mail went to somebody who asked for it again")
	}
	for _, bad := range []string{"", "x", "A", token[:len(token)-2], "B" + token[1:], strings.Repeat("A", 60)} {
		p.Dispense(ada, posts(map[string]pluginsdk.Value{"token": bad})).Refuses("This link is not valid any more.")
	}
	p.Dispense(ada, posts(map[string]pluginsdk.Value{"token": "x"}), func(r *pluginsdk.Request) { r.Locale = "de-AT" }).Refuses("Dieser Link gilt nicht mehr.")
	moved := ada
	moved.Email = "eve@example.com"
	p.Dispense(moved, posts(map[string]pluginsdk.Value{"token": token})).Refuses("This link is not valid any more.")
	if a := p.Dispense(ada, posts(map[string]pluginsdk.Value{"token": token})).IsDone(); !sets(a, "email_verified_at") {
		t.Errorf("the effects are %v", a.Intent.Effects())
	}
	opened := func(r *pluginsdk.Request) { r.Intended = "/verify-email?token=" + token }
	if a := p.Dispense(ada, opened).IsDone().With(pluginsdk.ConsumeIntended()); !sets(a, "email_verified_at") {
		t.Errorf("the effects are %v", a.Intent.Effects())
	}
	verified := ada
	verified.Columns = pluginsdk.ValuesOf(map[string]pluginsdk.Value{"email_verified_at": "2026-05-04T12:00:00Z"})
	p.Dispense(verified).IsDone()
}

func TestGo(t *testing.T) {
	v, plugin := newPlugin()
	p := plugintest.Serve(t, plugin, plugintest.Config(block))
	story(t, p)
	token := link(t, p.Dispense(ada))
	v.now = func() time.Time { return time.Now().Add(25 * time.Hour) }
	p.Dispense(ada, posts(map[string]pluginsdk.Value{"token": token})).Refuses("This link is not valid any more.")
}

func TestPython(t *testing.T) {
	program := conformance.Program{Command: []string{python(t), "verify_email.py"}, Setup: plugintest.Config(block)}
	story(t, plugintest.Run(t, program, plugintest.Config(block)))
	plugintest.ConformanceOf(t, program)
}

func TestConfig(t *testing.T) {
	all := []string{"*"}
	for name, tt := range map[string]struct {
		setup pluginsdk.Setup
		path  string
	}{
		"a short secret":  {plugintest.Config(`{"secret": "x"}`), "secret"},
		"no grant":        {pluginsdk.Setup{Config: []byte(block), UserRead: all, Mails: all}, "column"},
		"no mail granted": {pluginsdk.Setup{Config: []byte(block), UserRead: all, UserWrite: all}, ""},
	} {
		_, plugin := newPlugin()
		problems := plugintest.ConfigProblems(t, plugin, tt.setup)
		if len(problems) != 1 || problems[0].Path != tt.path {
			t.Errorf("%s: %v, want one at %q", name, problems, tt.path)
		}
	}
}

func TestConformance(t *testing.T) {
	plugintest.ConformanceOf(t, conformance.Program{Command: []string{plugintest.Build(t, ".")}, Setup: plugintest.Config(block)})
}

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
