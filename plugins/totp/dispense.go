package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// The session values of the plugin.
const (
	// valuePassed is the id of the session that has passed, and valueSince when its
	// person gave the password.
	valuePassed, valueSince = "passed", "since"
	// valueProved is when the person had proved to the host who they are, as the code was given.
	valueProved = "proved"
	// valueSecret is the sealed secret of an enrolment that is under way.
	valueSecret = "secret"
	// valueStep is the step behind the code that the person is at: stepEnrol to change
	// the factor, stepAdd to set up one more app, stepCodes to see new recovery codes.
	valueStep = "step"
	// valueSkipped tells that the person goes on without a factor.
	valueSkipped = "skipped"
)

// The steps that the page shows.
const (
	stepEnrol = "enrol" // set up the app
	stepCode  = "code"  // give a code
	stepCodes = "codes" // keep the recovery codes

	stepManage = "manage" // choose what to change, where the person has asked for the step
)

// stepAdd is stepEnrol of one more app.
const stepAdd = "add"

// The actions that the page posts.
const (
	actionConfirm  = "confirm"  // with a code, at stepEnrol
	actionSkip     = "skip"     // at stepEnrol, where the factor is offered only, or is there already
	actionVerify   = "verify"   // with a code, and perhaps what comes then, at stepCode
	actionContinue = "continue" // at stepCodes, and at stepManage to change nothing
)

// What comes after a code that was right, if the person asked for it. At stepManage they are
// actions.
const (
	thenAdd    = "add"    // set up one more app
	thenFactor = "factor" // set up another app, which replaces all that there are
	thenCodes  = "codes"  // make new recovery codes
	thenRemove = "remove" // have no factor any more, where it is offered only
)

// purposeKept and purposePending are what texts are sealed for.
const (
	purposeKept    = "factor"
	purposePending = "enrolment"
)

// A factor is the dispenser.
type factor struct {
	config config
	vault  *vault
	now    func() time.Time
}

// A visit is one call: who is there, and what is kept of their factor.
type visit struct {
	*factor
	user pluginsdk.User
	req  *pluginsdk.Request
	// column is the value that a change replaces, and kept what it holds; nil when there
	// is no factor.
	column pluginsdk.Value
	kept   *kept
}

// Dispense lets those pass who have given a code in this session, and holds all
// others at the page. Who has no factor sets one up there.
func (f *factor) Dispense(_ context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
	v := visit{factor: f, user: user, req: req, column: user.Columns.Raw(f.config.Column)}
	sealed, isText := user.Columns.Text(f.config.Column)
	if v.column != nil && !isText {
		return pluginsdk.Intent{}, fmt.Errorf("the column %q of user %s holds no text, and so no factor: null lets the person begin anew", f.config.Column, user.ID)
	}
	if sealed != "" {
		v.kept = new(kept)
		if err := f.vault.open(user.ID, purposeKept, sealed, v.kept); err != nil {
			return pluginsdk.Intent{}, fmt.Errorf("open the factor of user %s in %q: %w", user.ID, f.config.Column, err)
		}
	}
	if req.Asked {
		return v.account()
	}
	switch {
	case v.byPasskey():
		return pluginsdk.Done().With(v.forget()...).With(v.since()...), nil
	case v.kept == nil && f.config.Enrol == "offered" && req.Session.Has(valueSkipped):
		return pluginsdk.Done(), nil
	case v.kept == nil:
		return v.enrol()
	case !v.passed():
		return v.challenge()
	case !v.passedHere(): // a trusted device: what an earlier session was about to change needs a code of this one
		return pluginsdk.Done().With(v.forget()...), nil
	}
	switch v.step() {
	case stepEnrol, stepAdd:
		return afterCode(v.enrol())
	case stepCodes:
		return afterCode(v.showCodes())
	}
	return pluginsdk.Done(), nil
}

// step returns the step behind the code that the person is at; empty for none.
func (v visit) step() string {
	step, _ := v.req.Session.Text(valueStep)
	return step
}

// byPasskey reports whether the person has just shown by a passkey what a code would show.
func (v visit) byPasskey() bool { return v.config.Passkeys && v.req.SignedInBy == "passkey" }

// afterCode marks the answer to a form that was posted after the code of this session. Such
// a form holds no guess at the factor, and somebody who came by a recovery code must get to
// the end where no guesses are left.
func afterCode(in pluginsdk.Intent, err error) (pluginsdk.Intent, error) {
	if in.Held() {
		in = in.OfferRecovery()
	}
	return in.AsRecovery(), err
}

// passed reports whether a code was given in this session or, where devices are
// trusted, since the password was.
func (v visit) passed() bool {
	since, ok := v.req.Session.Int(valueSince)
	return v.passedHere() || v.config.Devices && ok && !v.req.SignedInAt.IsZero() && since == v.req.SignedInAt.Unix()
}

// passedHere reports whether a code was given in this very session.
func (v visit) passedHere() bool {
	session, ok := v.req.Session.Text(valuePassed)
	return ok && session != "" && session == v.req.SessionID
}

// passedNow reports whether a code was given in this very session with the proof that the person has given the host last.
// Who has taken over a session that once gave a code confirms by the password alone.
func (v visit) passedNow() bool {
	proved, ok := v.req.Session.Int(valueProved)
	return v.passedHere() && ok && proved == v.req.SignedInAt.Unix()
}

// forget are the effects that end a change which was under way.
func (v visit) forget() []pluginsdk.Effect {
	return []pluginsdk.Effect{pluginsdk.SetSession(valueStep, nil), pluginsdk.SetSession(valueSecret, nil)}
}

// pass are the effects that let this session pass.
func (v visit) pass() []pluginsdk.Effect {
	here := []pluginsdk.Effect{pluginsdk.SetSession(valuePassed, v.req.SessionID), pluginsdk.SetSession(valueProved, v.req.SignedInAt.Unix())}
	return append(here, v.since()...)
}

// since are the effects that let a trusted device pass. The proof of somebody who has asked
// for the step may be newer than the sign-in that the device was kept from.
func (v visit) since() []pluginsdk.Effect {
	if v.req.Asked {
		return nil
	}
	return []pluginsdk.Effect{pluginsdk.SetSession(valueSince, v.req.SignedInAt.Unix())}
}

// challenge asks for a code.
func (v visit) challenge() (pluginsdk.Intent, error) {
	if v.field("action") != actionVerify {
		return v.show(map[string]any{
			"step": stepCode, "recovery_left": len(v.kept.Recovery), "optional": v.optional(), "more": v.kept.apps() < maxApps, "asked": v.req.Asked,
		}).OfferRecovery(), nil
	}
	code := v.field("code")
	if isRecovery(code) {
		in, err := v.verify(v.kept.tryRecovery(code))
		return in.AsRecovery(), err
	}
	if v.req.RecoveryOnly { // there are no guesses left, and the host takes no answer
		return v.refuse(textsFor(v.req.Locale).wrong), nil
	}
	return v.verify(v.kept.tryDigits(code, v.now()))
}

// refuse holds the person at the page after a wrong code.
func (v visit) refuse(message string) pluginsdk.Intent {
	return v.hold().OfferRecovery().Failed(message)
}

// verify goes on after a code that was judged.
func (v visit) verify(is verdict) (pluginsdk.Intent, error) {
	switch is {
	case wrong:
		return v.refuse(textsFor(v.req.Locale).wrong), nil
	case used:
		return v.refuse(textsFor(v.req.Locale).used), nil
	}
	if in, ok, err := v.change(v.field("then"), v.keep); ok {
		return in, err
	}
	if v.req.Asked {
		return v.keep(v.manage().With(v.pass()...).With(v.forget()...))
	}
	return v.keep(pluginsdk.Done().With(v.pass()...).With(v.forget()...))
}

// change begins a change that the person has chosen after a code, or after what is as good. keep
// adds the effect that notes the code. ok is false for what is no change, or none that is
// possible.
func (v visit) change(what string, keep func(pluginsdk.Intent) (pluginsdk.Intent, error)) (in pluginsdk.Intent, ok bool, err error) {
	switch {
	case what == thenCodes:
		in, err = v.giveCodes()
		return in, true, err
	case what == thenFactor, what == thenAdd && v.kept.apps() < maxApps:
		next := stepEnrol
		if what == thenAdd {
			next = stepAdd
		}
		if in, err = keep(v.show(nil)); err == nil {
			in, err = v.offer(in.OfferRecovery().With(v.pass()...).With(pluginsdk.SetSession(valueStep, next)), newSecret())
		}
		return in, true, err
	case what == thenRemove && v.optional():
		return pluginsdk.Done().With(v.pass()...).With(v.forget()...).With(pluginsdk.SetSession(valueSkipped, true),
			pluginsdk.SetUser(v.config.Column, nil).Replacing(v.column)), true, nil
	}
	return in, false, nil
}

// enrol shows the secret of a new factor, until a code proves that the app has it.
func (v visit) enrol() (pluginsdk.Intent, error) {
	if !v.posted() { // the page is on its way, and asks by itself
		return v.hold(), nil
	}
	var secret string
	if sealed, ok := v.req.Session.Text(valueSecret); ok {
		if err := v.vault.open(v.user.ID, purposePending, sealed, &secret); err != nil {
			secret = "" // the key has changed meanwhile
		}
	}
	switch action := v.field("action"); {
	case action == actionSkip && (v.kept != nil || v.req.Asked): // the factor stays as it is
		return pluginsdk.Done().With(v.forget()...), nil
	case action == actionSkip && v.optional():
		return pluginsdk.Done().With(pluginsdk.SetSession(valueSkipped, true)), nil
	case action == actionConfirm && secret != "":
		fresh := &kept{Secret: secret}
		if fresh.tryDigits(v.field("code"), v.now()) != right {
			return v.hold().Failed(textsFor(v.req.Locale).wrong), nil
		}
		if v.kept != nil && v.step() == stepAdd {
			v.kept.More = append(v.kept.More, app{fresh.Secret, fresh.Last})
			return v.keep(pluginsdk.Done().With(v.forget()...))
		}
		v.kept = fresh
		return v.giveCodes()
	}
	if secret == "" {
		secret = newSecret()
	}
	return v.offer(v.show(nil), secret)
}

// offer shows a secret and keeps it for the confirmation.
func (v visit) offer(in pluginsdk.Intent, secret string) (pluginsdk.Intent, error) {
	account := v.user.Email
	if account == "" {
		account = v.user.Name
	}
	uri := keyURI(v.config.Issuer, account, secret)
	code, err := draw(uri)
	if err != nil {
		return pluginsdk.Intent{}, err
	}
	sealed, err := v.vault.seal(v.user.ID, purposePending, secret)
	if err != nil {
		return pluginsdk.Intent{}, err
	}
	return in.With(pluginsdk.SetSession(valueSecret, sealed)).NeedsMoreInput(map[string]any{
		"step": stepEnrol, "secret": secret, "uri": uri, "qr_size": code.size, "qr_path": code.path, "optional": v.optional() || v.kept != nil || v.req.Asked,
	}), nil
}

// giveCodes keeps the factor with new recovery codes and shows them, this once.
func (v visit) giveCodes() (pluginsdk.Intent, error) {
	codes := v.kept.renew()
	in, err := v.keep(v.show(map[string]any{"step": stepCodes, "codes": codes}).OfferRecovery())
	return in.With(v.pass()...).With(pluginsdk.SetSession(valueSecret, nil), pluginsdk.SetSession(valueStep, stepCodes)), err
}

// showCodes waits until the person has the recovery codes. They cannot be shown
// again, but made anew, since this session has just given a code.
func (v visit) showCodes() (pluginsdk.Intent, error) {
	switch v.field("action") {
	case actionContinue:
		return pluginsdk.Done().With(pluginsdk.SetSession(valueStep, nil)), nil
	case thenCodes:
		return v.giveCodes()
	}
	return v.show(map[string]any{"step": stepCodes}), nil
}

// keep adds the effect that keeps the factor as it is now.
func (v visit) keep(in pluginsdk.Intent) (pluginsdk.Intent, error) {
	sealed, err := v.vault.seal(v.user.ID, purposeKept, v.kept)
	if err != nil {
		return pluginsdk.Intent{}, err
	}
	return in.With(pluginsdk.SetUser(v.config.Column, sealed).Replacing(v.column)), nil
}

// hold holds the person at the page.
func (v visit) hold() pluginsdk.Intent {
	return pluginsdk.Redirect(v.config.Page).Hold(v.config.Prefixes...)
}

// show holds the person at the page, which is told what to show if it asks.
func (v visit) show(payload map[string]any) pluginsdk.Intent {
	if !v.posted() || payload == nil {
		return v.hold()
	}
	return v.hold().NeedsMoreInput(payload)
}

// posted reports whether the page asks, and not somebody who signs in or goes to /login.
func (v visit) posted() bool { return v.req.Held != "" && v.req.Method == http.MethodPost }

func (v visit) optional() bool { return v.config.Enrol == "offered" }

// field is a text that the page posted; empty for anything else.
func (v visit) field(name string) string {
	text, _ := v.req.Form.Text(name)
	return text
}
