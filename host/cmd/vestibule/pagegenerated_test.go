package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/host/cmd/vestibule/internal/manual"
)

// docs/commands.md has each command and each flag as the program has them. With UPDATE=1
// the file is written anew.
func TestGeneratedCommands(t *testing.T) {
	file := filepath.Join(docs, "commands.md")
	made := commandsPage(wholeProgram())
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(document(t, "commands.md"), made); diff != "" {
		t.Errorf("%s is out of date, run make generate:\n%s", file, diff)
	}
}

func commandsPage(program manual.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Commands\n\n<!-- made by make generate: change the texts in host/cmd/vestibule -->\n\n%s.\n\n", capital(program.Short))
	fmt.Fprintf(&b, "%s\n\nEvery command takes `-c FILE`, `--set block.key=value` (several times) and `--help`. It exits with 0 when done, with 1 when it failed and with\n"+
		"2 for a mistake on the command line.\n\n| Command | Does |\n|---|---|\n", strings.ReplaceAll(program.Long, "VESTIBULE_BLOCK__KEY", "`VESTIBULE_BLOCK__KEY`"))
	for _, cmd := range program.Sub {
		fmt.Fprintf(&b, "| [`%s`](#vestibule-%[1]s) | %s |\n", cmd.Name, cmd.Short)
	}
	for _, cmd := range program.Sub {
		section(&b, "## ", program.Name+" "+cmd.Name, cmd)
		for _, sub := range cmd.Sub {
			section(&b, "### ", program.Name+" "+cmd.Name+" "+sub.Name, sub)
		}
	}
	return b.String()
}

// section is a command with what is its own: flags of all commands stand above.
func section(b *strings.Builder, level, path string, cmd manual.Command) {
	fmt.Fprintf(b, "\n%s%s\n\n", level, path)
	if len(cmd.Sub) > 0 {
		fmt.Fprintf(b, "%s.\n", capital(cmd.Short))
		return
	}
	if cmd.Args != "" {
		fmt.Fprintf(b, "`%s %s`\n\n", path, cmd.Args)
	}
	fmt.Fprintf(b, "%s.\n", capital(cmd.Short))
	if cmd.Long != "" {
		fmt.Fprintf(b, "\n%s\n", plain(cmd.Long))
	}
	head := "\n| Flag | Meaning |\n|---|---|\n"
	for _, f := range cmd.Flags {
		if f.Name == "c" || f.Name == "set" || f.Name == "help" {
			continue
		}
		usage := f.Usage
		if f.Default != "" {
			usage += "; `" + f.Default + "` by default"
		}
		fmt.Fprintf(b, "%s| `%s` | %s |\n", head, strings.TrimSpace(f.Spelled()+" "+f.Value), plain(usage))
		head = ""
	}
}

// plain keeps a text from meaning something in Markdown.
func plain(text string) string { return strings.NewReplacer("|", `\|`, "*", `\*`).Replace(text) }

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
