package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// docs/commands.md has each command and each flag as the program has them. With UPDATE=1
// the file is written anew.
func TestGeneratedCommands(t *testing.T) {
	file := filepath.Join(docs, "commands.md")
	made := commandsPage(rootCommand(console{}))
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

func commandsPage(program *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Commands\n\n<!-- made by make generate: change the texts in host/cmd/vestibule -->\n\n%s.\n\n", capital(program.Short))
	fmt.Fprintf(&b, "%s\n\nEvery command takes `-c FILE`, `--set block.key=value` (several times) and `--help`. It exits with 0 when done, with 1 when it failed and with\n"+
		"2 for a mistake on the command line.\n\n| Command | Does |\n|---|---|\n", strings.ReplaceAll(furtherText(program), "VESTIBULE_BLOCK__KEY", "`VESTIBULE_BLOCK__KEY`"))
	for _, cmd := range program.Commands() {
		fmt.Fprintf(&b, "| [`%s`](#vestibule-%[1]s) | %s |\n", cmd.Name(), cmd.Short)
	}
	for _, cmd := range program.Commands() {
		section(&b, "## ", cmd)
		for _, sub := range cmd.Commands() {
			section(&b, "### ", sub)
		}
	}
	return b.String()
}

// furtherText returns a command's help without its first line.
func furtherText(cmd *cobra.Command) string {
	return strings.TrimSpace(strings.TrimPrefix(cmd.Long, cmd.Short+"."))
}

// section is a command with what is its own: flags of all commands stand above.
func section(b *strings.Builder, level string, cmd *cobra.Command) {
	fmt.Fprintf(b, "\n%s%s\n\n", level, cmd.CommandPath())
	if cmd.HasSubCommands() {
		fmt.Fprintf(b, "%s.\n", capital(cmd.Short))
		return
	}
	if cmd.UseLine() != cmd.CommandPath() {
		fmt.Fprintf(b, "`%s`\n\n", cmd.UseLine())
	}
	fmt.Fprintf(b, "%s.\n", capital(cmd.Short))
	if long := furtherText(cmd); long != "" {
		fmt.Fprintf(b, "\n%s\n", plain(long))
	}
	head := "\n| Flag | Meaning |\n|---|---|\n"
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "false" {
			usage += "; `" + f.DefValue + "` by default"
		}
		fmt.Fprintf(b, "%s| `%s` | %s |\n", head, strings.TrimSpace("--"+f.Name+" "+value), plain(usage))
		head = ""
	})
}

// plain keeps a text from meaning something in Markdown.
func plain(text string) string { return strings.NewReplacer("|", `\|`, "*", `\*`).Replace(text) }

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
