package auth

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A round asks the dispensers one question, each in its order, until one of them decides. [pluginsdk.Done] and a redirect
// that does not hold pass on to the next. Each dispenser sees the effects of those before it; out collects all of them,
// and one transaction applies them.
//
// An open intent belongs to the dispenser that dispensed it. That one is asked before all others, and it alone learns what
// the page of its step has posted. Once it is done, all are asked from the first.
type round struct {
	*Pipeline
	r    *http.Request
	user User
	// session is the one that is asked about, as it is stored, and last is that session as the dispenser that was asked
	// last has seen it.
	session, last Session
	out           step
	// target is the redirect of the first dispenser in the order that named one; nil if none has.
	target *pluginsdk.Intent
	// asked is the one dispenser that is asked where the question is about a step that a
	// settled person has asked for; empty for a question about the loop.
	asked string
	// led reports that a redirect which passed on has consumed the intended URL. That counts once the loop ends: if another
	// dispenser has a step first, the redirect is asked for again afterwards, and needs the URL again.
	led bool
}

// run asks until a dispenser decides or all are done. Without any the built-in dispenser answers.
func (ro *round) run(q question) error {
	if ro.asked != "" {
		return ro.runAsked(q)
	}
	names := ro.Dispensers()
	ro.last = ro.seen()
	if i := owner(ro.session, names); i >= 0 {
		passes, err := ro.ask(names[i], &q)
		if err != nil || !passes {
			return err
		}
		if len(names) == 1 { // and has no others to wait for
			return ro.end()
		}
	}
	// The order decides whose target counts, whoever had the open step: the target of the answer that ended the step
	// is used if no dispenser names one afterwards.
	target, led := ro.target, ro.led
	ro.target, ro.led = nil, false
	for _, name := range names {
		if passes, err := ro.ask(name, nil); err != nil || !passes {
			return err
		}
	}
	if ro.target == nil {
		ro.target, ro.led = target, led
	}
	return ro.end()
}

// runAsked asks the one dispenser whose step a settled person has asked for. Once it is done, the person goes to the target
// that it names, or else back to their account.
func (ro *round) runAsked(q question) error {
	passes, err := ro.ask(ro.asked, &q)
	if err != nil || !passes {
		return err
	}
	if ro.target == nil {
		account := pluginsdk.Redirect(accountPage)
		ro.target = &account
	}
	return ro.end()
}

// owner returns the index of the dispenser that the open intent of a session belongs to. It is -1 for a session without an
// open intent, and where that dispenser is no longer there. An intent that a release with one dispenser has stored has no
// name: it belongs to the only dispenser, or to none of several.
func owner(s Session, names []string) int {
	if s.Intent == nil || s.Intent.Ends() {
		return -1
	}
	if s.Intent.Dispenser == "" && len(names) == 1 {
		return 0
	}
	return slices.Index(names, s.Intent.Dispenser)
}

// orphaned reports whether the form that a session is at belongs to a dispenser that is no
// longer there. Its handler may be gone too, and then nobody would take the form.
func (p *Pipeline) orphaned(s Session) bool {
	return s.State() == StateOpen && s.Intent != nil && owner(s, p.Dispensers()) < 0
}

// ask asks one dispenser and reports whether its answer passes on to the next. own is the question if the open intent
// belongs to this dispenser, and nil otherwise.
func (ro *round) ask(name string, own *question) (passes bool, err error) {
	out := &ro.out
	ro.last = ro.seen()
	req := ro.request(ro.r, ro.last, out.intent.ID)
	if own != nil {
		req.Form, req.Asked = pluginsdk.ValuesOf(own.form), ro.asked != ""
		if open := ro.session.open(); open != nil && open.Held() {
			req.Held, req.RecoveryOnly = open.Target(), own.recoveryOnly
		}
	}
	intent, err := ro.Dispenser(name).Dispense(ro.r.Context(), pluginUser(ro.user, out.columns), req)
	if err != nil {
		return false, dispenserFault(err)
	}
	if passes, err = ro.take(intent); err != nil {
		return false, ofDispenser(name, err)
	}
	if own != nil {
		out.recovery = intent.IsRecovery()
	}
	if passes {
		return true, nil
	}
	out.intent.Dispenser = name
	if own != nil { // a dispenser that did not get the form has no message for its page
		out.nextStep, out.failures = intent.NextStep(), intent.Errors()
	}
	return false, nil
}

// seen returns the session as the next dispenser sees it: with the effects of those before it.
func (ro *round) seen() Session {
	s := ro.out.applyTo(ro.session)
	if ro.led {
		s.Intended = ""
	}
	return s
}

// take validates an answer and collects its effects.
func (ro *round) take(i pluginsdk.Intent) (passes bool, err error) {
	out := &ro.out
	before := out.consume
	if err := out.collect(i.Effects(), ro.LoginField); err != nil {
		return false, contractFault(err)
	}
	if i.IsRedirect() && !i.Held() && out.consume && !before {
		out.consume, ro.led = false, true
	}
	if plugin, n := largest(out.applyTo(ro.session).Values); n > maxValues {
		return false, contractFault(fmt.Errorf("plugin %q: its session values would have %d bytes together; %d are allowed", plugin, n, maxValues))
	}
	k, ok := kindNamed(i.Kind())
	if !ok {
		return false, contractFault(fmt.Errorf("the dispenser returned the kind %q, which is none of the catalogue", i.Kind()))
	}
	if i.Held() && !i.IsRedirect() {
		return false, contractFault(fmt.Errorf("the dispenser returned an intent of the kind %q that holds: only a redirect can", k.name))
	}
	if i.IsDone() {
		return true, nil
	}
	accepted, err := k.accept(ro.Pipeline, ro.r, out.applyTo(ro.session), i, out)
	if err != nil {
		return false, err
	}
	if !(OpenIntent{Intent: accepted}).Ends() {
		out.intent.Intent = accepted
		return false, nil
	}
	if ro.target == nil {
		ro.target = &accepted
	}
	return true, nil
}

// end ends the loop: at the first target that was named, or at that of the built-in dispenser.
func (ro *round) end() (err error) {
	ro.out.consume = ro.out.consume || ro.led
	if ro.target != nil {
		ro.out.intent.Intent = *ro.target
		return nil
	}
	ro.out.intent.Intent, err = doneKind().accept(ro.Pipeline, ro.r, ro.seen(), pluginsdk.Done(), &ro.out)
	return err
}

// ofDispenser returns a fault with the name of the dispenser in its cause, which is logged.
func ofDispenser(name string, err error) error {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || name == "" || f.Code != fault.DispenserContract {
		return err
	}
	named := *f
	named.Cause = fmt.Errorf("plugin %q: %w", name, f.Cause)
	return &named
}
