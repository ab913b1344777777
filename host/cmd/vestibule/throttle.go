package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/vestibule-dev/vestibule/v2/host"
)

func throttleCommands() []command { return []command{throttleList(), throttleClear()} }

func throttleList() command {
	return command{
		name: "list", short: "list the open counters of attempts, a line each: kind, login, client, count, end of the window",
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(0, 0); err != nil {
				return err
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				list, err := a.Counters(ctx, listLimit)
				if err != nil {
					return err
				}
				table := tabwriter.NewWriter(in.out, 0, 0, 2, ' ', 0)
				for _, c := range list {
					fmt.Fprintf(table, "%s\t%s\t%s\t%d\tuntil %s\n", c.Kind, printable(c.Login), printable(c.Client), c.Count, moment(c.Ends))
				}
				return table.Flush()
			})
		},
	}
}

func throttleClear() command {
	return command{
		name: "clear", args: "[LOGIN]", short: "forget the attempts of one person, by login name, or all",
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(0, 1); err != nil {
				return err
			}
			login := ""
			if len(in.args) == 1 {
				if login = in.args[0]; login == "" {
					return &usageError{"the login name is empty", "leave it out to clear all counters"}
				}
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				n, err := a.ClearCounters(ctx, login)
				if err != nil {
					return err
				}
				fmt.Fprintf(in.out, "cleared %d\n", n)
				return nil
			})
		},
	}
}
