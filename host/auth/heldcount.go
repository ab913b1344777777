package auth

import (
	"net/http"
	"time"
)

// What bounds the guesses at a held step, such as the code of a second factor. The short
// bound, auth.throttle, leaves 7200 a day, and a code of six digits of which three are
// good is found with 2 % of those. NIST SP 800-63B-4, 3.2.2, allows a hundred failures in
// a row; here they are not forgotten for a success, which might be another step's, but
// when thirty days have passed since the first of them. Then who has the password finds
// such a code with a probability of 0.03 %.
//
// So that a thief of the password cannot keep the owner out for as long, two kinds of
// forms have counters of their own: those of a browser that has passed the step, and those
// that the dispenser judges as a recovery, such as recovery codes, which nobody guesses.
const (
	heldLong       = 100
	heldLongWindow = 30 * 24 * time.Hour
	heldRecovery   = 10
	recoveryWindow = 24 * time.Hour
)

// A heldCount is what a form is counted by.
type heldCount struct{ short, long, recovery Counter }

// heldCounters returns the counters of a user's forms; browser is the id of one that has
// passed the step, or "".
func heldCounters(userID, browser string) heldCount {
	return heldCount{
		short:    Counter{Kind: countHeld, Login: userID, Client: browser},
		long:     Counter{Kind: countHeldLong, Login: userID, Client: browser},
		recovery: Counter{Kind: countRecovery, Login: userID, Client: browser},
	}
}

// A takenHeld is what a form was counted by. Only the dispenser's answer says whether the
// form is a recovery, so until then it counts as both. Who posts it chooses nothing.
type takenHeld struct {
	heldCount
	// offers reports whether the step has a recovery form.
	offers bool
	// noOrdinary and noRecovery are the limits that refuse a form of that kind; nil if none does.
	noOrdinary, noRecovery *tooManyError
}

// over returns the limit that refuses every form; nil if none does.
func (t takenHeld) over() *tooManyError {
	switch {
	case t.noOrdinary == nil:
		return nil
	case t.offers:
		return t.noRecovery
	}
	return t.noOrdinary
}

// takeHeld counts a form of a held step in the long and the short counter and, if the step offers recovery, in the recovery
// counter. noOrdinary and noRecovery hold the limits that refuse it. A form that is refused both ways, or that cannot be
// counted, leaves no count behind.
func (p *Pipeline) takeHeld(r *http.Request, s Session, c heldCount) (takenHeld, error) {
	t := takenHeld{heldCount: c, offers: s.open().OffersRecovery()}
	take := func(c Counter, limit int, window time.Duration) (*tooManyError, error) {
		over, err := p.count(r.Context(), c, limit, window)
		if over != nil {
			p.refundAttempt(r, c)
		}
		return over, err
	}
	var err error
	if t.noOrdinary, err = take(c.long, max(heldLong, p.Attempts), heldLongWindow); err != nil || t.over() != nil {
		t.short = Counter{}
		return t, err
	}
	over, err := take(c.short, p.Attempts, p.Window)
	if err != nil || over != nil {
		p.refund(r, waitAfter(err), t.ordinary())
		t.noOrdinary, t.noRecovery, t.short = over, over, Counter{}
		return t, err
	}
	if !t.offers {
		return t, nil
	}
	if t.noRecovery, err = take(c.recovery, heldRecovery, recoveryWindow); err != nil || t.over() != nil {
		p.refund(r, waitAfter(err), t.ordinary(), c.short)
		t.short = Counter{}
	}
	return t, err
}

// tight reports whether a counter leaves no room, perhaps only for now.
func (t takenHeld) tight() bool { return t.noOrdinary != nil || t.noRecovery != nil }

// ordinary returns the counter of ordinary forms over thirty days if this form counts
// there, and the zero one otherwise.
func (t takenHeld) ordinary() Counter {
	if t.noOrdinary != nil {
		return Counter{}
	}
	return t.long
}

// asRecovery is ordinary for recovery forms, over a day.
func (t takenHeld) asRecovery() Counter {
	if !t.offers || t.noRecovery != nil {
		return Counter{}
	}
	return t.recovery
}

// judgedRecovery reports whether an answer counts as that to a recovery form.
func (t takenHeld) judgedRecovery(st step) bool { return st.recovery && t.offers }

// admit refuses an answer to a form of a sort that there is no room for, right or wrong,
// before anything of it is applied.
func (t takenHeld) admit(st step) error {
	switch over := t.noOrdinary; {
	case t.judgedRecovery(st) && t.noRecovery != nil:
		return t.noRecovery
	case !t.judgedRecovery(st) && over != nil:
		return over
	}
	return nil
}

// undo returns what is to be taken back after an answer: all of it, but for a refusal,
// which counts as what it is.
func (t takenHeld) undo(st step) []Counter {
	switch {
	case len(st.failures) == 0:
		return []Counter{t.ordinary(), t.asRecovery(), t.short}
	case t.judgedRecovery(st):
		return []Counter{t.ordinary()}
	}
	return []Counter{t.asRecovery()}
}
