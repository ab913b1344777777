package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/vestibule-dev/vestibule/v2/host"
)

func throttleCommands() []command { return []command{throttleList(), throttleClear()} }

func throttleList() command {
	var asJSON bool
	return command{
		name: "list", args: "[--json]", short: "list the counters of attempts: kind, login, client, count, end of the window",
		flags: func(f *pflag.FlagSet) { jsonFlag(f, &asJSON) },
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(0, 0); err != nil {
				return err
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				list, err := a.Counters(ctx, listLimit)
				if err != nil {
					return err
				}
				in.tellCut(len(list))
				if asJSON {
					return printArray(in.out, list, shownCounter)
				}
				table := tabwriter.NewWriter(in.out, 0, 0, 2, ' ', 0)
				for _, c := range list {
					fmt.Fprintf(table, "%s\t%s\t%s\t%d\tuntil %s\n", c.Kind, printable(c.Login), printable(c.Client), c.Count, end(c))
				}
				return table.Flush()
			})
		},
	}
}

// counterJSON is a counter as --json shows it. Ends is null for a counter that no time ends.
type counterJSON struct {
	Kind   string     `json:"kind"`
	Login  string     `json:"login"`
	Client string     `json:"client"`
	Count  int        `json:"count"`
	Ends   *time.Time `json:"ends"`
}

func shownCounter(c host.CounterInfo) any {
	shown := counterJSON{Kind: c.Kind, Login: c.Login, Client: c.Client, Count: c.Count}
	if ends := second(c.Ends); !c.Lasts() {
		shown.Ends = &ends
	}
	return shown
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

// end returns when a counter ends. No time ends that of a password; the end that such a
// row has is a hundred years away.
func end(c host.CounterInfo) string {
	if c.Lasts() {
		return "cleared"
	}
	return moment(c.Ends)
}
