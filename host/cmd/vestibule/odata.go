package main

import (
	"context"
	"flag"
)

func odataCommands() []command { return []command{odataMetadata()} }

func odataMetadata() command {
	var asJSON bool
	return command{
		name: "metadata", short: "print the model as $metadata does",
		flags: func(f *flag.FlagSet) { f.BoolVar(&asJSON, "json", false, "as JSON instead of XML") },
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
