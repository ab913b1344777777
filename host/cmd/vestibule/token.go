package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config"
)

func tokenCommands() []command { return []command{tokenAdd(), tokenList(), tokenRevoke()} }

func tokenAdd() command {
	var email, expires string
	var asJSON bool
	var wanted host.TokenRequest
	return command{
		name: "add", args: `--email ADDRESS --name NAME [--expires 90d] [--route ROUTE] [--write] [--json]`, short: "make a machine token and print it, once",
		long: "The token acts for the person at /odata/ or, with --route, at one proxy route with tokens = true; --route verify is\n" +
			"/auth/verify?tokens=true. Without --write it only reads. It cannot be printed again.",
		flags: func(f *pflag.FlagSet) {
			emailFlag(f, &email)
			f.StringVar(&wanted.Name, "name", "", "the token's `name` in lists, such as its program")
			f.StringVar(&expires, "expires", "", "a `duration` such as 12h or 365d; without it 90d, at most auth.tokens.max_lifetime")
			f.StringVar(&wanted.Route, "route", "", "the one `route` that it opens, in place of /odata/")
			f.BoolVar(&wanted.Write, "write", false, "it may also change rows at /odata/ or, with --route, use other methods than GET and HEAD")
			f.BoolVar(&asJSON, "json", false, "print a JSON object: the token, and what the command list shows of it")
		},
		run: func(ctx context.Context, in *invocation) error {
			if err := in.needPerson(email); err != nil {
				return err
			}
			if err := in.needFlag("name", wanted.Name); err != nil {
				return err
			}
			if expires != "" {
				var err error
				if wanted.Lifetime, err = config.ParseDuration(expires); err != nil || wanted.Lifetime <= 0 {
					return &usageError{fmt.Sprintf("--expires: %q is no duration from now on", expires), `write a number with a unit, such as "90d" or "12h"`}
				}
			}
			return in.addToken(ctx, email, wanted, asJSON)
		},
	}
}

// addToken prints the token on the standard output and what is to be known about it
// beside it.
func (in *invocation) addToken(ctx context.Context, email string, wanted host.TokenRequest, asJSON bool) error {
	cfg, err := in.load()
	if err != nil {
		return err
	}
	if err := cfg.CheckTokenRoute(wanted.Route); err != nil {
		return err
	}
	return in.withAdmin(ctx, false, func(a *host.Admin) error {
		t, text, err := a.AddToken(ctx, email, wanted)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(in.out, shownToken(t, email, text))
		}
		fmt.Fprintln(in.out, text)
		place := "at /odata/"
		if t.Route != "" {
			place = fmt.Sprintf("at the route %q", t.Route)
		}
		if t.Write {
			place += ", where it may write,"
		}
		fmt.Fprintf(in.err, "token %s stands for %s %s until %s; it is not shown again\n", t.ID, email, place, moment(t.Expires))
		return nil
	})
}

func tokenList() command {
	var email string
	var asJSON bool
	return command{
		name: "list", args: "[--email ADDRESS] [--json]", short: "list the machine tokens: id, address, name, place, end, last use",
		flags: func(f *pflag.FlagSet) {
			emailFlag(f, &email)
			jsonFlag(f, &asJSON)
		},
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(0, 0); err != nil {
				return err
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				list := []tokenJSON{}
				err := a.Tokens(ctx, email, listLimit, func(t host.Token, address string) error {
					list = append(list, shownToken(t, address, ""))
					return nil
				})
				if err != nil {
					return err
				}
				in.tellCut(len(list))
				if asJSON {
					return printJSON(in.out, list)
				}
				return printTokens(in.out, list, time.Now())
			})
		},
	}
}

func printTokens(w io.Writer, list []tokenJSON, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, t := range list {
		place, end, used := "/odata/", "until", "never used"
		if t.Route != nil {
			place = "route " + *t.Route
		}
		if t.Write {
			place += ", writing"
		}
		if !now.Before(t.Expires) {
			end = "ended"
		}
		if t.LastUsed != nil {
			used = "used " + moment(*t.LastUsed)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s %s\t%s\n", t.ID, printable(t.Email), printable(t.Name), place, end, moment(t.Expires), used)
	}
	return table.Flush()
}

func tokenRevoke() command {
	return command{
		name: "revoke", args: "ID…", short: "end machine tokens, by the ids that `token list` shows",
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(1, -1); err != nil {
				return err
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				for _, id := range in.args {
					if err := a.RevokeToken(ctx, id); err != nil {
						return err
					}
					fmt.Fprintf(in.out, "revoked %s\n", id)
				}
				return nil
			})
		},
	}
}

// tokenJSON is a machine token as --json shows it.
type tokenJSON struct {
	ID       string     `json:"id"`
	Email    string     `json:"email"`
	Name     string     `json:"name"`
	Route    *string    `json:"route"`
	Write    bool       `json:"write"`
	Created  time.Time  `json:"created"`
	Expires  time.Time  `json:"expires"`
	LastUsed *time.Time `json:"last_used"`
	// Token is the token itself where it was just made.
	Token string `json:"token,omitempty"`
}

func shownToken(t host.Token, email, text string) tokenJSON {
	out := tokenJSON{
		ID: t.ID, Email: email, Name: t.Name, Write: t.Write, Token: text,
		Created: t.Created.UTC().Truncate(time.Second), Expires: t.Expires.UTC().Truncate(time.Second),
	}
	if t.Route != "" {
		out.Route = &t.Route
	}
	if !t.Used.IsZero() {
		used := t.Used.UTC()
		out.LastUsed = &used
	}
	return out
}
