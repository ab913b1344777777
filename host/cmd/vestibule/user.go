package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/vestibule-dev/vestibule/v2/host"
)

func userCommands() []command {
	return []command{userAdd(), userList(), userDisable(true), userDisable(false), userPasswd(), userResetLink()}
}

func emailFlag(f *pflag.FlagSet, email *string) {
	f.StringVar(email, "email", "", "the `address` of the person")
}

func passwordFlag(f *pflag.FlagSet, stdin *bool) {
	f.BoolVar(stdin, "password-stdin", false, "read the password from the standard input instead of asking for it")
}

func userAdd() command {
	var p newPerson
	return command{
		name: "add", args: `--email ADDRESS --name "NAME" [--password-stdin | --invite [--lang LANGUAGE]]`, short: "add a person",
		long: "With --invite a running host mails the person a link that works once, for 7 days. `user reset-link` prints another.",
		flags: func(f *pflag.FlagSet) {
			emailFlag(f, &p.email)
			f.StringVar(&p.name, "name", "", "the `name` to greet the person with")
			passwordFlag(f, &p.stdin)
			f.BoolVar(&p.invite, "invite", false, "mail a link to choose a password instead of asking for one")
			f.StringVar(&p.lang, "lang", "", "the `language` of that mail, such as de, and empty for the default one")
		},
		run: func(ctx context.Context, in *invocation) error {
			if err := in.needPerson(p.email); err != nil {
				return err
			}
			switch {
			case p.invite && p.stdin:
				return &usageError{"--invite and --password-stdin exclude each other", "leave out one of them"}
			case p.lang != "" && !p.invite:
				return &usageError{"--lang is the language of an invitation", "add --invite, or leave out --lang"}
			case p.invite:
				return in.invite(ctx, p)
			}
			return in.add(ctx, p)
		},
	}
}

// A newPerson holds the flags of user add.
type newPerson struct {
	email, name, lang string
	stdin, invite     bool
}

// add adds a person with a password.
func (in *invocation) add(ctx context.Context, p newPerson) error {
	password, err := in.password(p.stdin)
	if err != nil {
		return err
	}
	return in.withAdmin(ctx, true, func(a *host.Admin) error {
		user, err := a.AddUser(ctx, p.email, p.name, password)
		if err != nil {
			return err
		}
		fmt.Fprintf(in.out, "added %s (id %s)\n", user.Email, user.ID)
		return nil
	})
}

// invite adds a person who gets a link by mail.
func (in *invocation) invite(ctx context.Context, p newPerson) error {
	return in.withAdmin(ctx, true, func(a *host.Admin) error {
		user, lifetime, err := a.InviteUser(ctx, p.email, p.name, p.lang)
		if err != nil {
			return err
		}
		fmt.Fprintf(in.out, "invited %s (id %s)\n", user.Email, user.ID)
		fmt.Fprintf(in.err, "a running host mails the link, which works once, for %d days\n", lifetime/(24*time.Hour))
		return nil
	})
}

// needPerson checks the command line of commands that work on one person.
func (in *invocation) needPerson(email string) error {
	if err := in.need(0, 0); err != nil {
		return err
	}
	return in.needFlag("email", email)
}

func userList() command {
	var asJSON bool
	return command{
		name: "list", args: "[--json]", short: "list the people: id, address, name, state",
		long:  "The state is enabled, disabled (by `user disable`), or not active (by auth.active).",
		flags: func(f *pflag.FlagSet) { jsonFlag(f, &asJSON) },
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(0, 0); err != nil {
				return err
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				if asJSON {
					list := &jsonList{w: in.out}
					err := a.Users(ctx, func(u host.User) error {
						return list.add(userJSON{ID: u.ID, Email: u.Email, Name: u.Name, Disabled: u.Disabled, Active: !u.Inactive})
					})
					if err != nil {
						return err
					}
					return list.end()
				}
				table := tabwriter.NewWriter(in.out, 0, 0, 2, ' ', 0)
				err := a.Users(ctx, func(u host.User) error {
					_, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", u.ID, printable(u.Email), printable(u.Name), userState(u))
					return err
				})
				if err != nil {
					return err
				}
				return table.Flush()
			})
		},
	}
}

// userJSON is a person as --json shows it.
type userJSON struct {
	ID       string `json:"id"`
	Email    string `json:"email"`
	Name     string `json:"name"`
	Disabled bool   `json:"disabled"`
	Active   bool   `json:"active"`
}

// userState returns whether a person may sign in, and what keeps them from it.
func userState(u host.User) string {
	switch {
	case u.Disabled && u.Inactive:
		return "disabled, not active"
	case u.Disabled:
		return "disabled"
	case u.Inactive:
		return "not active"
	}
	return "enabled"
}

func userDisable(disabled bool) command {
	var email string
	verb := "enable"
	short := "let a person sign in again"
	if disabled {
		verb, short = "disable", "keep a person from signing in, and end all sessions and devices"
	}
	return command{
		name: verb, args: "--email ADDRESS", short: short,
		flags: func(f *pflag.FlagSet) { emailFlag(f, &email) },
		run: func(ctx context.Context, in *invocation) error {
			if err := in.needPerson(email); err != nil {
				return err
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				if err := a.SetDisabled(ctx, email, disabled); err != nil {
					return err
				}
				fmt.Fprintf(in.out, "%sd %s\n", verb, email)
				if disabled {
					return nil
				}
				return in.tellInactive(ctx, a, email)
			})
		},
	}
}

// tellInactive says so where a person still cannot sign in.
func (in *invocation) tellInactive(ctx context.Context, a *host.Admin, email string) error {
	user, err := a.FindUser(ctx, email)
	if err == nil && !user.MaySignIn() {
		fmt.Fprintf(in.err, "%s is %s and still cannot sign in\n", email, userState(user))
	}
	return err
}

func userPasswd() command {
	var email string
	var stdin bool
	return command{
		name: "passwd", args: "--email ADDRESS [--password-stdin]", short: "set a new password and end all sessions and devices",
		flags: func(f *pflag.FlagSet) {
			emailFlag(f, &email)
			passwordFlag(f, &stdin)
		},
		run: func(ctx context.Context, in *invocation) error {
			if err := in.needPerson(email); err != nil {
				return err
			}
			password, err := in.password(stdin)
			if err != nil {
				return err
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				if err := a.SetPassword(ctx, email, password); err != nil {
					return err
				}
				fmt.Fprintf(in.out, "changed the password of %s\n", email)
				return in.tellInactive(ctx, a, email)
			})
		},
	}
}

func userResetLink() command {
	var email string
	return command{
		name: "reset-link", args: "--email ADDRESS", short: "print a link to set a new password",
		long:  "The link replaces any that was mailed before. Hand it over where only this person reads it.",
		flags: func(f *pflag.FlagSet) { emailFlag(f, &email) },
		run: func(ctx context.Context, in *invocation) error {
			if err := in.needPerson(email); err != nil {
				return err
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				link, lifetime, err := a.ResetLink(ctx, email)
				if err != nil {
					return err
				}
				fmt.Fprintln(in.out, link)
				fmt.Fprintf(in.err, "the link works once, for %s\n", lifetime)
				return nil
			})
		},
	}
}
