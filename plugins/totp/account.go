package main

import "github.com/vestibule-dev/vestibule/v2/pluginsdk"

// account answers somebody who has signed in and has asked for the step: to set up the first
// app or one more, to make new recovery codes, or to turn the factor off. The host has asked for
// fresh proof of who they are. Where they have a factor, this session must have given a code
// with that proof, too, or a passkey that is as good: a password alone, a session that gave its
// code earlier, or a device that stays signed in, changes no second factor.
func (v visit) account() (pluginsdk.Intent, error) {
	switch {
	case v.req.Held == "" && v.kept == nil: // it begins, and what was under way before is over
		return v.hold().With(v.forget()...), nil
	case v.req.Held == "":
		return v.hold().OfferRecovery().With(v.forget()...), nil
	case v.kept == nil && v.step() == stepCodes: // somebody has removed the factor meanwhile
		return pluginsdk.Done().With(v.forget()...), nil
	case v.kept == nil:
		return v.enrol()
	case !v.passedNow() && !v.byPasskey():
		return v.challenge()
	}
	switch v.step() {
	case stepEnrol, stepAdd:
		return afterCode(v.enrol())
	case stepCodes:
		return afterCode(v.showCodes())
	}
	action := v.field("action")
	if action == actionContinue {
		return afterCode(pluginsdk.Done().With(v.forget()...), nil)
	}
	noCode := func(in pluginsdk.Intent) (pluginsdk.Intent, error) { return in, nil }
	if in, ok, err := v.change(action, noCode); ok {
		return afterCode(in, err)
	}
	return afterCode(v.manage(), nil)
}

// manage shows what can be changed.
func (v visit) manage() pluginsdk.Intent {
	return v.show(map[string]any{
		"step": stepManage, "apps": v.kept.apps(), "more": v.kept.apps() < maxApps,
		"recovery_left": len(v.kept.Recovery), "optional": v.optional(),
	}).OfferRecovery()
}
