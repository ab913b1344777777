package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// try runs the program with a command line and returns the exit code and what it printed.
func try(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), console{strings.NewReader(""), &out, &err}, args)
	return code, out.String(), err.String()
}

// leaves calls f for each command that is no group, with the words that lead to it.
func leaves(cmd *cobra.Command, f func(cmd *cobra.Command, words []string)) {
	for _, sub := range cmd.Commands() {
		if !sub.HasSubCommands() {
			f(sub, strings.Fields(sub.CommandPath())[1:])
		}
		leaves(sub, f)
	}
}

// Long flags of every command have two dashes: one dash is exit 2 with the right spelling.
func TestOneDashIsRefused(t *testing.T) {
	leaves(rootCommand(console{}), func(cmd *cobra.Command, words []string) {
		t.Run(strings.Join(words, " "), func(t *testing.T) {
			for _, name := range append(flagNames(cmd), "help") {
				code, stdout, stderr := try(t, append(words[:len(words):len(words)], "-"+name, "x")...)
				if code != exitUsage || stdout != "" || !strings.HasSuffix(stderr, "\nwrite --"+name+"\n") {
					t.Errorf("-%s: exit code %d, %q, %q", name, code, stdout, stderr)
				}
			}
		})
	})
}

// flagNames returns the long names of a command's flags and of those of all commands.
func flagNames(cmd *cobra.Command) []string {
	var names []string
	add := func(f *pflag.Flag) { names = append(names, f.Name) }
	cmd.Flags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return names
}

// An argument too many is exit 2 with the usage of the command.
func TestArgumentsTooMany(t *testing.T) {
	leaves(rootCommand(console{}), func(cmd *cobra.Command, words []string) {
		if strings.Contains(cmd.Use, "…") && cmd.Name() != "add" { // as many as there are
			return
		}
		t.Run(strings.Join(words, " "), func(t *testing.T) {
			code, stdout, stderr := try(t, append(words[:len(words):len(words)], "x", "x", "x", "x", "x")...)
			want := "usage: " + cmd.UseLine()
			if code != exitUsage || stdout != "" || !strings.HasPrefix(stderr, `vestibule: there is no place for "x"`+"\n") || !strings.HasSuffix(stderr, "\n"+want+"\n") {
				t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
			}
		})
	})
}

func TestSpellings(t *testing.T) {
	for _, tt := range []struct{ line, says string }{
		{"-config other.hcl serve", "vestibule: -config is not spelled right\nwrite --config\n"},
		{"serve -config", "vestibule: -config is not spelled right\nwrite --config\n"},
		{"serv", "vestibule: there is no command \"serv\"\ndid you mean serve?\n"},
		{"serve -cother.hcl", "vestibule: there is no flag -cother.hcl\nwrite -c other.hcl\n"},
		{"serve --c other.hcl", "vestibule: there is no flag --c\nrun `vestibule serve --help` for its flags\n"},
		{"-set a.b=c serve", "vestibule: -set is not spelled right\nwrite --set\n"},
		{"-version", "vestibule: -version is not spelled right\nwrite --version\n"},
		{"-help", "vestibule: -help is not spelled right\nwrite --help\n"},
		{"serve --nonsense", "vestibule: there is no flag --nonsense\nrun `vestibule serve --help` for its flags\n"},
		{"user add --email", "vestibule: --email needs a value\nrun `vestibule user add --help` for its flags\n"},
		{"check --show=perhaps", "vestibule: --show \"perhaps\": strconv.ParseBool: parsing \"perhaps\": invalid syntax\nrun `vestibule check --help` for its flags\n"},
		{"serve --set x", "vestibule: --set \"x\": write it as block.key=value\nrun `vestibule serve --help` for its flags\n"},
		{"help serv", "vestibule: there is no command \"serv\"\ndid you mean serve?\n"},
		{"help user nonsense", "vestibule: there is no command \"user nonsense\"\nthere are: add, disable, enable, list, passwd, reset-link\n"},
		{"help check nonsense", "vestibule: there is no place for \"nonsense\"\nusage: vestibule help [command]\n"},
		{"throttle clear -- -a -b", "vestibule: there is no place for \"-b\"\nusage: vestibule throttle clear [LOGIN]\n"},
	} {
		t.Run(tt.line, func(t *testing.T) {
			code, stdout, stderr := try(t, strings.Fields(tt.line)...)
			if code != exitUsage || stdout != "" || stderr != tt.says {
				t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
			}
		})
	}
	for _, line := range []string{"-h", "--help", "help", "serve -h", "serve --help", "help serve", "user --help", "--version", "-c none.hcl serve --help"} {
		t.Run(line, func(t *testing.T) {
			if code, stdout, stderr := try(t, strings.Fields(line)...); code != exitOK || stdout == "" || stderr != "" {
				t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
			}
		})
	}
}
