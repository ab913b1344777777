package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A Program is the plugin to check.
type Program struct {
	// Command is the program, as a path, and its arguments.
	Command []string
	// Dir is its working directory; empty means the current one.
	Dir string
	// Env is added to PATH, HOME, LANG, TZ and TMPDIR.
	Env map[string]string
	// Setup is what the plugin is configured with. Without roles it is checked in
	// all that it declares and, without grants either, all columns are granted.
	Setup pluginsdk.Setup
	// Timeout bounds each call. Zero means 3 s.
	Timeout time.Duration
}

// A Report is the outcome of the checks.
type Report struct {
	// Name, Version and Roles are what the plugin says of itself.
	Name, Version string
	Roles         []string
	// Findings are the checks in the order in which they ran.
	Findings []Finding
}

// A Finding is the outcome of one check.
type Finding struct {
	// Check says in a few words what was checked.
	Check string
	// Err is nil when the plugin passed.
	Err error
}

// Failed tells whether any check failed.
func (r Report) Failed() bool {
	for _, f := range r.Findings {
		if f.Err != nil {
			return true
		}
	}
	return false
}

// startLimit bounds the start of a program; endLimit is how long one may take to
// end after it was told to.
const (
	startLimit = 15 * time.Second
	endLimit   = 3 * time.Second // as long as the host waits
)

// Run starts the program a few times and checks it. The error is about a program
// that cannot be started or configured at all; it wraps a
// [*pluginsdk.ConfigError] when the config block is at fault.
func Run(ctx context.Context, p Program) (Report, error) {
	if p.Timeout <= 0 {
		p.Timeout = 3 * time.Second
	}
	var r Report
	in, err := Start(ctx, p)
	if err != nil {
		return r, err
	}
	defer in.Stop()
	about, err := in.Client.Describe(ctx, "conformance")
	if err != nil {
		return r, fmt.Errorf("describe: %w", err)
	}
	r.Name, r.Version, r.Roles = about.Name, about.Version, about.Roles
	if len(p.Setup.Roles) == 0 {
		p.Setup.Roles = about.Roles
		if p.Setup.UserRead == nil && p.Setup.UserWrite == nil {
			p.Setup.UserRead, p.Setup.UserWrite, p.Setup.Mails = []string{"*"}, []string{"*"}, []string{"*"}
		}
	}
	if p.Setup.Name == "" {
		p.Setup.Name = "conformance"
	}
	if err := in.Client.Configure(ctx, p.Setup); err != nil {
		return r, fmt.Errorf("configure: %w", err)
	}
	for _, c := range checksOf(p.Setup.Roles) {
		err := c.run(&subject{ctx: ctx, program: p, instance: in, about: about})
		r.Findings = append(r.Findings, Finding{Check: c.name, Err: err})
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
	}
	return r, nil
}

// A check looks at one thing.
type check struct {
	name string
	run  func(*subject) error
}

// A subject is the plugin under check.
type subject struct {
	ctx      context.Context
	program  Program
	instance *Instance
	about    pluginsdk.Description
}

// call returns a context for one call.
func (s *subject) call() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.ctx, s.program.Timeout)
}

// checksOf returns the checks of a plugin in some roles, in their order. Those that
// end the program come last.
func checksOf(names []string) []check {
	list := []check{
		{"explains itself when a person runs it", (*subject).byHand},
		{"says what it is", (*subject).describes},
		{"answers health checks", (*subject).healthy},
		{"refuses a client without the host's certificate", (*subject).guarded},
	}
	for _, role := range pluginsdk.Roles() {
		if slices.Contains(names, role) {
			list = append(list, checksOfRole(role)...)
		}
	}
	return append(list,
		check{"refuses calls of a role that it does not have", (*subject).keepsToItsRoles},
		check{"bears calls that are given up", (*subject).survivesCancelling},
		check{"prints nothing on standard output", (*subject).quiet},
		check{"ends when it is told to, and takes its socket with it", (*subject).stops},
		check{"ends when the host is gone", (*subject).endsWithHost})
}

// acceptable tells whether the outcome of a call is one that a host can work
// with: an answer, or an error that says that there is none.
func acceptable(err error) error {
	if err == nil || errors.Is(err, pluginsdk.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}
