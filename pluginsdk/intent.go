package pluginsdk

import "slices"

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

// Done ends the loop as the host's built-in dispenser would: at the page that
// the person asked for before signing in, or else at the route "dashboard".
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
