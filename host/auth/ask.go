package auth

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// maxAsks is how often one request asks the dispenser when its answer comes to
// nothing because a column, or the session, has changed meanwhile.
const maxAsks = 3

// errReplaced is returned when a column no longer has the value that an effect is to
// replace. Nothing was written then.
var errReplaced = errors.New("a column has another value than the effect on it replaces")

// errDeviceMoved is returned when another session of the device has taken a step since
// the dispenser was asked. Nothing was written then.
var errDeviceMoved = errors.New("another session of the device has taken a step meanwhile")

// An asked is what became of a question about a stored session.
type asked struct {
	// session is as it is stored now, and step what the dispenser answered.
	session Session
	step    step
	// lost reports whether another request has taken the step first, or ended the session: session is the stored one, and
	// step was not applied. An error also means that step was not applied.
	lost bool
}

// ask asks the dispenser about a stored session and commits the answer in one transaction: the effects, the prefixes and
// the next intent. The commit fails if the session, its device or a column has changed meanwhile. ask then reads them again
// and repeats the question, up to maxAsks times. It sets lost instead if another request has taken the step, or if the
// answer is a refusal and the session or device has changed: a refusal counts as it is.
func (p *Pipeline) ask(r *http.Request, s Session, q question) (asked, error) {
	ctx := r.Context()
	var st step // of the last answer: a refusal counts even where the next question fails
	var failure error
	for range maxAsks {
		user, err := p.stillThere(ctx, s.UserID)
		if err != nil {
			return asked{step: st}, err
		}
		device, err := p.deviceOf(ctx, s)
		if err != nil {
			return asked{step: st}, err
		}
		if s, err = keepUp(s, device); err != nil {
			return asked{step: st}, err
		}
		answer, err := p.dispense(r, user, s, q)
		if err != nil {
			return asked{step: st}, err
		}
		if q.admit != nil {
			if err := q.admit(answer); err != nil {
				return asked{step: st}, err
			}
		}
		st = answer
		next := st.applyTo(s)
		if st.asked {
			failure = p.commitAsked(r, device, next, st)
		} else {
			next, failure = p.commitStep(r, device, next, st)
		}
		switch {
		case failure == nil:
			next.Version++
			return asked{session: next, step: st}, nil
		case errors.Is(failure, errDeviceMoved) && len(st.failures) > 0: // a refusal stands, and asks once
			return asked{session: s, step: st, lost: true}, nil
		case onceMore(failure), errors.Is(failure, errDeviceMoved):
			continue
		case errors.Is(failure, ErrNotFound): // the application has deleted the user meanwhile
			return asked{step: st}, &fault.Fault{Code: fault.Unauthenticated, Cause: failure}
		case !errors.Is(failure, ErrSessionGone):
			return asked{step: st}, failure
		}
		now, err := p.reload(ctx, s)
		switch {
		case err != nil:
			return asked{step: st}, err
		case !now.SignedIn():
			return asked{step: st, lost: true}, &fault.Fault{Code: fault.Unauthenticated, Cause: failure}
		case q.begins != "":
			if !now.Settled() {
				return asked{step: st}, &fault.Fault{Code: fault.Unsettled, Cause: failure}
			}
			now.Asked = nil // a step that was asked for meanwhile is replaced
		case !sameStep(s, now), len(st.failures) > 0: // a refusal stands, whatever else has changed
			return asked{session: now, step: st, lost: true}, nil
		}
		s = now // something else in it has changed
	}
	if errors.Is(failure, ErrSessionGone) && q.begins == "" { // many ask at the same time
		return asked{session: s, step: st, lost: true}, nil
	}
	return asked{step: st}, contested(failure)
}

// commitStep writes a step of the loop in one transaction, and returns the session after it. An identity that the session
// has taken is linked with the step that settles the person.
func (p *Pipeline) commitStep(r *http.Request, device Device, next Session, st step) (Session, error) {
	var out Session
	var made *identity.Link
	err := p.Tx.InTx(r.Context(), func(ctx context.Context) (err error) {
		out = next
		if made, err = p.linkSettled(ctx, r, &out); err != nil {
			return err
		}
		return p.write(ctx, device, out, st)
	})
	if err != nil {
		return next, err
	}
	p.linked(r, out.UserID, made)
	return out, nil
}

// contested is the fault of an answer that could not be applied maxAsks times.
func contested(cause error) error {
	return &fault.Fault{
		Code: fault.DispenserUnavailable, RetryAfter: retryAfter,
		Cause: fmt.Errorf("nothing was applied of %d answers in a row: %w", maxAsks, cause),
	}
}

// stillThere returns the user of a session, and a fault where the application has
// deleted them.
func (p *Pipeline) stillThere(ctx context.Context, userID string) (User, error) {
	user, err := p.Users.FindByID(ctx, userID)
	if errors.Is(err, ErrNotFound) {
		err = &fault.Fault{Code: fault.Unauthenticated, Cause: err}
	}
	return user, err
}

// sameStep reports whether two readings of one session are about the same step. Each
// answer that holds the person at a target where they are already is still that step:
// a code that is right is asked about anew, and not dropped, when another tab has
// asked meanwhile.
func sameStep(a, b Session) bool {
	if a.Settled() && b.Settled() && a.Asked != nil && b.Asked != nil {
		return a.Asked.ID == b.Asked.ID || a.Asked.sameStep(*b.Asked)
	}
	if a.Asked != nil || b.Asked != nil {
		return false
	}
	if a.Intent == nil || b.Intent == nil {
		return a.Intent == nil && b.Intent == nil && a.Unasked == b.Unasked
	}
	if a.State() == StateHeld && b.State() == StateHeld {
		return a.Intent.sameStep(*b.Intent)
	}
	return a.Intent.ID == b.Intent.ID
}

// deviceOf returns the device of a session as it is before the dispenser is asked, and
// the zero Device where there is none, or none any more.
func (p *Pipeline) deviceOf(ctx context.Context, s Session) (Device, error) {
	if s.Device == nil {
		return Device{}, nil
	}
	d, err := p.Devices.Find(ctx, s.Device)
	return d, ignoreNotFound(err)
}

// keepUp gives a session the plugins' values that its device keeps. They are its own
// unless another session of the device has taken a step since: what that has led to, such
// as that a second factor was given, is not undone by a session that knows nothing of it.
func keepUp(s Session, device Device) (Session, error) {
	if device.Selector == nil {
		return s, nil
	}
	values, err := restoreValues(device.Values)
	if err != nil {
		return s, err
	}
	s.Values = values
	return s, nil
}

// write writes a step and the session after it in the transaction of ctx. device is
// that of the session from before the dispenser was asked. It fails with errReplaced, with
// errDeviceMoved, with ErrSessionGone where another request was first, and with
// ErrNotFound where the user is gone.
func (p *Pipeline) write(ctx context.Context, device Device, next Session, st step) error {
	if err := p.applyEffects(ctx, next.UserID, st); err != nil {
		return err
	}
	if err := p.keepWithDevice(ctx, device, next, st); err != nil {
		return err
	}
	return p.Sessions.Update(ctx, next)
}

// keepWithDevice writes the step that a session is at into its device, unless that has
// another state by now than before: of two sessions of one device, as two tabs begin
// them that come back at once, the one that was asked about earlier must not undo what
// the other led to. A step that was asked for is not kept with the device, and leaves alone
// what the device keeps of the loop.
func (p *Pipeline) keepWithDevice(ctx context.Context, before Device, s Session, st step) error {
	if before.Selector == nil {
		return nil
	}
	now, err := p.Devices.Lock(ctx, before.Selector)
	if err != nil {
		return ignoreNotFound(err)
	}
	if !bytes.Equal(now.Intent, before.Intent) || !bytes.Equal(now.Values, before.Values) {
		return errDeviceMoved
	}
	values, err := keptValues(s)
	if err != nil {
		return err
	}
	kept := keptStep(s)
	if st.asked {
		kept = now.Intent
	}
	return p.Devices.SetState(ctx, before.Selector, kept, values)
}

// writeColumns writes the columns that a step sets, unless one of them has another
// value by now than its effect replaces. It belongs into a transaction: the lock on
// the user keeps it that way until the end.
func (p *Pipeline) writeColumns(ctx context.Context, userID string, st step) error {
	if len(st.columns) == 0 {
		return nil
	}
	if len(st.replaced) > 0 {
		now, err := p.Users.Lock(ctx, userID)
		if err != nil {
			return err
		}
		for name, old := range st.replaced {
			if !sameValue(columnOf(now, name), old) {
				return fmt.Errorf("%w: %q; the plugin must take the value to replace from the user that it is asked about", errReplaced, name)
			}
		}
	}
	err := p.Users.SetColumns(ctx, userID, st.columns)
	if refused, ok := errors.AsType[*ColumnError](err); ok {
		return contractFault(fmt.Errorf("set by %s: %w", cmp.Or(strings.Join(p.Refused(refused.Columns), " or "), "the dispenser"), refused))
	}
	return err
}

// columnOf returns a column as plugins see it. A name is a field of its own there,
// empty where null.
func columnOf(u User, name string) pluginsdk.Value {
	if name == "name" {
		return u.Name
	}
	return u.Columns[name]
}

// sameValue compares the value of a column with what a plugin has seen of it. Plugins
// get texts in UTF-8, and in some languages a whole number is no float.
func sameValue(column, seen pluginsdk.Value) bool {
	switch a := column.(type) {
	case string:
		b, ok := seen.(string)
		return ok && strings.ToValidUTF8(a, "\uFFFD") == b
	case []byte:
		b, ok := seen.([]byte)
		return ok && bytes.Equal(a, b)
	case int64:
		if b, ok := seen.(float64); ok {
			return float64(a) == b && int64(b) == a
		}
	case float64:
		if b, ok := seen.(int64); ok {
			return float64(b) == a && int64(a) == b
		}
	}
	if _, ok := seen.([]byte); ok {
		return false
	}
	return column == seen
}
