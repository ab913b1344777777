package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/host/config"
)

func checkCommand() command {
	var show, data bool
	return command{
		name: "check", short: "find what is wrong with the configuration",
		long: "Validates the configuration, the databases, the routes, the plugins and the front-end sources, and reports\n" +
			"every finding as file:line:column: what: remedy. Changes nothing. Exit code 1 when a finding is an error.\n" +
			"With --data it also reads every row of every exposed set once, and reports the values that their declared types\n" +
			"cannot hold: as errors where they end an answer, as warnings where null takes their place.",
		flags: func(f *flag.FlagSet) {
			f.BoolVar(&show, "show", false, "print the settings in effect, all layers merged, with secrets as ***")
			f.BoolVar(&data, "data", false, "look at the rows of the exposed sets, too; reads each table once")
		},
		run: func(ctx context.Context, in *invocation) error { return check(ctx, in, show, data) },
	}
}

func check(ctx context.Context, in *invocation, show, data bool) error {
	if err := in.need(0, 0); err != nil {
		return err
	}
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
	failed := report(in.err, findings)
	if failed {
		return errReported
	}
	fmt.Fprintf(in.out, "%s is fine\n", in.source.File)
	return nil
}
