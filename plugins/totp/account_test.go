package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// settled is a browser of a person who has given a code in its session, and asks for the step.
func (w *world) settled(user, session, secret string) *browser {
	w.t.Helper()
	b := w.browser(user, session)
	b.ask()
	b.ask("action", "verify", "code", w.code(secret)).IsDone()
	w.clock = w.clock.Add(time.Minute)
	b.begin()
	return b
}

// begin asks for the step, which begins at the page.
func (b *browser) begin() {
	b.t.Helper()
	b.asked, b.held = true, ""
	b.ask("", "").Holds("/second-factor")
}

// A person adds a second app, and signs in with either from then on; the recovery codes stay.
func TestAccountAddsAnApp(t *testing.T) {
	w := newWorld(t)
	first, recovery := w.enrolled("7")
	b := w.settled("7", "s1", first)
	if shown := b.step(stepManage); fmt.Sprint(shown["apps"]) != "1" || shown["more"] != true || shown["optional"] != false {
		t.Errorf("the page shows %v", shown)
	}
	second := b.step(stepEnrol, "action", "add")["secret"].(string)
	if second == first {
		t.Fatal("the second app has the secret of the first")
	}
	before := w.columns["7"]
	b.ask("action", "confirm", "code", "000000").Refuses(textsFor("en").wrong)
	b.ask("action", "confirm", "code", w.code(first)).Refuses(textsFor("en").wrong)
	if w.columns["7"] != before {
		t.Error("a wrong code has changed the factor")
	}
	b.ask("action", "confirm", "code", w.code(second)).IsDone()
	w.clock = w.clock.Add(time.Minute)
	for name, code := range map[string]string{"first": w.code(first), "second": w.code(second), "recovery": recovery[0]} {
		other := w.browser("7", "session of "+name)
		other.ask().Holds("/second-factor")
		other.ask("action", "verify", "code", code).IsDone()
		other = w.browser("7", "next session of "+name)
		other.ask()
		if a := other.ask("action", "verify", "code", code); len(a.Intent.Errors()) != 1 {
			t.Errorf("%s: the code counts twice", name)
		}
	}
	w.clock = w.clock.Add(time.Minute)
	b = w.settled("7", "s2", second)
	third := b.step(stepEnrol, "action", "add")["secret"].(string)
	b.ask("action", "confirm", "code", w.code(third)).IsDone()
	b.begin()
	if shown := b.step(stepManage); shown["more"] != false {
		t.Errorf("of three apps the page shows %v", shown)
	}
	b.step(stepManage, "action", "add")
	if text := w.columns["7"].(string); len(text) > 1500 {
		t.Errorf("the column holds %d characters", len(text))
	}
}

func TestAccountChanges(t *testing.T) {
	t.Run("new recovery codes", func(t *testing.T) {
		w := newWorld(t)
		secret, recovery := w.enrolled("7")
		b := w.settled("7", "s1", secret)
		codes := b.step(stepCodes, "action", "codes")["codes"].([]any)
		b.ask("action", "continue").IsDone()
		other := w.browser("7", "s2")
		other.ask()
		other.ask("action", "verify", "code", recovery[0]).Refuses(textsFor("en").wrong)
		other.ask("action", "verify", "code", codes[0].(string)).IsDone()
	})
	t.Run("another app", func(t *testing.T) {
		w := newWorld(t)
		secret, _ := w.enrolled("7")
		b := w.settled("7", "s1", secret)
		fresh := b.step(stepEnrol, "action", "factor")["secret"].(string)
		b.step(stepCodes, "action", "confirm", "code", w.code(fresh))
		b.ask("action", "continue").IsDone()
		w.clock = w.clock.Add(time.Minute)
		other := w.browser("7", "s2")
		other.ask()
		other.ask("action", "verify", "code", w.code(secret)).Refuses(textsFor("en").wrong)
		other.ask("action", "verify", "code", w.code(fresh)).IsDone()
	})
	t.Run("off, where it is offered", func(t *testing.T) {
		w := newWorld(t, `"enrol": "offered"`)
		secret, _ := w.enrolled("7")
		b := w.settled("7", "s1", secret)
		b.step(stepManage)
		b.ask("action", "remove").IsDone()
		if w.columns["7"] != nil {
			t.Error("the factor is still there")
		}
	})
	t.Run("not off, where it is required", func(t *testing.T) {
		w := newWorld(t)
		secret, _ := w.enrolled("7")
		before := w.columns["7"]
		b := w.settled("7", "s1", secret)
		b.step(stepManage, "action", "remove")
		b.ask("action", "continue").IsDone()
		if w.columns["7"] == nil || w.columns["7"] == before {
			t.Error("the factor is gone, or the code of the sign-in was not noted")
		}
	})
	t.Run("the first app", func(t *testing.T) {
		w := newWorld(t, `"enrol": "offered"`)
		b := w.browser("7", "s1")
		b.ask()
		b.ask("action", "skip").IsDone()
		b.begin()
		secret := b.step(stepEnrol)["secret"].(string)
		b.step(stepCodes, "action", "confirm", "code", w.code(secret))
		b.ask("action", "continue").IsDone()
		b.begin()
		b.step(stepManage)
	})
	t.Run("the first app after all not", func(t *testing.T) {
		w := newWorld(t)
		b := w.browser("7", "s1")
		b.began = true
		b.begin()
		b.step(stepEnrol)
		b.ask("action", "skip").IsDone()
	})
	t.Run("what was under way is over when it begins anew", func(t *testing.T) {
		w := newWorld(t)
		secret, _ := w.enrolled("7")
		b := w.settled("7", "s1", secret)
		pending := b.step(stepEnrol, "action", "factor")["secret"].(string)
		b.begin()
		b.step(stepManage, "action", "confirm", "code", w.code(pending))
	})
}

// Who has a factor changes it by a code of this session, or by a passkey where that is as
// good. A device that stays signed in, and a session with another id, have given none.
func TestAccountNeedsACodeOfThisSession(t *testing.T) {
	w := newWorld(t, `"trust_devices": true`, `"enrol": "offered"`)
	secret, _ := w.enrolled("7")
	b := w.settled("7", "s1", secret)
	b.ask("action", "continue").IsDone()
	b.session = "s2" // the device has come back, or the session has another id
	b.begin()
	before := w.columns["7"]
	if shown := b.step(stepCode); shown["asked"] != true {
		t.Errorf("the page shows %v", shown)
	}
	for _, action := range []string{"add", "factor", "codes", "remove", "continue", "skip", "confirm"} {
		b.step(stepCode, "action", action)
	}
	b.ask("action", "verify", "code", "000000", "then", "remove").Refuses(textsFor("en").wrong)
	if w.columns["7"] != before {
		t.Error("the factor has changed")
	}
	b.step(stepManage, "action", "verify", "code", w.code(secret))
	b.ask("action", "remove").IsDone()
	if w.columns["7"] != nil {
		t.Error("the factor is still there")
	}
}

// A code counts with the proof that it was given with. Who has taken a session over and knows the password confirms by
// it, and has given no code since.
func TestAccountNeedsACodeWithEachProof(t *testing.T) {
	w := newWorld(t, `"enrol": "offered"`)
	secret, _ := w.enrolled("7")
	b := w.settled("7", "s1", secret) // with a code
	b.ask("action", "continue").IsDone()
	before := w.columns["7"]
	b.proved = 3600
	b.begin()
	for _, action := range []string{"", "add", "factor", "codes", "remove", "continue", "skip", "confirm"} {
		b.step(stepCode, "action", action)
	}
	if w.columns["7"] != before {
		t.Error("the factor has changed")
	}
	w.clock = w.clock.Add(time.Minute)
	b.step(stepManage, "action", "verify", "code", w.code(secret))
	b.begin() // asked for once more, with the same proof
	b.step(stepManage)
	b.ask("action", "remove").IsDone()
}

// A passkey is as good as a code where the configuration says so, and only then.
func TestPasskeysPass(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		more := []string{}
		if allowed {
			more = append(more, `"passkeys": true`)
		}
		w := newWorld(t, more...)
		nobody := w.browser("8", "first")
		nobody.by = "passkey"
		if passes := !nobody.ask().Intent.Held(); passes != allowed {
			t.Errorf("allowed %v: somebody without a factor passes: %v", allowed, passes)
		}
		w.enrolled("7")
		for by, want := range map[string]bool{"passkey": allowed, "password": false, "device": false, "": false} {
			b := w.browser("7", "session by "+by)
			b.by = by
			if passes := !b.ask().Intent.Held(); passes != want {
				t.Errorf("allowed %v: somebody who signs in by %q passes: %v", allowed, by, passes)
			}
		}
		b := w.browser("7", "asks")
		b.by, b.began = "passkey", true
		b.begin()
		b.step(map[bool]string{true: stepManage, false: stepCode}[allowed])
	}
}

// A device that a passkey has signed in is trusted as one of a code is, and no other.
func TestTrustedDevicesOfPasskeys(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		more := []string{`"passkeys": true`}
		if trusted {
			more = append(more, `"trust_devices": true`)
		}
		w := newWorld(t, more...)
		w.enrolled("7")
		b := w.browser("7", "s1")
		b.by, b.began = "passkey", true
		b.ask().IsDone()
		b.by, b.session, b.held = "device", "s2", "/second-factor"
		if passes := !b.ask().Intent.Held(); passes != trusted {
			t.Errorf("trusted %v: the device passes: %v", trusted, passes)
		}
	}
}

// After a recovery code everything that the account offers is marked as recovery, so that it
// can be done where no guesses are left.
func TestAccountAfterTheLastGuess(t *testing.T) {
	w := newWorld(t)
	_, recovery := w.enrolled("7")
	b := w.browser("7", "s1")
	b.began, b.recoveryOnly = true, true
	b.begin()
	last := b.ask("action", "verify", "code", recovery[0]).Intent
	if !last.IsRecovery() || !last.OffersRecovery() {
		t.Error("the menu after a recovery code is not marked")
	}
	for _, fields := range [][]string{{"", ""}, {"action", "codes"}, {"action", "continue"}} {
		if last = b.ask(fields...).Intent; !last.IsRecovery() {
			t.Errorf("the answer to %v is not marked", fields)
		}
	}
	if last.Held() {
		t.Error("the step does not end")
	}
}

// The description offers the step.
func TestOffersItsStep(t *testing.T) {
	d, err := plugintest.Serve(t, newPlugin(time.Now), plugintest.Config(`{"key": "`+testKey+`", "page": "/p", "issuer": "X"}`)).Client.Describe(t.Context(), "test")
	if err != nil || !d.OffersStep || d.Title != "Authenticator app" {
		t.Errorf("%+v, %v", d, err)
	}
}
