package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/cmd/vestibule/internal/scaffold"
)

func pluginNew() command {
	lang, roles := "go", roleList{}
	return command{
		name: "new", args: "NAME [--lang go|node|python] [--role dispenser|org_setup|listener|identity_provider|validator]…", short: "write a plugin with its test into the new folder NAME",
		long: "The plugin builds and passes `plugin check`. It needs no clone of Vestibule. Nothing is overwritten.",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&lang, "lang", lang, "the `language`: "+strings.Join(scaffold.Languages(), ", "))
			f.Var(&roles, "role", "a `role`: "+strings.Join(scaffold.Roles(), ", ")+"; may be given several times (default dispenser)")
		},
		run: func(_ context.Context, in *invocation) error {
			if err := in.need(1, 1); err != nil {
				return err
			}
			name := in.args[0]
			if !slices.Contains(scaffold.Languages(), lang) {
				return &usageError{fmt.Sprintf("there is no template for the language %q", lang), "there are: " + strings.Join(scaffold.Languages(), ", ")}
			}
			out, err := scaffold.Write(".", scaffold.Plugin{Name: name, Lang: lang, Roles: roles, Version: releasedVersion()})
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("there is something called %s here: take another name, or another folder", name)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(in.out, "wrote %s into %s. Next:\n\n  cd %s\n", strings.Join(out.Files, ", "), name, name)
			for _, step := range nextSteps(out) {
				fmt.Fprintln(in.out, "  "+step)
			}
			return nil
		},
	}
}

// nextSteps are the commands from a new plugin to one that config.hcl can name.
func nextSteps(w scaffold.Written) []string {
	steps := []string{w.Test}
	if slices.Contains(w.Files, "package.json") {
		steps = []string{"npm install", w.Test}
	}
	if w.Build != "" {
		steps = append(steps, w.Build)
	}
	return append(steps, "vestibule plugin check ./"+w.Program+" -c ../config.hcl")
}

// releasedVersion is the tag from which this program was built, empty for a build of
// a working tree.
func releasedVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version != "v"+host.VersionIn(info) {
		return ""
	}
	return info.Main.Version
}

// roleList collects the values of --role.
type roleList []string

func (l *roleList) String() string { return strings.Join(*l, ",") }

// Type names the value in the help.
func (l *roleList) Type() string { return "role" }

// Set takes one role, or several with commas between them.
func (l *roleList) Set(v string) error {
	for role := range strings.SplitSeq(v, ",") {
		if !slices.Contains(scaffold.Roles(), role) {
			return fmt.Errorf("there is no template for the role %q", role)
		}
		if !slices.Contains(*l, role) {
			*l = append(*l, role)
		}
	}
	return nil
}
