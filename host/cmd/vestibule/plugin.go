package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/vestibule-dev/vestibule/host"
)

func pluginCommands() []command {
	return []command{pluginList(), pluginCheck(), pluginCall(), pluginSum()}
}

func pluginList() command {
	return command{
		name: "list", short: "start the configured plugins and list them, a line each: name, state, roles, version, time to start, program",
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(0, 0); err != nil {
				return err
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				list, err := a.Plugins(ctx)
				table := tabwriter.NewWriter(in.out, 0, 0, 2, ' ', 0)
				for _, p := range list {
					fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", p.Name, p.State, strings.Join(p.Roles, ","), printable(p.Version), printable(strings.Join(p.Command, " ")))
				}
				return errors.Join(table.Flush(), err)
			})
		},
	}
}

func pluginCheck() command {
	return command{
		name: "check", args: "[NAME…]", short: "start plugins, describe them and run the conformance checks",
		run: func(ctx context.Context, in *invocation) error {
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				names := in.args
				if len(names) == 0 {
					names = a.PluginNames()
				}
				failed := false
				for _, name := range names {
					report, err := a.CheckPlugin(ctx, name)
					if err != nil {
						return err
					}
					printReport(in.out, name, report)
					failed = failed || report.Failed()
				}
				if failed {
					return errReported
				}
				return nil
			})
		},
	}
}

func printReport(w io.Writer, name string, r host.PluginReport) {
	fmt.Fprintf(w, "%s: %s %s, roles %s\n", name, printable(r.Name), printable(r.Version), strings.Join(r.Roles, ", "))
	for _, f := range r.Findings {
		if f.Err != nil {
			fmt.Fprintf(w, "  FAIL  %s: %s\n", f.Check, oneLine(f.Err))
			continue
		}
		fmt.Fprintf(w, "  ok    %s\n", f.Check)
	}
}

func pluginCall() command {
	return command{
		name: "call", args: "NAME FILE.json", short: "make the one call that a JSON file describes and print the answer",
		long: "FILE is - for the standard input. docs/plugins.md says what is in it.",
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(2, 2); err != nil {
				return err
			}
			call, err := in.readFile(in.args[1])
			if err != nil {
				return err
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				answer, err := a.CallPlugin(ctx, in.args[0], call)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(in.out, "%s\n", answer)
				return err
			})
		},
	}
}

func (in *invocation) readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(in.in)
	}
	return os.ReadFile(name)
}

func pluginSum() command {
	return command{
		name: "sum", args: "FILE…", short: "print the sha256 of programs, for config.hcl",
		run: func(_ context.Context, in *invocation) error {
			if err := in.need(1, -1); err != nil {
				return err
			}
			for _, file := range in.args {
				sum, err := host.PluginSum(file)
				if err != nil {
					return err
				}
				if len(in.args) > 1 {
					sum += "  " + file
				}
				fmt.Fprintln(in.out, sum)
			}
			return nil
		},
	}
}
