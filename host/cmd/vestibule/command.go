package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vestibule-dev/vestibule/v2/host/config"
)

// A command is one verb, or with sub a group of them.
type command struct {
	name string
	// args are the positional arguments as the usage shows them.
	args string
	// short is the line in the list of commands, long the further text of its
	// help.
	short, long string
	flags       func(*pflag.FlagSet)
	run         func(context.Context, *invocation) error
	// words are the values of the argument, where there are few.
	words []string
	sub   []command
}

// An invocation is a command with its arguments, ready to run.
type invocation struct {
	console
	source config.Source
	args   []string
	hint   string
	cmd    *cobra.Command
}

// settings collects the values of --set.
type settings struct{ list *[]string }

func (s settings) String() string { return "" }

// Type names the value in the help.
func (s settings) Type() string { return "block.key=value" }

// Set takes one setting. A value without a name is a mistake of usage; the configuration
// checks the rest later.
func (s settings) Set(v string) error {
	if name, _, ok := strings.Cut(v, "="); !ok || name == "" {
		return errors.New("write it as block.key=value")
	}
	*s.list = append(*s.list, v)
	return nil
}

// rootCommand returns the program with all its commands.
func rootCommand(c console) *cobra.Command {
	in := &invocation{console: c}
	root := (&command{
		name: "vestibule", short: "sign-in and an OData service in front of a web application",
		long: "Each command reads the file that -c names, config.hcl in the current folder. A setting is overridden by the\n" +
			"variable VESTIBULE_BLOCK__KEY, and that one by --set. Flags may stand before, between and after arguments.",
		sub: commands(),
	}).build(in)
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = versionText()
	root.SetVersionTemplate("{{.Version}}")
	root.Flags().Bool("version", false, "print what the command version prints")
	root.SetFlagErrorFunc(flagError)
	root.PersistentPreRunE = func(at *cobra.Command, args []string) error {
		known, rest, _ := root.Find(args)
		switch { // cobra shows the help of the words that it knows
		case at.Name() != "help" || len(rest) == 0:
			return nil
		case known.HasSubCommands():
			return noCommand(known, rest)
		}
		in.args, in.hint = rest, "usage: vestibule help [command]"
		return in.need(0, 0)
	}
	f := root.PersistentFlags()
	f.StringVarP(&in.source.File, "config", "c", "config.hcl", "the configuration `file`")
	f.Var(settings{&in.source.Set}, "set", "a setting as `block.key=value`, over all other layers; may be given several times")
	_ = root.RegisterFlagCompletionFunc("set", cobra.NoFileCompletions) // fails for a flag that is missing or registered
	return root
}

// build returns the command for cobra.
func (cmd *command) build(in *invocation) *cobra.Command {
	out := &cobra.Command{
		Use: strings.TrimSpace(cmd.name + " " + cmd.args), Short: cmd.short, Long: strings.TrimSpace(cmd.short + ".\n\n" + cmd.long),
		Args: cobra.ArbitraryArgs, ValidArgs: cmd.words, DisableFlagsInUseLine: true, DisableAutoGenTag: true,
	}
	for _, sub := range cmd.sub {
		out.AddCommand(sub.build(in))
	}
	if cmd.flags != nil {
		cmd.flags(out.Flags())
	}
	out.RunE = func(at *cobra.Command, args []string) error {
		if cmd.sub != nil {
			return noCommand(at, args)
		}
		in.args, in.cmd, in.hint = args, at, "usage: "+at.UseLine()
		return cmd.run(at.Context(), in)
	}
	return out
}

// noCommand returns the mistake of a command line that ends at a group.
func noCommand(group *cobra.Command, args []string) error {
	if len(args) == 0 {
		_ = group.Help()
		return &usageError{"no command given", "run `vestibule serve` to start the host"}
	}
	path := strings.TrimPrefix(group.CommandPath()+" "+args[0], "vestibule ")
	if near := group.SuggestionsFor(args[0]); len(near) > 0 {
		return &usageError{fmt.Sprintf("there is no command %q", path), "did you mean " + strings.Join(near, ", ") + "?"}
	}
	var names []string
	for _, sub := range group.Commands() {
		names = append(names, sub.Name())
	}
	return &usageError{fmt.Sprintf("there is no command %q", path), "there are: " + strings.Join(names, ", ")}
}

// flagError returns the mistake of usage behind an error of the flags.
func flagError(cmd *cobra.Command, err error) error {
	what := err.Error()
	if missing, ok := errors.AsType[*pflag.NotExistError](err); ok {
		what = "there is no flag --" + missing.GetSpecifiedName()
		if name := missing.GetSpecifiedShortnames(); name != "" {
			what = "there is no flag -" + name
		}
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		what = fmt.Sprintf("--%s %q: %v", wrong.GetFlag().Name, wrong.GetValue(), wrong.Unwrap())
	}
	if without, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		what = fmt.Sprintf("--%s needs a value", without.GetFlag().Name)
	}
	return &usageError{what, flagHint(cmd)}
}

func flagHint(cmd *cobra.Command) string {
	return fmt.Sprintf("run `%s --help` for its flags", cmd.CommandPath())
}

// oneDash returns the mistake of a long flag with one dash, or of a value that -c has
// without a blank: pflag would read the file "onfig" from -config.
func oneDash(root *cobra.Command, args []string) error {
	cmd, _, err := root.Find(args)
	if err != nil {
		cmd = root
	}
	cmd.InitDefaultHelpFlag()
	value := false // of the flag before
	for _, arg := range args {
		if arg == "--" {
			return nil
		}
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		f := cmd.Flag(name)
		if !value && len(name) > 1 && strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") {
			switch file, short := strings.CutPrefix(arg, "-c"); {
			case f != nil:
				return &usageError{fmt.Sprintf("-%s is not spelled right", name), "write --" + name}
			case short:
				return &usageError{"there is no flag " + arg, "write -c " + file}
			}
			return &usageError{"there is no flag -" + name, flagHint(cmd)}
		}
		value = !value && (arg == "-c" || strings.HasPrefix(arg, "--") && !strings.Contains(arg, "=") && f != nil && f.NoOptDefVal == "")
	}
	return nil
}

// need checks the number of arguments; most is -1 for any number.
func (in *invocation) need(least, most int) error {
	switch {
	case len(in.args) < least:
		return &usageError{"an argument is missing", in.hint}
	case most >= 0 && len(in.args) > most:
		return &usageError{fmt.Sprintf("there is no place for %q", in.args[most]), in.hint}
	}
	return nil
}

// needFlag checks that a flag was given.
func (in *invocation) needFlag(name, value string) error {
	if value == "" {
		return &usageError{fmt.Sprintf("--%s is missing", name), in.hint}
	}
	return nil
}

// load reads the configuration. What is wrong with it is printed.
func (in *invocation) load() (*config.Config, error) {
	cfg, findings := config.Load(in.source)
	if findings.Failed() {
		report(in.err, findings)
		return nil, errReported
	}
	return cfg, nil
}
