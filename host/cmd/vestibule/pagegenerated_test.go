package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
		"2 for a mistake on the command line. Several have these flags:\n", strings.ReplaceAll(furtherText(program), "VESTIBULE_BLOCK__KEY", "`VESTIBULE_BLOCK__KEY`"))
	shared := sharedFlags(program)
	flagTable(&b, slices.Sorted(maps.Keys(shared)))
	for _, cmd := range program.Commands() {
		section(&b, "## ", cmd, shared)
		for _, sub := range cmd.Commands() {
			section(&b, "### ", sub, shared)
		}
	}
	return b.String()
}

// sharedFlags returns the rows of flags that mean the same in several commands.
func sharedFlags(program *cobra.Command) map[string]bool {
	count := map[string]int{}
	for _, group := range program.Commands() {
		for _, cmd := range append(group.Commands(), group) {
			for _, row := range flagRows(cmd) {
				count[row]++
			}
		}
	}
	maps.DeleteFunc(count, func(_ string, n int) bool { return n == 1 })
	shared := map[string]bool{}
	for row := range count {
		shared[row] = true
	}
	return shared
}

// furtherText returns a command's help without its first line.
func furtherText(cmd *cobra.Command) string {
	return strings.TrimSpace(strings.TrimPrefix(cmd.Long, cmd.Short+"."))
}

// section writes a command with its own flags.
func section(b *strings.Builder, level string, cmd *cobra.Command, shared map[string]bool) {
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
	flagTable(b, slices.DeleteFunc(flagRows(cmd), func(row string) bool { return shared[row] }))
}

func flagTable(b *strings.Builder, rows []string) {
	if len(rows) > 0 {
		b.WriteString("\n| Flag | Meaning |\n|---|---|\n" + strings.Join(rows, ""))
	}
}

// flagRows returns a line of a table for each flag that a command adds.
func flagRows(cmd *cobra.Command) []string {
	var rows []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "false" {
			usage += "; `" + f.DefValue + "` by default"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s |\n", strings.TrimSpace("--"+f.Name+" "+value), plain(usage)))
	})
	return rows
}

// plain keeps a text from meaning something in Markdown.
func plain(text string) string { return strings.NewReplacer("|", `\|`, "*", `\*`).Replace(text) }

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
