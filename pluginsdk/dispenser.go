package pluginsdk

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb"
)

// RoleDispenser is the role of a [Dispenser].
const RoleDispenser = "dispenser"

// A Dispenser decides which step a person must complete. It is asked once after
// the credentials were right, again after every satisfied step, while a redirect of
// its own holds the person ([Intent.Hold]), and when a device that was kept signed
// in comes back. Where the plugin offers its step, it is also asked when somebody who is
// done asks for that ([Request.Asked]).
//
// It must terminate: the step that it dispenses must change the state that it
// tests. Dispense may be called from several goroutines at once, and a second
// time for the same request when the first process died; only one answer is
// used. An error means that no decision could be made: the sign-in fails with
// 503 and nothing is changed.
type Dispenser interface {
	Dispense(ctx context.Context, user User, req *Request) (Intent, error)
}

// DispenserFunc lets an ordinary function be a [Dispenser].
type DispenserFunc func(ctx context.Context, user User, req *Request) (Intent, error)

// Dispense calls f.
func (f DispenserFunc) Dispense(ctx context.Context, user User, req *Request) (Intent, error) {
	return f(ctx, user, req)
}

// The kinds of an intent. The catalogue is closed: a host knows no others. The empty kind,
// that of the zero [Intent], breaks the contract when a dispenser returns it; kindDone asks
// for what the host's built-in dispenser would answer and never reaches a browser.
const (
	kindDone     = "done"
	kindRedirect = "redirect"
	kindOrgSetup = "org_setup"
)

// An Intent is the step that a person must complete next, together with the
// effects that the dispenser asks for. Make one with [Redirect], [OrgSetup] or
// [Done]; the zero value is no intent at all. An Intent is a value: methods
// return copies and it may be shared between goroutines.
type Intent struct {
	kind       string
	target     string
	personName string
	effects    []Effect

	held     bool
	prefixes []string
	nextStep map[string]any
	errors   []string

	offersRecovery, recovery bool
}

// Redirect ends the loop: the person is done and goes to target, a rooted path
// of the same origin or a URL of an origin that the host allows, at most 8 KiB.
func Redirect(target string) Intent { return Intent{kind: kindRedirect, target: target} }

// Hold returns a copy of a redirect that does not end the loop: the person goes to
// the target, a page of the application on the host's own origin, and may see only
// what lies at or below its path and the prefixes until the dispenser, asked again,
// answers otherwise. There are up to 16 prefixes: rooted paths without query, dot
// segments or encoded slashes, and not "/". /odata/ is open only where a prefix names
// it as a whole.
//
// The dispenser is asked again when the page posts to /auth/intents/redirect, with
// fields of its own in [Request.Form], and when the person goes to /login.
// [Request.Held] is the target then.
func (i Intent) Hold(prefixes ...string) Intent {
	i.held, i.prefixes = true, slices.Clone(prefixes)
	return i
}

// NeedsMoreInput returns a copy of a held redirect that tells the page why, when it
// holds the person at the same target again; payload is that of the function
// [NeedsMoreInput].
func (i Intent) NeedsMoreInput(payload map[string]any) Intent {
	i.nextStep = payload
	return i
}

// Failed returns a copy of a held redirect that refuses what the page posted: a code
// that was wrong, for example. The host counts such answers by user and no others, and
// asks no more beyond auth.throttle, which is five in a minute by default. Messages are
// those of the function [Failed]; without one it is "invalid".
func (i Intent) Failed(messages ...string) Intent {
	if len(messages) == 0 {
		messages = []string{"invalid"}
	}
	i.errors = slices.Clone(messages)
	return i
}

// OfferRecovery returns a copy of a held redirect whose page also has a form for those who
// have lost what it asks for, such as recovery codes. The host counts the refusals of that
// form apart, ten a day, and goes on asking about it when there are no guesses left for
// others; [Request.RecoveryOnly] is set then. Mark each answer to the form with
// [Intent.AsRecovery].
func (i Intent) OfferRecovery() Intent {
	i.offersRecovery = true
	return i
}

// AsRecovery returns a copy of the answer to a recovery form, whether it was right or
// wrong. Only a form that was judged by nothing but what cannot be guessed is one: the
// page that posts it must not be able to choose.
func (i Intent) AsRecovery() Intent {
	i.recovery = true
	return i
}

// OrgSetup asks for the details of the organisation first. The front end
// greets the person as personName.
func OrgSetup(personName string) Intent { return Intent{kind: kindOrgSetup, personName: personName} }

// Done ends the loop as the host's built-in dispenser would: at the intended
// URL, the page that the person asked for before signing in, or else at the
// route "dashboard".
func Done() Intent { return Intent{kind: kindDone} }

// With returns a copy of the intent that asks for further effects.
func (i Intent) With(effects ...Effect) Intent {
	i.effects = append(slices.Clip(i.effects), effects...)
	return i
}

// Kind returns "done", "redirect" or "org_setup"; it is empty for the zero Intent.
func (i Intent) Kind() string { return i.kind }

// IsDone reports whether the intent is one of [Done].
func (i Intent) IsDone() bool { return i.kind == kindDone }

// IsRedirect reports whether the intent is one of [Redirect], held or not.
func (i Intent) IsRedirect() bool { return i.kind == kindRedirect }

// IsOrgSetup reports whether the intent is one of [OrgSetup].
func (i Intent) IsOrgSetup() bool { return i.kind == kindOrgSetup }

// Target returns where a redirect leads; it is empty for other kinds.
func (i Intent) Target() string { return i.target }

// PersonName returns the name in an org_setup intent; it is empty for others.
func (i Intent) PersonName() string { return i.personName }

// Held reports whether the redirect keeps the loop open.
func (i Intent) Held() bool { return i.held }

// Prefixes returns what is open beside the target of a held redirect.
func (i Intent) Prefixes() []string { return slices.Clone(i.prefixes) }

// NextStep returns the payload of [Intent.NeedsMoreInput], nil otherwise. The map
// is shared, not copied.
func (i Intent) NextStep() map[string]any { return i.nextStep }

// Errors returns the messages of [Intent.Failed], nil otherwise.
func (i Intent) Errors() []string { return slices.Clone(i.errors) }

// OffersRecovery reports whether the page of a held redirect has a recovery form.
func (i Intent) OffersRecovery() bool { return i.offersRecovery }

// IsRecovery reports whether the intent is the answer to a recovery form.
func (i Intent) IsRecovery() bool { return i.recovery }

// Effects returns what the dispenser asks the host to change, in order.
func (i Intent) Effects() []Effect { return slices.Clone(i.effects) }

// dispenserRole is what the rest of the SDK knows of the role.
func dispenserRole() role {
	return role{
		name: RoleDispenser, field: "Dispenser", path: "/auth/login",
		has: func(p Plugin) bool { return p.Dispenser != nil },
		run: func(ctx context.Context, p Plugin, c Call) (any, error) {
			i, err := p.Dispenser.Dispense(ctx, c.User, c.Request)
			return struct {
				Kind       string           `json:"kind"`
				Target     string           `json:"target,omitempty"`
				Held       bool             `json:"held,omitempty"`
				Prefixes   []string         `json:"prefixes,omitempty"`
				NextStep   map[string]any   `json:"next_step,omitempty"`
				Errors     []string         `json:"errors,omitempty"`
				PersonName string           `json:"person_name,omitempty"`
				Offers     bool             `json:"offers_recovery,omitempty"`
				Recovery   bool             `json:"recovery,omitempty"`
				Effects    []map[string]any `json:"effects"`
			}{i.kind, i.target, i.held, i.prefixes, i.nextStep, i.errors, i.personName, i.offersRecovery, i.recovery, effectsJSON(i.effects)}, err
		},
		connect: func(p *Plugin, c *Client) { p.Dispenser = c },
		samples: func() map[string]func(*Call) {
			return onRequest(map[string]func(*Request){
				"somebody who asked for no page": func(r *Request) { r.Intended = "" },
				"somebody whom a step holds":     func(r *Request) { r.Method, r.Path, r.Held = "GET", "/login", "/held" },
				"somebody who asks for the step": func(r *Request) { r.Path, r.Intended, r.Asked = "/auth/account/steps/sample", "", true },
				"a form that no host has validated": func(r *Request) {
					r.Path, r.Held = "/auth/intents/redirect", "/held"
					r.Form = ValuesOf(map[string]Value{"": "", "code": "000000", "n": int64(-1), "half": 0.5, "yes": true, "none": nil})
				},
			})
		},
	}
}

// Dispense asks the plugin for the next step.
func (c *Client) Dispense(ctx context.Context, user User, req *Request) (Intent, error) {
	u, r, err := toSubject(user, req)
	if err != nil {
		return Intent{}, err
	}
	in := &pluginpb.DispenseRequest{User: u, Request: r}
	if req != nil {
		if in.Form, err = toValues(req.Form.all); err != nil {
			return Intent{}, fmt.Errorf("%w: form field %w", ErrUnavailable, err)
		}
	}
	return callPlugin(withTrace(ctx, req), c.rpc().Dispense, in, fromIntent)
}

// Dispense answers a host's call with the author's dispenser.
func (s *server) Dispense(ctx context.Context, in *pluginpb.DispenseRequest) (*pluginpb.DispenseResponse, error) {
	d := s.plugin.Dispenser
	if d == nil {
		return nil, lacksRole(RoleDispenser)
	}
	req := fromRequest(in.GetRequest(), in.GetForm())
	return answerCall(s.callFor(ctx, "dispense", req), func(ctx context.Context) (Intent, error) {
		intent, err := d.Dispense(ctx, fromUser(in.GetUser()), req)
		return intent, cmp.Or(err, checkSession(req, intent.effects), checkMails(intent.effects))
	}, toIntent)
}
