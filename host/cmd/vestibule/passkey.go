package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/vestibule-dev/vestibule/v2/host"
)

func passkeyCommands() []command { return []command{passkeyList(), passkeyDelete()} }

func passkeyList() command {
	var email string
	var asJSON bool
	return command{
		name: "list", args: "[--email ADDRESS] [--json]", short: "list the passkeys: id, address, name, creation, last use",
		flags: func(f *pflag.FlagSet) {
			emailFlag(f, &email)
			jsonFlag(f, &asJSON)
		},
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(0, 0); err != nil {
				return err
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				list, err := a.Passkeys(ctx, email, listLimit)
				if err != nil {
					return err
				}
				in.tellCut(len(list))
				if asJSON {
					shown := make([]passkeyJSON, len(list))
					for i, p := range list {
						shown[i] = passkeyJSON{p.ID, p.Email, p.Name, p.BackedUp, p.Created.UTC().Truncate(time.Second), nil}
						if !p.Used.IsZero() {
							used := p.Used.UTC().Truncate(time.Second)
							shown[i].LastUsed = &used
						}
					}
					return printJSON(in.out, shown)
				}
				table := tabwriter.NewWriter(in.out, 0, 0, 2, ' ', 0)
				for _, p := range list {
					used := "never used"
					if !p.Used.IsZero() {
						used = "used " + moment(p.Used)
					}
					fmt.Fprintf(table, "%s\t%s\t%s\tmade %s\t%s\n", p.ID, printable(p.Email), printable(p.Name), moment(p.Created), used)
				}
				return table.Flush()
			})
		},
	}
}

// passkeyJSON is a passkey as --json shows it.
type passkeyJSON struct {
	ID       string     `json:"id"`
	Email    string     `json:"email"`
	Name     string     `json:"name"`
	BackedUp bool       `json:"backed_up"`
	Created  time.Time  `json:"created"`
	LastUsed *time.Time `json:"last_used"`
}

func passkeyDelete() command {
	var email string
	return command{
		name: "delete", args: "ID… --email ADDRESS", short: "end passkeys of a person, by the ids that `passkey list` shows",
		long:  "Deletes even the last way to sign in. Sessions go on: `session revoke` ends them.",
		flags: func(f *pflag.FlagSet) { emailFlag(f, &email) },
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(1, -1); err != nil {
				return err
			}
			if err := in.needFlag("email", email); err != nil {
				return err
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				for _, id := range in.args {
					if err := a.DeletePasskey(ctx, email, id); err != nil {
						return err
					}
					fmt.Fprintf(in.out, "deleted %s\n", id)
				}
				return nil
			})
		},
	}
}
