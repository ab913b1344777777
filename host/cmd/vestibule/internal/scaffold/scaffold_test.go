package scaffold_test

import (
	"errors"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/cmd/vestibule/internal/scaffold"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

func roleSets() map[string][]string {
	return map[string][]string{
		"none named": nil, "org_setup": {pluginsdk.RoleOrgSetup},
		"listener": {pluginsdk.RoleListener}, "identity_provider": {pluginsdk.RoleIdentityProvider}, "validator": {pluginsdk.RoleValidator}, "all": scaffold.Roles(),
	}
}

func write(t *testing.T, p scaffold.Plugin) (string, scaffold.Written) {
	t.Helper()
	dir := t.TempDir()
	out, err := scaffold.Write(dir, p)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, p.Name), out
}

func run(t *testing.T, dir string, command ...string) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", command, err, out)
	}
}

// Each new plugin passes its own tests; in Go with this tree in place of the release.
// The walk of a stranger runs the conformance checks, too.
func TestNewPluginsPassTheirTests(t *testing.T) {
	root, err := filepath.Abs("../../../../..")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]func(t *testing.T, dir string, out scaffold.Written){
		"go": func(t *testing.T, dir string, out scaffold.Written) {
			for _, name := range out.Files {
				text, err := os.ReadFile(filepath.Join(dir, name))
				if formatted, bad := format.Source(text); filepath.Ext(name) == ".go" && (err != nil || bad != nil || string(formatted) != string(text)) {
					t.Errorf("%s is not as gofmt has it: %v", name, errors.Join(err, bad))
				}
			}
			sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			run(t, dir, "go", "mod", "edit", "-replace", "github.com/vestibule-dev/vestibule/v2="+root)
			if strings.HasSuffix(t.Name(), "/all") { // to link is slow
				run(t, dir, "go", "test", "-count=1", "-run", "^Test(Dispense|Handle|Notify|SignIn)$", ".")
				return
			}
			run(t, dir, "go", "vet", ".")
		},
		"node": func(t *testing.T, dir string, _ scaffold.Written) {
			need(t, "REQUIRE_NODE", "node")
			run(t, dir, "node", "--test")
		},
		"python": func(t *testing.T, dir string, _ scaffold.Written) {
			need(t, "REQUIRE_PYTHON", "python3")
			run(t, dir, "python3", "-m", "unittest")
		},
	}
	for lang, test := range tests {
		for name, roles := range roleSets() {
			t.Run(lang+"/"+name, func(t *testing.T) {
				dir, out := write(t, scaffold.Plugin{Name: "My-plugin_2", Lang: lang, Roles: roles, Version: "v2.0.0"})
				readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
				if err != nil || strings.Count(string(readme), "\n") != 5 {
					t.Errorf("the README has not five lines (%v):\n%s", err, readme)
				}
				if !slices.Contains(out.Files, ".gitignore") {
					t.Errorf("there is no .gitignore: %v", out.Files)
				}
				test(t, dir, out)
			})
		}
	}
}

// need skips the test without the program, or fails it with the variable set.
func need(t *testing.T, variable, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv(variable) == "1" {
		t.Fatal(program + " is missing")
	}
	t.Skip(program + " is missing")
}

func TestNothingIsOverwritten(t *testing.T) {
	dir := t.TempDir()
	p := scaffold.Plugin{Name: "hello", Lang: "python"}
	if _, err := scaffold.Write(dir, p); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, "hello", "plugin.py")
	if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := scaffold.Write(dir, p); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
		t.Errorf("the file has %q, %v", text, err)
	}
}

func TestWhatCannotBeWritten(t *testing.T) {
	tests := map[string]struct {
		plugin scaffold.Plugin
		want   string
	}{
		"a path":           {scaffold.Plugin{Name: "../x", Lang: "go"}, "is no name for a plugin"},
		"no name":          {scaffold.Plugin{Lang: "go"}, "is no name for a plugin"},
		"another language": {scaffold.Plugin{Name: "x", Lang: "ruby"}, `the language "ruby": use one of go, node, python`},
		"another role":     {scaffold.Plugin{Name: "x", Lang: "go", Roles: []string{"mailer"}}, `the role "mailer": use some of dispenser, org_setup, listener, identity_provider, validator`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := scaffold.Write(dir, tt.plugin); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left %v, %v", left, err)
			}
		})
	}
}

// docs/plugins.md shows what is written, and not something like it.
func TestDocumentsShowWhatIsWritten(t *testing.T) {
	text, err := os.ReadFile("../../../../../docs/plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]int{}
	for lang, fence := range map[string]string{"go": "```go\n", "python": "```python\n"} {
		dir, out := write(t, scaffold.Plugin{Name: "hello", Lang: lang, Roles: []string{pluginsdk.RoleDispenser, pluginsdk.RoleOrgSetup}})
		var all strings.Builder
		for _, name := range out.Files {
			file, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			all.Write(file)
		}
		for _, heading := range []string{"## 1. Write one in Go\n", "## 3. Write one in Python or Node\n"} {
			_, section, ok := strings.Cut(string(text), heading)
			if !ok {
				t.Errorf("there is no section %q", heading)
			}
			section, _, _ = strings.Cut(section, "\n## ")
			for block := range strings.SplitSeq(section, fence) {
				if code, _, closed := strings.Cut(block, "```\n"); closed && strings.Contains(all.String(), code) {
					shown[lang]++
				}
			}
		}
	}
	if shown["go"] != 2 || shown["python"] != 1 {
		t.Errorf("shown as written are %v, want the plugin in Go and Python and its test in Go", shown)
	}
}
