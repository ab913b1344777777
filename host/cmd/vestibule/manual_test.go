package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra/doc"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// TestManual writes the man pages into the folder that MANUAL names. The generator is in
// no program that is released. Each page is free of what troff warns of.
func TestManual(t *testing.T) {
	dir := cmp.Or(os.Getenv("MANUAL"), t.TempDir())
	root := rootCommand(console{})
	head := &doc.GenManHeader{Section: "1", Source: "vestibule " + host.Version(), Manual: "Vestibule"}
	if err := doc.GenManTree(root, head, dir); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"vestibule.1", "vestibule-serve.1", "vestibule-user-reset-link.1"} {
		if !slices.Contains(pages, filepath.Join(dir, want)) {
			t.Errorf("there is no page %s: %q", want, pages)
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("there is no groff here")
	}
	for _, page := range pages {
		if out, err := exec.Command(groff, "-Kutf8", "-man", "-t", "-ww", "-z", "-Tutf8", page).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v %s", filepath.Base(page), err, out)
		}
	}
}

// Completions are the words that a shell offers for the last word of a command line.
func TestCompletions(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "here.hcl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", dir, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	shells := map[string]string{
		// As readline does: the words, of which "=" is one, and the index of the completed one.
		"bash": `source <(vestibule completion bash); COMP_WORDS=(); for word in $LINE; do COMP_WORDS+=(${word//=/ = }); done
			[ "${LINE% }" = "$LINE" ] || COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_TYPE=9
			type() { echo builtin; }; compopt() { [ "$*" != "+o default" ] || no=1; }; __start_vestibule
			if [ ${#COMPREPLY[@]} = 0 ] && [ ! "$no" ]; then compgen -f -- "$cur${COMP_WORDS[COMP_CWORD]}"; else printf '%s\n' "${COMPREPLY[@]}"; fi`,
		"fish": `vestibule completion fish | source; complete -C $LINE`,
		"zsh":  `autoload -U compinit; compinit -D -u; source <(vestibule completion zsh); [ "$_comps[vestibule]" = _vestibule ] && vestibule __complete ${(s: :)LINE#vestibule } ${${(M)LINE% }:+""} 2>/dev/null | grep -v '^:'`,
	}
	for _, tt := range []struct {
		name, line string
		want       []string
	}{
		{"commands by their beginning", "vestibule se", []string{"serve", "session"}},
		{"commands of a group", "vestibule plugin ", []string{"call", "check", "list", "new", "sum"}},
		{"commands behind a flag", "vestibule -c other.hcl odata e", []string{"explain"}},
		{"a command that is also a flag's value", "vestibule -c user se", []string{"serve", "session"}},
		{"commands behind a setting", "vestibule --set a.b=c odata e", []string{"explain"}},
		{"choices", "vestibule completion b", []string{"bash"}},
		{"flags", "vestibule serve --s", []string{"--set"}},
		{"flags of a command in a group", "vestibule user list --j", []string{"--json"}},
		{"files behind a flag", "vestibule serve -c here", []string{"here.hcl"}},
		{"files as arguments", "vestibule backup here", []string{"here.hcl"}},
		{"nothing for a setting", "vestibule serve --set here", nil},
	} {
		for shell, script := range shells {
			if shell == "zsh" && slices.Equal(tt.want, []string{"here.hcl"}) {
				continue // zsh offers files to a terminal alone
			}
			t.Run(tt.name+" in "+shell, func(t *testing.T) {
				path, err := exec.LookPath(shell)
				if err != nil {
					if os.Getenv("REQUIRE_SHELLS") != "" {
						t.Fatal("there is no " + shell + " (apt-get install " + shell + ")")
					}
					t.Skip("there is no " + shell + " here")
				}
				cmd := exec.Command(path, "-c", script)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "LINE="+tt.line, "HOME="+dir, "PATH="+dir+":"+os.Getenv("PATH"))
				out, _ := cmd.CombinedOutput() // what is offered counts, not the last test's outcome
				var got []string
				for line := range strings.Lines(string(out)) {
					if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); word != "" {
						got = append(got, strings.Fields(word)[0])
					}
				}
				slices.Sort(got)
				if diff := gocmp.Diff(tt.want, got); diff != "" {
					t.Errorf("completions of %q (-want +got):\n%s\n%s", tt.line, diff, out)
				}
			})
		}
	}
}
