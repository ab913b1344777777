package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// listLimit bounds how many lines a list has.
const listLimit = 10_000

func sessionCommands() []command { return []command{sessionList(), sessionRevoke()} }

func sessionList() command {
	var email string
	var asJSON bool
	return command{
		name: "list", args: "[--email ADDRESS] [--json]", short: "list the sessions: id, user, address, last seen, kept or not, device",
		flags: func(f *pflag.FlagSet) {
			emailFlag(f, &email)
			jsonFlag(f, &asJSON)
		},
		run: func(ctx context.Context, in *invocation) error {
			if err := in.need(0, 0); err != nil {
				return err
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				list, err := a.Sessions(ctx, email, listLimit)
				if err != nil {
					return err
				}
				in.tellCut(len(list))
				if asJSON {
					return printArray(in.out, list, shownSession)
				}
				return in.printSessions(list)
			})
		},
	}
}

func (in *invocation) printSessions(list []host.SessionInfo) error {
	table := tabwriter.NewWriter(in.out, 0, 0, 2, ' ', 0)
	for _, s := range list {
		kept := "session"
		if s.Remembered {
			kept = "kept"
		}
		fmt.Fprintf(table, "%s\tuser %s\t%s\tseen %s\t%s\t%s\n", s.ID, printable(s.UserID), printable(s.Address), moment(s.Seen), kept, printable(s.UserAgent))
	}
	return table.Flush()
}

// tellCut tells of a list that has as many lines as a list may have.
func (in *invocation) tellCut(lines int) {
	if lines >= listLimit {
		fmt.Fprintf(in.err, "the list ends after %d lines\n", listLimit)
	}
}

// sessionJSON is a session as --json shows it.
type sessionJSON struct {
	ID       string    `json:"id"`
	UserID   string    `json:"user_id"`
	Address  string    `json:"address"`
	Browser  string    `json:"browser"`
	Kept     bool      `json:"kept"`
	Created  time.Time `json:"created"`
	LastSeen time.Time `json:"last_seen"`
	Expires  time.Time `json:"expires"`
}

func shownSession(s host.SessionInfo) any {
	return sessionJSON{
		ID: s.ID, UserID: s.UserID, Address: s.Address, Browser: s.UserAgent, Kept: s.Remembered,
		Created: second(s.Created), LastSeen: second(s.Seen), Expires: second(s.Expires),
	}
}

func sessionRevoke() command {
	var email string
	var all bool
	return command{
		name: "revoke", args: "ID… | --email ADDRESS | --all", short: "end sessions and their devices",
		long: "ID is the beginning of an id of `session list`, at least 8 digits. Machine tokens stay.",
		flags: func(f *pflag.FlagSet) {
			emailFlag(f, &email)
			f.BoolVar(&all, "all", false, "end the sessions of everybody, without asking")
		},
		run: func(ctx context.Context, in *invocation) error {
			ways := 0
			for _, given := range []bool{email != "", len(in.args) > 0, all} {
				if given {
					ways++
				}
			}
			if ways != 1 {
				return &usageError{"name the sessions by id, the person by --email, or everybody by --all", in.hint}
			}
			return in.withAdmin(ctx, false, func(a *host.Admin) error {
				if all {
					return in.revokeAll(ctx, a)
				}
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

func (in *invocation) revokeAll(ctx context.Context, a *host.Admin) error {
	devices, sessions, err := a.RevokeAll(ctx)
	if err != nil {
		return fmt.Errorf("%w: %d sessions and %d devices have ended; run it again for the others", err, sessions, devices)
	}
	fmt.Fprintf(in.out, "ended %d sessions and %d devices\n", sessions, devices)
	return nil
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
