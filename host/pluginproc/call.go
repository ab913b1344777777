package pluginproc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc/internal/proc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/conformance"
)

// Call starts the plugin that spec describes, makes the one call that the JSON
// document describes, and returns the answer as JSON: what the pipeline would
// get, after grants and checks. The document is that of [pluginsdk.Call.Parse]. A
// spec without roles has those that the plugin declares.
func Call(ctx context.Context, spec Spec, o Options, document []byte) (json.RawMessage, error) {
	var call pluginsdk.Call
	if err := call.Parse(document); err != nil {
		return nil, err
	}
	if call.Config != nil {
		spec.Config = call.Config
	}
	var answer json.RawMessage
	err := withProcess(ctx, spec, o, func(s *slot) (err error) {
		ctx, cancel := context.WithTimeout(ctx, s.spec.Timeout)
		defer cancel()
		// Session values in the document are the plugin's own, without a prefix.
		own := map[string]pluginsdk.Value{}
		for name, value := range call.Request.Session.All() {
			own[s.spec.Name+"/"+name] = value
		}
		call.Request.Session = pluginsdk.ValuesOf(own)
		answer, err = call.Run(ctx, s.roles())
		return err
	})
	return answer, err
}

// A Report is the outcome of the conformance checks.
type Report = conformance.Report

// Check starts the plugin that spec describes as a host does, then runs the
// conformance checks against it, and returns what they found. The error is about
// a plugin that cannot be started. A spec without roles has those that the
// plugin declares and, without grants either, all columns are granted to it.
func Check(ctx context.Context, spec Spec, o Options) (Report, error) {
	var report Report
	err := withProcess(ctx, spec, o, func(s *slot) (err error) {
		check, roles := "keeps to what its block grants", s.spec.Roles
		if roles == nil { // and no block
			check, roles = "answers what a host takes", pluginsdk.Roles()
		}
		broken := s.breaksContract(ctx, roles)
		s.current.Stop(stopGrace)
		command := append([]string{s.image.Path()}, s.spec.Command[1:]...) // the bytes that were verified
		report, err = conformance.Run(ctx, conformance.Program{
			Command: command, Dir: s.spec.Dir, Env: s.spec.Env, Setup: s.spec.setup(), Timeout: s.spec.Timeout,
		})
		if err == nil {
			err = s.image.Recheck(s.spec.program()) // scripts run where they are
		}
		report.Findings = append(report.Findings, conformance.Finding{Check: check, Err: broken})
		return err
	})
	return report, err
}

// breaksContract makes sample calls in some roles, and returns the error of one whose answer
// the host would refuse.
func (s *slot) breaksContract(ctx context.Context, roles []string) error {
	columns := map[string]pluginsdk.Value{}
	for _, name := range s.spec.UserRead {
		if name != "*" {
			columns[name] = nil
		}
	}
	user := pluginsdk.User{ID: "1", Name: "Ada Lovelace", Email: "ada@example.com", Columns: pluginsdk.ValuesOf(columns)}
	for _, role := range roles {
		for special, call := range (pluginsdk.Call{Role: role, User: user}).Samples() {
			ctx, cancel := context.WithTimeout(ctx, s.spec.Timeout)
			_, err := call.Run(ctx, s.roles())
			cancel()
			switch {
			case errors.Is(err, pluginsdk.ErrContract):
				return fmt.Errorf("%s, %s: %w", role, special, err)
			case errors.Is(err, context.DeadlineExceeded): // which the conformance checks find, too
				return nil
			}
		}
	}
	return nil
}

// roles returns the functions of the process, after grants and checks.
func (s *slot) roles() pluginsdk.Plugin {
	return pluginsdk.Plugin{
		Dispenser: pluginsdk.DispenserFunc(s.dispense), OrgSetup: pluginsdk.OrgSetupFunc(s.current.handle),
		Listener: pluginsdk.ListenerFunc(s.current.notify), IdentityProvider: s.current,
		Validator: pluginsdk.ValidatorFunc(func(ctx context.Context, user pluginsdk.User, changes []pluginsdk.Change) (pluginsdk.Verdict, error) {
			return s.current.validate(ctx, "call", user, changes)
		}),
	}
}

// dispense asks the process, and refuses a redirect whose target no host takes.
func (s *slot) dispense(ctx context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
	intent, err := s.current.dispense(ctx, user, req)
	if err != nil || !intent.IsRedirect() {
		return intent, err
	}
	if err := s.options.Usable(intent); err != nil {
		return pluginsdk.Intent{}, broken("%v", err)
	}
	return intent, nil
}

// Sum returns the hexadecimal SHA-256 of a file, as config.hcl wants it.
func Sum(path string) (string, error) { return proc.Sum(path) }

// withProcess starts a process for one use.
func withProcess(ctx context.Context, spec Spec, o Options, use func(*slot) error) error {
	noRoles := len(spec.Roles) == 0
	if noRoles {
		spec.Roles = pluginsdk.Roles() // for the check only
	}
	checked, err := checkSpecs([]Spec{spec}, nil)
	if err != nil {
		return err
	}
	spec = checked[0]
	if noRoles {
		spec.Roles = nil
		if spec.UserRead == nil && spec.UserWrite == nil {
			spec.UserRead, spec.UserWrite, spec.Mails = []string{"*"}, []string{"*"}, []string{"*"}
		}
	}
	m := &Manager{options: o.withDefaults()}
	if err := m.open(); err != nil {
		return err
	}
	one, err := m.launch(ctx, spec)
	if err != nil {
		return errors.Join(labelErrors(checked, []error{err}), m.launcher.Close())
	}
	err = use(one)
	one.close(ctx)
	return errors.Join(err, m.launcher.Close())
}
