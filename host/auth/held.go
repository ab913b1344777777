package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/form"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// maxHeldFields and maxHeldForm bound what the page of a held step posts, in fields
// and in bytes.
const (
	maxHeldFields = 32
	maxHeldForm   = 8 << 10
)

// What bounds the guesses at a held step, such as the code of a second factor. The short
// bound, auth.throttle, leaves 7200 a day, and a code of six digits of which three are
// good is found with 2 % of those. NIST SP 800-63B 5.2.2 allows a hundred failures in a
// row; here they are not forgotten for a success, which might be another step's, but
// when thirty days have passed since the first of them. Then who has the password finds
// such a code with a probability of 0.03 %.
const (
	heldLong       = 100
	heldLongWindow = 30 * 24 * time.Hour
)

// answerHeld asks the dispenser again, with what the page of a held step has posted.
// Whether that opens the step is for the dispenser to say. Its refusals are counted
// by user, over all sessions and hosts, before it is asked, so that nobody can try
// many codes at the same time.
func (p *Pipeline) answerHeld(r *http.Request, s Session, fields map[string]pluginsdk.Value) (satisfaction, error) {
	refund, err := p.takeHeld(r, s.UserID)
	if err != nil {
		return satisfaction{}, err
	}
	a, err := p.ask(r, s, question{form: fields})
	if len(a.step.failures) == 0 { // a refusal counts, whatever became of it
		refund()
	} else {
		p.audit(r, "step_refused", "user", s.UserID)
	}
	if err != nil {
		return satisfaction{}, err
	}
	body := judged(s, a)
	p.Logger.Info("held step", "request_id", p.Site.RequestID(r), "user", s.UserID, "status", string(body.Status), "state", string(a.session.State()))
	return body, nil
}

// takeHeld counts a question about a held step of a user, and returns what takes it back
// where it was no refusal. A question too many asks nothing, and does not count; neither
// does one that cannot be counted. What is forgotten last is taken back first.
func (p *Pipeline) takeHeld(r *http.Request, userID string) (refund func(), err error) {
	long, short := Counter{Kind: countHeldLong, Login: userID}, Counter{Kind: countHeld, Login: userID}
	if err := p.takeWithin(r, long, max(heldLong, p.Attempts), heldLongWindow, "redirect"); err != nil {
		if isFault(err) {
			p.refund(r, refundWait, long)
		}
		return nil, err
	}
	if err := p.takeAttempt(r, short, p.Attempts, "redirect"); err != nil {
		taken := []Counter{long}
		if isFault(err) { // or it has not been counted
			taken = append(taken, short)
		}
		p.refund(r, waitAfter(err), taken...)
		return nil, err
	}
	return func() { p.refund(r, refundWait, long, short) }, nil
}

// isFault tells whether an error is the answer to a person, such as to an attempt too
// many, and not the failure of what was tried.
func isFault(err error) bool {
	_, ok := errors.AsType[*fault.Fault](err)
	return ok
}

// judged returns what the page of a held step is told. The same target once more
// means that the person stays; anything else is the next step.
func judged(before Session, a asked) satisfaction {
	now := a.session
	stays := now.State() == StateHeld && now.Intent.Target() == before.Intent.Target()
	switch {
	case !stays:
		body := satisfaction{Status: pluginsdk.StatusSatisfied}
		if now.Intent != nil {
			next := now.Intent.Envelope()
			body.Next = &next
		}
		return body
	case len(a.step.failures) > 0:
		return satisfaction{Status: pluginsdk.StatusError, Errors: a.step.failures}
	}
	payload := map[string]any{}
	if !a.lost {
		maps.Copy(payload, a.step.nextStep)
	}
	payload["target"] = withoutBlanks(now.Intent.Target())
	return satisfaction{Status: pluginsdk.StatusNeedsMoreInput, NextStep: payload}
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
