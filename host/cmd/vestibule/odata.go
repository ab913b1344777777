package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/vestibule-dev/vestibule/v2/host/config"
)

func odataCommands() []command { return []command{odataMetadata(), odataExplain()} }

func odataMetadata() command {
	var asJSON bool
	return command{
		name: "metadata", short: "print the model as $metadata does",
		flags: func(f *pflag.FlagSet) { f.BoolVar(&asJSON, "json", false, "as JSON instead of XML") },
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(0, 0); err != nil {
				return err
			}
			cfg, err := in.load()
			if err != nil {
				return err
			}
			return cfg.Metadata(ctx, in.out, asJSON)
		},
	}
}

func odataExplain() command {
	var q config.Explained
	return command{
		name: "explain", args: "URL", short: "show plan, SQL, query plan, time by stage, and the index that would help",
		long: "URL is a client's address, whole or from the set on: 'Products?$filter=price gt 10&$orderby=price'. The query runs\n" +
			"after its plan is printed. A row policy with columns of the signed-in user needs --as.",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&q.As, "as", "", "`EMAIL` of the user whom row policies are about")
			f.DurationVar(&q.Limit, "timeout", 0, "time limit of the query, such as 2m; 0s means odata.limits.timeout")
		},
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(1, 1); err != nil {
				return err
			}
			if q.Limit < 0 {
				return &usageError{"--timeout is negative", in.hint}
			}
			cfg, err := in.load()
			if err != nil {
				return err
			}
			q.Target = in.args[0]
			return cfg.Explain(ctx, in.out, q)
		},
	}
}
