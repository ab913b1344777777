package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

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
	flags       func(*flag.FlagSet)
	run         func(context.Context, *invocation) error
	sub         []command
}

// An invocation is a command with its arguments, ready to run.
type invocation struct {
	console
	path   string
	source config.Source
	args   []string
	hint   string
}

// settings collects the values of --set.
type settings struct{ list *[]string }

func (s settings) String() string { return "" }

// Set takes one setting. What is no setting at all is a mistake of usage; what the
// configuration makes of it comes later.
func (s settings) Set(v string) error {
	if name, _, ok := strings.Cut(v, "="); !ok || name == "" {
		return errors.New("write it as block.key=value")
	}
	*s.list = append(*s.list, v)
	return nil
}

// dispatch finds the command that the first argument names and runs it.
func dispatch(ctx context.Context, c console, list []command, path string, args []string) error {
	// Flags may stand before the command, too; the command gets them.
	lead, rest := leadingFlags(args)
	if path == "vestibule" && len(args) == 1 && strings.TrimLeft(args[0], "-") == "version" {
		rest, lead = []string{"version"}, nil // --version, as people try first
	}
	if len(rest) == 0 {
		if len(lead) > 0 && !isHelp(lead[0]) {
			return &usageError{"no command given", fmt.Sprintf("run `%s help` for the list", path)}
		}
		printList(c.out, list, path)
		if len(args) == 0 {
			return &usageError{"no command given", fmt.Sprintf("run `%s serve` to start the host", "vestibule")}
		}
		return nil
	}
	name, rest := rest[0], append(lead, rest[1:]...)
	if name == "help" {
		return help(ctx, c, list, path, rest)
	}
	for _, cmd := range list {
		if cmd.name == name {
			return cmd.invoke(ctx, c, path+" "+name, rest)
		}
	}
	return &usageError{fmt.Sprintf("there is no command %q", strings.TrimPrefix(path+" "+name, "vestibule ")), "there are: " + names(list)}
}

func names(list []command) string {
	var all []string
	for _, cmd := range list {
		all = append(all, cmd.name)
	}
	return strings.Join(all, ", ")
}

// leadingFlags splits off -c FILE and --set KEY=VALUE in front of a command.
func leadingFlags(args []string) (lead, rest []string) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name := strings.TrimLeft(args[0], "-")
		n := 1
		if (name == "c" || name == "set") && len(args) > 1 {
			n = 2
		}
		lead, args = append(lead, args[:n]...), args[n:]
	}
	return lead, args
}

func isHelp(arg string) bool {
	name := strings.TrimLeft(arg, "-")
	return arg != name && (name == "h" || name == "help")
}

func help(ctx context.Context, c console, list []command, path string, args []string) error {
	if len(args) == 0 {
		printList(c.out, list, path)
		return nil
	}
	return dispatch(ctx, c, list, path, append(args, "-help"))
}

func printList(w io.Writer, list []command, path string) {
	fmt.Fprintf(w, "Usage: %s COMMAND [-c FILE] [--set block.key=value]…\n\n", path)
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, cmd := range list {
		fmt.Fprintf(table, "  %s\t%s\n", strings.TrimSpace(cmd.name+" "+cmd.args), cmd.short)
	}
	_ = table.Flush()
	fmt.Fprintf(w, "\nRun `%s COMMAND -help` for more about one of them.\n", path)
}

// invoke parses the flags and runs the command.
func (cmd command) invoke(ctx context.Context, c console, path string, args []string) error {
	if cmd.sub != nil {
		return dispatch(ctx, c, cmd.sub, path, args)
	}
	in := &invocation{console: c, path: path, hint: fmt.Sprintf("usage: %s %s", path, cmd.args)}
	f := cmd.flagSet(in)
	for rest := args; ; {
		if err := f.Parse(rest); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				cmd.printHelp(c.out, path, f)
				return err
			}
			return &usageError{err.Error(), fmt.Sprintf("run `%s -help` for its flags", path)}
		}
		if f.NArg() == 0 {
			break
		}
		// Flags may follow arguments.
		in.args, rest = append(in.args, f.Arg(0)), f.Args()[1:]
	}
	return cmd.run(ctx, in)
}

// flagSet is all flags of the command, those of every command included, which are put
// into in.
func (cmd command) flagSet(in *invocation) *flag.FlagSet {
	f := flag.NewFlagSet(in.path, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&in.source.File, "c", "config.hcl", "the configuration `file`")
	f.Var(settings{&in.source.Set}, "set", "a setting as `block.key=value`, over all other layers; may be given several times")
	if cmd.flags != nil {
		cmd.flags(f)
	}
	return f
}

func (cmd command) printHelp(w io.Writer, path string, f *flag.FlagSet) {
	fmt.Fprintf(w, "Usage: %s\n\n%s.\n", strings.TrimSpace(path+" "+cmd.args), cmd.short)
	if cmd.long != "" {
		fmt.Fprintf(w, "\n%s\n", cmd.long)
	}
	fmt.Fprintln(w, "\nFlags:")
	f.SetOutput(w)
	f.PrintDefaults()
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
