package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
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
	return command{
		name: "explain", args: "URL", short: "show plan, SQL, query plan, time by stage, and the index that would help",
		long: "URL is the address that a client asks for, whole or from the set on: 'Products?$filter=price gt 10&$orderby=price'. The query\n" +
			"is run. Guards let the operator in; a row policy that asks for columns of the user lets no row pass.",
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(1, 1); err != nil {
				return err
			}
			cfg, err := in.load()
			if err != nil {
				return err
			}
			text, err := cfg.Explain(ctx, in.args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(in.out, text)
			return err
		},
	}
}
