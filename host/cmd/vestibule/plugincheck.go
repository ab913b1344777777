package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config"
)

// A checkedPlugin is what `plugin check` says of one, also as JSON.
type checkedPlugin struct {
	Name    string         `json:"name"`
	Plugin  string         `json:"plugin"`
	Version string         `json:"version"`
	Roles   []string       `json:"roles"`
	Failed  bool           `json:"failed"`
	Checks  []checkOutcome `json:"checks"`
	// Block is for config.hcl where the plugin has none yet, Next what its block lacks.
	Block string   `json:"block,omitempty"`
	Next  []string `json:"next,omitempty"`
}

type checkOutcome struct {
	Check string `json:"check"`
	Error string `json:"error,omitempty"`
}

func pluginCheck() command {
	var asJSON bool
	return command{
		name: "check", args: "[NAME…|PROGRAM [ARG…]] [--json]", short: "start plugins, describe them and run the conformance checks",
		long: "NAME is the label of a plugin block; without one all are checked. An argument with a slash is a program, which\n" +
			"needs no configuration and is checked in all its roles. Ends with what config.hcl still needs.",
		flags: func(f *pflag.FlagSet) { jsonFlag(f, &asJSON) },
		run: func(ctx context.Context, in *invocation) error {
			plugins, cfg, err := in.plugins()
			if err != nil {
				return err
			}
			var advice config.Findings
			if cfg != nil {
				plugins, advice = cfg.GrantColumns(ctx, plugins)
			}
			failed, list := false, []checkedPlugin{}
			for _, p := range plugins {
				report, err := host.CheckPlugin(ctx, p, in.pluginLogger())
				if err != nil {
					return located(in, cfg, err)
				}
				checked, err := in.checked(cfg, p, report)
				if err != nil {
					return err
				}
				list, failed = append(list, checked), failed || checked.Failed
				if !asJSON {
					in.printChecked(checked)
				}
			}
			if asJSON {
				if err := printJSON(in.out, struct {
					Plugins  []checkedPlugin `json:"plugins"`
					Warnings []string        `json:"warnings,omitempty"`
				}{list, lines(advice)}); err != nil {
					return err
				}
			} else {
				in.printNext(cfg, list, advice)
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
	if len(in.args) > 0 && strings.ContainsRune(in.args[0], filepath.Separator) {
		program, err := filepath.Abs(in.args[0])
		return []host.Plugin{{Name: "program", Command: append([]string{program}, in.args[1:]...)}}, nil, err
	}
	cfg, err := in.load()
	if err != nil {
		return nil, nil, err
	}
	plugins, err := cfg.PluginsByName(in.args...)
	return plugins, cfg, err
}

// checked is the outcome of the checks, with what to do next.
func (in *invocation) checked(cfg *config.Config, p host.Plugin, r host.PluginReport) (checkedPlugin, error) {
	out := checkedPlugin{Name: p.Name, Plugin: r.Name, Version: r.Version, Roles: r.Roles, Failed: r.Failed()}
	for _, f := range r.Findings {
		outcome := checkOutcome{Check: f.Check}
		if f.Err != nil {
			outcome.Error = oneLine(f.Err)
		}
		out.Checks = append(out.Checks, outcome)
	}
	if out.Failed {
		return out, nil
	}
	if cfg != nil {
		found, err := cfg.AdvisePlugin(p)
		out.Next = lines(found)
		return out, err
	}
	file, err := filepath.Abs(in.source.File)
	if err != nil {
		return out, err
	}
	out.Block, err = config.PluginBlock(filepath.Dir(file), p, r)
	return out, err
}

func lines(findings config.Findings) []string {
	var list []string
	for _, f := range findings {
		list = append(list, f.Error())
	}
	return list
}

func (in *invocation) printChecked(c checkedPlugin) {
	fmt.Fprintf(in.out, "%s: %s %s, roles %s\n", c.Name, printable(c.Plugin), printable(c.Version), strings.Join(c.Roles, ", "))
	for _, one := range c.Checks {
		if one.Error != "" {
			fmt.Fprintf(in.out, "  FAIL  %s: %s\n", one.Check, one.Error)
			continue
		}
		fmt.Fprintf(in.out, "  ok    %s\n", one.Check)
	}
}

// printNext ends the output with what to do.
func (in *invocation) printNext(cfg *config.Config, list []checkedPlugin, advice config.Findings) {
	todo := lines(advice)
	for _, c := range list {
		if c.Failed {
			fmt.Fprintln(in.out, "\nNext: mend what failed, and check again.")
			return
		}
		todo = append(todo, c.Next...)
	}
	switch {
	case cfg == nil:
		fmt.Fprintf(in.out, "\nNext: put this into %s, then run `vestibule check` and `vestibule serve`:\n\n%s", in.source.File, list[0].Block)
	case len(list) == 0:
		fmt.Fprintln(in.out, "There are no plugins in the configuration: `vestibule plugin new NAME` writes one.")
	case len(todo) == 0:
		fmt.Fprintln(in.out, "\nNext: `vestibule serve`, or SIGHUP for a host that runs.")
	default:
		fmt.Fprintf(in.out, "\nNext, in the configuration:\n  %s\nThen: `vestibule serve`, or SIGHUP for a host that runs.\n", strings.Join(todo, "\n  "))
	}
}
