package pluginsdk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/words"
)

// RoleDispenser is the role of a [Dispenser].
const RoleDispenser = "dispenser"

// A Dispenser decides which step a person must complete. It is asked once after
// the credentials were right, and again after every satisfied step.
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

// Kind names the step that an [Intent] asks for. The catalogue is closed: a
// host knows the kinds below and no others.
type Kind string

// The kinds of an intent. KindNone is the zero value and breaks the contract
// when a dispenser returns it; KindDone asks for what the host's built-in
// dispenser would answer and never reaches a browser.
const (
	KindNone     Kind = ""
	KindDone     Kind = "done"
	KindRedirect Kind = "redirect"
	KindOrgSetup Kind = "org_setup"
)

// An Intent is the step that a person must complete next, together with the
// effects that the dispenser asks for. Make one with [Redirect], [OrgSetup] or
// [Done]; the zero value is no intent at all. An Intent is a value: methods
// return copies and it may be shared between goroutines.
type Intent struct {
	kind       Kind
	target     string
	personName string
	effects    []Effect
}

// Redirect ends the loop: the person is done and goes to target, a rooted path
// of the same origin or a URL of an origin that the host allows, at most 8 KiB.
func Redirect(target string) Intent { return Intent{kind: KindRedirect, target: target} }

// OrgSetup asks for the details of the organisation first. The front end
// greets the person as personName.
func OrgSetup(personName string) Intent { return Intent{kind: KindOrgSetup, personName: personName} }

// Done ends the loop as the host's built-in dispenser would: at the intended
// URL, the page that the person asked for before signing in, or else at the
// route "dashboard".
func Done() Intent { return Intent{kind: KindDone} }

// With returns a copy of the intent that asks for further effects.
func (i Intent) With(effects ...Effect) Intent {
	i.effects = append(slices.Clip(i.effects), effects...)
	return i
}

// Kind returns the kind, [KindNone] for the zero Intent.
func (i Intent) Kind() Kind { return i.kind }

// Target returns where a redirect leads; it is empty for other kinds.
func (i Intent) Target() string { return i.target }

// PersonName returns the name in an org_setup intent; it is empty for others.
func (i Intent) PersonName() string { return i.personName }

// Effects returns what the dispenser asks the host to change, in order.
func (i Intent) Effects() []Effect { return slices.Clone(i.effects) }

// dispenserRole is what the rest of the SDK knows of the role.
func dispenserRole() role {
	return role{
		name: RoleDispenser, field: "Dispenser", path: "/auth/login",
		has: func(p Plugin) bool { return p.Dispenser != nil },
		run: func(ctx context.Context, p Plugin, user User, req *Request) (any, error) {
			i, err := p.Dispenser.Dispense(ctx, user, req)
			return struct {
				Kind       Kind             `json:"kind"`
				Target     string           `json:"target,omitempty"`
				PersonName string           `json:"person_name,omitempty"`
				Effects    []map[string]any `json:"effects"`
			}{i.kind, i.target, i.personName, effectsJSON(i.effects)}, err
		},
		connect: func(p *Plugin, c *Client) { p.Dispenser = c },
		samples: func() map[string]func(*Request) {
			return map[string]func(*Request){"somebody who asked for no page": func(r *Request) { r.Intended = "" }}
		},
	}
}

// Dispense asks the plugin for the next step.
func (c *Client) Dispense(ctx context.Context, user User, req *Request) (Intent, error) {
	u, r, err := toSubject(user, req)
	if err != nil {
		return Intent{}, err
	}
	return callPlugin(ctx, c.rpc.Dispense, &pluginpb.DispenseRequest{User: u, Request: r}, fromIntent)
}

// Dispense answers a host's call with the author's dispenser.
func (s *server) Dispense(ctx context.Context, in *pluginpb.DispenseRequest) (*pluginpb.DispenseResponse, error) {
	d := s.plugin.Dispenser
	if d == nil {
		return nil, lacksRole(RoleDispenser)
	}
	req := fromRequest(in.GetRequest(), nil)
	return answerCall(s.call(ctx, "dispense", req.ID, req.IntentID), func(ctx context.Context) (Intent, error) {
		intent, err := d.Dispense(ctx, fromUser(in.GetUser()), req)
		return intent, cmp.Or(err, checkSession(req, intent.effects))
	}, toIntent)
}

func toIntent(i Intent) (*pluginpb.DispenseResponse, error) {
	effects, err := toEffects(i.effects)
	if err != nil {
		return nil, err
	}
	r := &pluginpb.DispenseResponse{Effects: effects}
	if i.kind != KindNone {
		r.Intent = &pluginpb.Intent{Kind: string(i.kind), Target: i.target, PersonName: i.personName}
	}
	if !utf8.ValidString(i.target) || !utf8.ValidString(i.personName) {
		return nil, fmt.Errorf("a text is not valid UTF-8")
	}
	return r, nil
}

// fromIntent refuses kinds that the catalogue does not have: an unknown kind
// cannot be carried in an [Intent] at all.
func fromIntent(r *pluginpb.DispenseResponse) (Intent, error) {
	effects, err := fromEffects(r.GetEffects())
	if err != nil {
		return Intent{}, err
	}
	in := r.GetIntent()
	switch kind := Kind(in.GetKind()); kind {
	case KindDone:
		return Done().With(effects...), nil
	case KindRedirect:
		return Redirect(in.GetTarget()).With(effects...), nil
	case KindOrgSetup:
		return OrgSetup(in.GetPersonName()).With(effects...), nil
	case KindNone:
		return Intent{}, fmt.Errorf("%w: it returned no intent", ErrContract)
	default:
		return Intent{}, fmt.Errorf("%w: it returned an intent of unknown kind %q", ErrContract, words.Cut(string(kind), 64))
	}
}
