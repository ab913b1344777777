package main

import (
	"context"
	"fmt"
)

func backupCommand() command {
	return command{
		name: "backup", args: "FILE", short: "copy a SQLite database while it is in use",
		long: "The copy is consistent, and FILE must not exist. Servers have programs of their own for that: pg_dump, mariadb-dump.",
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(1, 1); err != nil {
				return err
			}
			cfg, err := in.load()
			if err != nil {
				return err
			}
			if err := cfg.Backup(ctx, in.args[0]); err != nil {
				return err
			}
			fmt.Fprintf(in.out, "wrote %s\n", in.args[0])
			return nil
		},
	}
}
