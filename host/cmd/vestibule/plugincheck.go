package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
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
	asJSON, values := false, blockValues{}
	return command{
		name: "check", args: "[NAME…|PROGRAM [ARG…]] [--plugin-config KEY=VALUE]… [--json]", short: "start plugins, describe them and run the conformance checks",
		long: "NAME is the label of a plugin block; without one all are checked. An argument with a slash is a program, which needs\n" +
			"no configuration: its config block is that of --plugin-config, else of the block in config.hcl with this command.\n" +
			"Prints at its end the lines that config.hcl still needs.",
		flags: func(f *pflag.FlagSet) {
			jsonFlag(f, &asJSON)
			f.Var(values, "plugin-config", "a `key=value` of the config block of PROGRAM, the value as JSON or a text; may be given several times")
		},
		run: func(ctx context.Context, in *invocation) error {
			plugins, cfg, err := in.plugins(values)
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
				if err != nil && cfg == nil && config.InPluginConfig(err) {
					return fmt.Errorf("%w (give a program its config block with --plugin-config KEY=VALUE)", err)
				}
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

// blockValues collects the values of --plugin-config by key.
type blockValues map[string]json.RawMessage

func (blockValues) String() string { return "" }

// Type names the value in the help.
func (blockValues) Type() string { return "key=value" }

// Set takes one value: JSON, or else a text.
func (b blockValues) Set(v string) error {
	key, value, ok := strings.Cut(v, "=")
	if !ok || key == "" {
		return errors.New("write it as key=value")
	}
	if !json.Valid([]byte(value)) {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		value = string(text)
	}
	b[key] = json.RawMessage(value)
	return nil
}

// plugins are those that the arguments name: a program, with the values of its config
// block, or blocks of the configuration, which is nil for a program.
func (in *invocation) plugins(values blockValues) ([]host.Plugin, *config.Config, error) {
	if len(in.args) > 0 && strings.ContainsRune(in.args[0], filepath.Separator) {
		path, err := filepath.Abs(in.args[0])
		if err != nil {
			return nil, nil, err
		}
		program := host.Plugin{Name: "program", Command: append([]string{path}, in.args[1:]...)}
		if len(values) > 0 {
			program.Config, err = json.Marshal(values)
		} else {
			program.Config = in.blockOf(program.Command)
		}
		return []host.Plugin{program}, nil, err
	}
	if len(values) > 0 {
		return nil, nil, &usageError{"--plugin-config is for a PROGRAM", "a block of config.hcl has its own config; --set plugin.NAME.config.KEY=VALUE changes it"}
	}
	cfg, err := in.load()
	if err != nil {
		return nil, nil, err
	}
	plugins, err := cfg.PluginsByName(in.args...)
	return plugins, cfg, err
}

// blockOf returns the config block of the plugin that the configuration has with this
// command; nil where there is none, or no configuration that can be read.
func (in *invocation) blockOf(command []string) json.RawMessage {
	cfg, findings := config.Load(in.source)
	if findings.Failed() {
		return nil
	}
	for _, name := range cfg.PluginNames() {
		list, err := cfg.PluginsByName(name)
		if err == nil && slices.Equal(list[0].Command, command) {
			return list[0].Config
		}
	}
	return nil
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
