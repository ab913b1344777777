package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/vestibule-dev/vestibule/v2/host/config"
)

func checkCommand() command {
	var show, data, asJSON bool
	return command{
		name: "check", short: "find what is wrong with the configuration",
		long: "Checks the configuration, databases, routes, plugins and the front-end app, and prints every finding as\n" +
			"file:line:column: what: remedy. Changes nothing. Exits with 1 if a finding is an error. --data also reads all exposed\n" +
			"rows and reports values that their types cannot hold. --json prints an array of findings with file, line, column,\n" +
			"severity (error, warning), what and remedy.",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&show, "show", false, "print the settings in effect, all layers merged, with secrets as ***")
			f.BoolVar(&data, "data", false, "look at the rows of the exposed sets, too; reads each table once")
			jsonFlag(f, &asJSON)
		},
		run: func(ctx context.Context, in *invocation) error {
			if show && asJSON {
				return &usageError{"--show prints HCL and --json prints JSON", "give one of them"}
			}
			return check(ctx, in, show, data, asJSON)
		},
	}
}

func check(ctx context.Context, in *invocation, show, data, asJSON bool) error {
	if err := in.need(0, 0); err != nil {
		return err
	}
	defer config.CollectSeldom()()
	cfg, findings := config.Load(in.source)
	if cfg != nil {
		findings = findings.With(cfg.Verify(ctx))
	}
	if cfg != nil && data && !findings.Failed() {
		findings = findings.With(cfg.VerifyData(ctx))
	}
	if cfg != nil && show {
		text, err := cfg.Redacted()
		if err != nil {
			return err
		}
		fmt.Fprint(in.out, text)
	}
	if asJSON {
		if err := printArray(in.out, findings, shownFinding); err != nil {
			return err
		}
		if findings.Failed() {
			return errReported
		}
		return nil
	}
	if report(in.err, findings) {
		return errReported
	}
	fmt.Fprintf(in.out, "%s is fine\n", in.source.File)
	return nil
}

// findingJSON is a finding as --json shows it: in a file, or in the environment variable or
// flag of Name.
type findingJSON struct {
	File     *string `json:"file"`
	Line     *int    `json:"line"`
	Column   *int    `json:"column"`
	Name     *string `json:"name"`
	Severity string  `json:"severity"`
	What     string  `json:"what"`
	Remedy   string  `json:"remedy"`
}

func shownFinding(f config.Finding) any {
	out := findingJSON{Severity: "error", What: f.What, Remedy: f.Remedy}
	if f.Warning {
		out.Severity = "warning"
	}
	if f.At.Name != "" {
		out.Name = &f.At.Name
		return out
	}
	line, column := max(f.At.Line, 1), max(f.At.Column, 1)
	out.File, out.Line, out.Column = &f.At.File, &line, &column
	return out
}
