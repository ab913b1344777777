package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config"
)

func pluginCommands() []command {
	return []command{pluginNew(), pluginList(), pluginCheck(), pluginCall(), pluginSum()}
}

// pluginLogger shows what plugins log about what goes wrong.
func (in *invocation) pluginLogger() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: "vestibule", Output: in.err, Level: hclog.Warn})
}

func pluginCheck() command {
	return command{
		name: "check", args: "[NAME…|PROGRAM]", short: "start plugins, describe them and run the conformance checks",
		long: "NAME is the label of a plugin block; without one all are checked. An argument with a slash is a program, which\n" +
			"needs no configuration and is checked in all its roles.",
		run: func(ctx context.Context, in *invocation) error {
			plugins, cfg, err := in.plugins()
			if err != nil {
				return err
			}
			failed := false
			for _, p := range plugins {
				report, err := host.CheckPlugin(ctx, p, in.pluginLogger())
				if err != nil {
					return located(in, cfg, err)
				}
				printReport(in.out, p.Name, report)
				failed = failed || report.Failed()
			}
			if failed {
				return errReported
			}
			return nil
		},
	}
}

// plugins are those that the arguments name: a program, or blocks of the
// configuration, which is nil for a program.
func (in *invocation) plugins() ([]host.Plugin, *config.Config, error) {
	if len(in.args) == 1 && strings.ContainsRune(in.args[0], filepath.Separator) {
		program, err := filepath.Abs(in.args[0])
		return []host.Plugin{{Name: "program", Command: []string{program}}}, nil, err
	}
	cfg, err := in.load()
	if err != nil {
		return nil, nil, err
	}
	plugins, err := cfg.PluginsByName(in.args...)
	return plugins, cfg, err
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
			cfg, err := in.load()
			if err != nil {
				return err
			}
			plugins, err := cfg.PluginsByName(in.args[0])
			if err != nil {
				return err
			}
			answer, err := host.CallPlugin(ctx, plugins[0], call, in.pluginLogger())
			if err != nil {
				return located(in, cfg, err)
			}
			_, err = fmt.Fprintf(in.out, "%s\n", answer)
			return err
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
