package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/vestibule-dev/vestibule/v2/host"
)

func identityCommands() []command { return []command{identityList(), identityUnlink()} }

func identityList() command {
	var email string
	var asJSON bool
	return command{
		name: "list", args: "[--email ADDRESS] [--json]", short: "list the linked identities: name, address, subject, linking",
		flags: func(f *pflag.FlagSet) {
			emailFlag(f, &email)
			jsonFlag(f, &asJSON)
		},
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(0, 0); err != nil {
				return err
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				list, err := a.Identities(ctx, email, listLimit)
				if err != nil {
					return err
				}
				in.tellCut(len(list))
				if asJSON {
					shown := make([]identityJSON, len(list))
					for i, one := range list {
						shown[i] = identityJSON{one.Name, one.Email, one.Subject, one.Linked.UTC().Truncate(time.Second)}
					}
					return printJSON(in.out, shown)
				}
				table := tabwriter.NewWriter(in.out, 0, 0, 2, ' ', 0)
				for _, one := range list {
					fmt.Fprintf(table, "%s\t%s\t%s\tlinked %s\n", printable(one.Name), printable(one.Email), printable(one.Subject), moment(one.Linked))
				}
				return table.Flush()
			})
		},
	}
}

// identityJSON is an identity as --json shows it.
type identityJSON struct {
	Name    string    `json:"name"`
	Email   string    `json:"email"`
	Subject string    `json:"subject"`
	Linked  time.Time `json:"linked"`
}

func identityUnlink() command {
	var email string
	return command{
		name: "unlink", args: "NAME… --email ADDRESS", short: "unlink identities of a person, by the names that `identity list` shows",
		long:  "Unlinks even the last way to sign in. Sessions go on: `session revoke` ends them.",
		flags: func(f *pflag.FlagSet) { emailFlag(f, &email) },
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(1, -1); err != nil {
				return err
			}
			if err := in.needFlag("email", email); err != nil {
				return err
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				for _, name := range in.args {
					if err := a.UnlinkIdentity(ctx, email, name); err != nil {
						return err
					}
					fmt.Fprintf(in.out, "unlinked %s\n", name)
				}
				return nil
			})
		},
	}
}
