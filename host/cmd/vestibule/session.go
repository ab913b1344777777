package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// listLimit bounds how many lines a list has.
const listLimit = 10_000

func sessionCommands() []command { return []command{sessionList(), sessionRevoke()} }

func sessionList() command {
	var email string
	return command{
		name: "list", args: "[--email ADDRESS]", short: "list the sessions, a line each: id, user, address, last seen, kept or not, device",
		flags: func(f *flag.FlagSet) { emailFlag(f, &email) },
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(0, 0); err != nil {
				return err
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				list, err := a.Sessions(ctx, email, listLimit)
				if err != nil {
					return err
				}
				table := tabwriter.NewWriter(in.out, 0, 0, 2, ' ', 0)
				for _, s := range list {
					kept := "session"
					if s.Remembered {
						kept = "kept"
					}
					fmt.Fprintf(table, "%s\tuser %s\t%s\tseen %s\t%s\t%s\n", s.ID, printable(s.UserID), printable(s.Address), moment(s.Seen), kept, printable(s.UserAgent))
				}
				return table.Flush()
			})
		},
	}
}

func sessionRevoke() command {
	var email string
	return command{
		name: "revoke", args: "ID… | --email ADDRESS", short: "end sessions, and the devices that would bring them back",
		long:  "ID is the beginning of what `session list` shows, at least 8 digits. With --email all sessions of the person end.",
		flags: func(f *flag.FlagSet) { emailFlag(f, &email) },
		run: func(ctx context.Context, in *invocation) error {
			if (email == "") == (len(in.args) == 0) {
				return &usageError{"name the sessions by id, or the person by --email", in.hint}
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				if email != "" {
					if err := a.RevokeUser(ctx, email); err != nil {
						return err
					}
					fmt.Fprintf(in.out, "ended all sessions of %s\n", email)
					return nil
				}
				for _, id := range in.args {
					if err := a.RevokeSession(ctx, id); err != nil {
						return err
					}
					fmt.Fprintf(in.out, "ended %s\n", id)
				}
				return nil
			})
		},
	}
}

// moment is a time as operators read it.
func moment(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format(time.DateTime)
}

// printable takes what could move the cursor out of what strangers sent.
func printable(s string) string {
	if s == "" {
		return "-"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return '?'
		}
		return r
	}, s)
}
