package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/form"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// maxHeldFields and maxHeldForm bound what the page of a held step posts, in fields
// and in bytes.
const (
	maxHeldFields = 32
	maxHeldForm   = 8 << 10
)

// answerHeld asks the dispenser again, with what the page of a held step has posted.
// Whether that opens the step is for the dispenser to say. Questions of one user take
// turns. Those without fields hold no guess and are not counted.
func (p *Pipeline) answerHeld(r *http.Request, s Session, fields map[string]pluginsdk.Value) (satisfaction, error) {
	waiting, cancel := context.WithTimeout(r.Context(), RequestOf(r.Context()).Left(p.Wait))
	defer cancel()
	turn, err := p.turns.take(waiting, s.UserID)
	if err != nil {
		return satisfaction{}, noTurn(err)
	}
	defer turn.release()
	if turn.waited {
		now, err := p.reload(r.Context(), s)
		switch {
		case err != nil:
			return satisfaction{}, err
		case !now.SignedIn():
			return satisfaction{}, &fault.Fault{Code: fault.Unauthenticated}
		case !sameStep(s, now): // another question has taken the step
			return judged(s, asked{session: now, lost: true})
		}
		s = now
	}
	if len(fields) == 0 && r.URL.RawQuery == "" {
		a, err := p.ask(r, s, question{form: fields})
		return p.toldHeld(r, s, a, err)
	}
	return p.guessHeld(waiting, r, turn, s, fields)
}

// noTurn is the fault of a question that waited for too long.
func noTurn(cause error) error {
	return &fault.Fault{Code: fault.DispenserUnavailable, RetryAfter: retryAfter, Cause: cause}
}

// guessHeld is answerHeld for a form. Refusals are counted by user, over all sessions and
// hosts, before the dispenser is asked, so that nobody can try many codes at the same
// time. If questions that are still under way are all that is in the way, the form waits
// for them.
func (p *Pipeline) guessHeld(waiting context.Context, r *http.Request, turn *turn, s Session, fields map[string]pluginsdk.Value) (satisfaction, error) {
	k, err := p.readKnown(r)
	if err != nil {
		return satisfaction{}, err
	}
	target := s.open().Target()
	counters := heldCounters(s.UserID, k.passedBy(s.UserID, target))
	taken, err := p.takeHeld(r, s, counters)
	if err == nil && taken.tight() && turn.crowded() {
		p.refund(r, refundWait, taken.undo(step{})...)
		if err := turn.alone(waiting); err != nil {
			return satisfaction{}, noTurn(err)
		}
		taken, err = p.takeHeld(r, s, counters)
	}
	if err != nil {
		return satisfaction{}, err
	}
	if over := taken.over(); over != nil {
		return satisfaction{}, p.tooMany(r, over, "redirect")
	}
	a, err := p.ask(r, s, question{form: fields, recoveryOnly: taken.noOrdinary != nil, admit: taken.admit})
	p.refund(r, refundWait, taken.undo(a.step)...)
	if over, ok := errors.AsType[*tooManyError](err); ok {
		return satisfaction{}, p.tooMany(r, over, "redirect")
	}
	if len(a.step.failures) > 0 { // which counts, whatever became of it
		p.audit(r, "step_refused", "user", s.UserID, "recovery", taken.judgedRecovery(a.step))
	}
	body, err := p.toldHeld(r, s, a, err)
	// A step that was asked for may end without a guess.
	if err == nil && !a.lost && !a.step.asked && body.Status == pluginsdk.Satisfied().Status() {
		body.cookie = p.knowBrowser(r, k, func(k known) known { return k.withPassed(s.UserID, target, p.Now()) })
	}
	return body, err
}

// toldHeld returns what the page is told, and logs it.
func (p *Pipeline) toldHeld(r *http.Request, s Session, a asked, err error) (satisfaction, error) {
	if err != nil {
		return satisfaction{}, err
	}
	body, err := judged(s, a)
	if err != nil {
		return satisfaction{}, err
	}
	p.Logger.Info("held step", "request_id", RequestOf(r.Context()).ID, "user", s.UserID, "status", body.Status, "state", string(a.session.State()), "asked", s.Settled())
	return body, nil
}

// judged returns the answer for the page of a held step. The same target of the same
// dispenser once more means that the person stays; anything else is the next step.
func judged(before Session, a asked) (satisfaction, error) {
	now := a.session.open()
	switch {
	case now == nil || !now.sameStep(*before.open()):
		return passed(before, a)
	case len(a.step.failures) > 0:
		return satisfaction{Status: pluginsdk.Failed().Status(), Errors: a.step.failures}, nil
	}
	payload := map[string]any{}
	if !a.lost {
		maps.Copy(payload, a.step.nextStep)
	}
	payload["target"] = withoutBlanks(now.Target())
	return satisfaction{Status: pluginsdk.NeedsMoreInput(nil).Status(), NextStep: payload}, nil
}

// passed returns the answer for a page whose step is over. An answer to a step that was asked
// for, and that another request has ended before, is refused.
func passed(before Session, a asked) (satisfaction, error) {
	next := a.session.Intent
	switch {
	case !before.Settled():
	case !a.lost:
		next = &a.step.intent
	case a.session.Asked == nil:
		return satisfaction{}, &fault.Fault{Code: fault.IntentNotCurrent, Cause: ErrSessionGone}
	default:
		next = a.session.Asked
	}
	body := satisfaction{Status: pluginsdk.Satisfied().Status()}
	if next != nil {
		envelope := next.Envelope()
		body.Next = &envelope
	}
	return body, nil
}

// readHeldForm decodes up to 32 scalar fields. What they mean is the plugin's affair.
func readHeldForm(r *http.Request) (map[string]pluginsdk.Value, error) {
	if r.ContentLength > maxHeldForm {
		return nil, &fault.Fault{Code: fault.TooLarge}
	}
	r.Body = http.MaxBytesReader(nil, r.Body, maxHeldForm)
	f, err := form.Read(r)
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, &fault.Fault{Code: fault.TooLarge}
	}
	if err != nil {
		return nil, err
	}
	if len(f.Values) > maxHeldFields {
		return nil, &fault.Fault{Code: fault.Malformed, Cause: fmt.Errorf("%d fields were posted for a held step, which takes %d", len(f.Values), maxHeldFields)}
	}
	out := make(map[string]pluginsdk.Value, len(f.Values))
	for name, v := range f.Values {
		switch v := v.(type) {
		case nil, bool, string:
			out[name] = v
		case json.Number:
			out[name] = number(v)
		default:
			return nil, form.WrongType(name, "a scalar", v)
		}
	}
	return out, nil
}

// number returns a whole number as int64 and any other as float64; a number that is
// out of their range stays a text.
func number(n json.Number) pluginsdk.Value {
	if i, err := n.Int64(); err == nil {
		return i
	}
	if f, err := n.Float64(); err == nil {
		return f
	}
	return n.String()
}
