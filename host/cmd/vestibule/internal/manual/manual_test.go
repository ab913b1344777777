package manual_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/host/cmd/vestibule/internal/manual"
)

// program has one of everything.
func program() manual.Command {
	file := manual.Flag{Name: "c", Value: "file", Usage: "the `file`: it's read first", Default: "app.hcl"}
	set := manual.Flag{Name: "set", Value: "key=value", Usage: "a setting"}
	return manual.Command{
		Name: "app", Short: "an example", Long: "What it is for.",
		Sub: []manual.Command{
			{Name: "serve", Short: "start it", Long: ".app is read first.\nThen C:\\app.", Flags: []manual.Flag{file, set}},
			{Name: "shell", Args: "bash|fish", Short: "choose one", Flags: []manual.Flag{file}},
			{Name: "user", Args: "add|list", Short: "see to \"people\"", Sub: []manual.Command{
				{Name: "add", Args: "FILE…", Short: "add people", Flags: []manual.Flag{file, {Name: "json", Usage: "print $JSON"}}},
				{Name: "list", Short: "list people"},
			}},
		},
	}
}

// completions are what a shell offers for the last word of a command line.
func TestCompletions(t *testing.T) {
	shells := map[string]string{
		// As readline does: the words, of which "=" is one, and which of them is completed.
		"bash": `source app.bash; COMP_WORDS=(); for word in $LINE; do COMP_WORDS+=(${word//=/ = }); done
			[ "${LINE% }" = "$LINE" ] || COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _app; printf '%s\n' "${COMPREPLY[@]}"`,
		"fish": `source app.fish; complete -C $LINE`,
	}
	for _, tt := range []struct {
		name, line string
		want       []string
	}{
		{"commands", "app ", []string{"serve", "shell", "user"}},
		{"commands by their beginning", "app s", []string{"serve", "shell"}},
		{"commands of a group", "app user ", []string{"add", "list"}},
		{"commands behind a flag", "app -c other.hcl user ", []string{"add", "list"}},
		{"a command that is also a flag's value", "app -c user s", []string{"serve", "shell"}},
		{"choices", "app shell ", []string{"bash", "fish"}},
		{"flags", "app serve --s", []string{"--set"}},
		{"flags of a command in a group", "app user add --j", []string{"--json"}},
		{"files behind a flag", "app serve -c here", []string{"here.hcl"}},
		{"files as arguments", "app user add here", []string{"here.hcl"}},
		{"nothing for a value that nobody knows", "app serve --set here", nil},
	} {
		for shell, script := range shells {
			t.Run(tt.name+" in "+shell, func(t *testing.T) {
				dir := write(t, shell)
				cmd := exec.Command(has(t, shell), "-c", script)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "LINE="+tt.line, "HOME="+dir)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				var got []string
				for line := range strings.Lines(string(out)) {
					if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); word != "" {
						got = append(got, word)
					}
				}
				slices.Sort(got)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("completions of %q (-want +got):\n%s", tt.line, diff)
				}
			})
		}
	}
}

// zsh offers completions to a terminal alone; here it reads the script, which names all words.
func TestCompletionOfZsh(t *testing.T) {
	dir := write(t, "zsh")
	text, err := os.ReadFile(filepath.Join(dir, "app.zsh"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`'add:add people'`, `'--json:print $JSON'`, `'-c:the `, `it'\''s read first'`, "'bash' 'fish'"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the script lacks %s", want)
		}
	}
	cmd := exec.Command(has(t, "zsh"), "-f", "-c", "autoload -U compinit; compinit -D -u; source ./app.zsh; print $_comps[app]")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "_app" {
		t.Errorf("zsh completes app by %q (%v), want _app", out, err)
	}
}

func TestCompletionKnowsNoOtherShell(t *testing.T) {
	if _, err := manual.Completion("tcsh", program()); err == nil {
		t.Error("there is a completion for tcsh, want an error")
	}
}

// write makes a folder with a shell's script and a file.
func write(t *testing.T, shell string) string {
	t.Helper()
	dir := t.TempDir()
	text, err := manual.Completion(shell, program())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "app."+shell), []byte(text), 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "here.hcl"), nil, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// has finds a shell, or skips the test where it may be lacking.
func has(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("REQUIRE_SHELLS") == "1" {
		t.Fatalf("there is no %s here", name)
	}
	if err != nil {
		t.Skipf("there is no %s here", name)
	}
	return path
}

func TestPages(t *testing.T) {
	got := map[string]string{}
	for _, page := range manual.Pages(program(), "app 1.2") {
		got[page.Name] = page.Text
	}
	for name, want := range map[string][]string{
		"app.1":       {`.TH APP 1 "" "app 1.2" "Vestibule"`, `app \- an example`, ".B user add|list\nSee to \\(dqpeople\\(dq.", ".BR app\\-user (1)"},
		"app-serve.1": {`\&.app is read first. Then C:\eapp.`, "\\fB\\-c\\fR \\fIfile\\fR\n", "(default app.hcl)", ".SH EXIT STATUS"},
		"app-shell.1": {".B app shell\nbash|fish"},
		"app-user.1":  {".B app user add\nFILE\\[u2026]", ".SS list\nList people."},
	} {
		for _, text := range want {
			if !strings.Contains(got[name], text) {
				t.Errorf("%s lacks %q:\n%s", name, text, got[name])
			}
		}
	}
	if len(got) != 4 {
		t.Errorf("there are %d pages, want one for the program and each command", len(got))
	}
}

// What troff would warn of, people would not see on their screen.
func TestPagesAreTroff(t *testing.T) {
	groff := has(t, "groff")
	for _, page := range manual.Pages(program(), "app 1.2") {
		cmd := exec.Command(groff, "-man", "-ww", "-z", "-Tutf8")
		cmd.Stdin = strings.NewReader(page.Text)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v %s", page.Name, err, out)
		}
	}
}
