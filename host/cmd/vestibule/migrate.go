package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
)

func migrateCommand() command {
	var dry bool
	return command{
		name: "migrate", short: "bring the database up to date",
		long: "Changes tables named vestibule_* only, and creates users and password_reset_tokens if they are missing. Several hosts\n" +
			"may do so at the same time; `serve` does it by itself.",
		flags: func(f *pflag.FlagSet) { f.BoolVar(&dry, "dry-run", false, "only say what would be done") },
		run:   func(ctx context.Context, in *invocation) error { return migrate(ctx, in, dry) },
	}
}

func migrate(ctx context.Context, in *invocation, dry bool) error {
	if err := in.need(0, 0); err != nil {
		return err
	}
	cfg, err := in.load()
	if err != nil {
		return err
	}
	work := cfg.Migrate
	if dry {
		work = cfg.Pending
	}
	steps, err := work(ctx)
	if err != nil {
		return err
	}
	for _, step := range steps {
		if dry {
			step = "would " + step
		}
		fmt.Fprintln(in.out, step)
	}
	if len(steps) == 0 {
		fmt.Fprintln(in.out, "nothing to do")
	}
	return nil
}
