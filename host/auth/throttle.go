package auth

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/admission"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
)

// folded returns a login name as counters keep it: every spelling that finds one person
// has one counter.
func folded(login string) string { return words.Printable(strings.ToLower(login), reserved.MaxLogin) }

// takeLogin counts an attempt to sign in: for the client's network, then for the login name in this network. A browser
// that has signed in with the name before has its own counter instead of the second, so that strangers in the same
// network cannot use its attempts up.
func (p *Pipeline) takeLogin(r *http.Request, login string) (*attempt, error) {
	return p.takePassword(r, login, attempt{field: "login", failure: "login_failed"}, func(k known) *knownEntry { return k.byLogin(folded(login)) })
}

// takeConfirm counts an attempt of somebody who is signed in to confirm who they are, by the counters of a sign-in.
func (p *Pipeline) takeConfirm(r *http.Request, user User) (*attempt, error) {
	a := attempt{field: "password", failure: "confirm_failed"}
	return p.takePassword(r, p.LoginName(user), a, func(k known) *knownEntry { return k.byUser(user.ID) })
}

// takePassword counts an attempt with a password; entry returns what a browser's cookie says of the account.
func (p *Pipeline) takePassword(r *http.Request, login string, a attempt, entry func(known) *knownEntry) (*attempt, error) {
	counted, err := p.counters(r, login, a, entry)
	if err != nil {
		return nil, err
	}
	if err := p.takeAttempt(r, counted.client, p.ClientAttempts, a.field); err != nil {
		return nil, err
	}
	return counted, p.takeAttempt(r, counted.name, p.Attempts, a.field)
}

// counters returns an attempt with the counters of the client and of the login name, and counts nothing yet.
func (p *Pipeline) counters(r *http.Request, login string, a attempt, entry func(known) *knownEntry) (*attempt, error) {
	k, err := p.readKnown(r)
	if err != nil {
		return nil, err
	}
	network := RequestOf(r.Context()).Network
	a.known, a.client, a.name = k, Counter{Kind: "client", Client: network}, Counter{Kind: "login", Login: folded(login), Client: network}
	if e := entry(k); e != nil {
		a.name.Kind, a.name.Client = "known", hex.EncodeToString(e.browser)
	}
	return &a, nil
}

// refundLogin takes an attempt to sign in back that failed for no fault of the
// person's, and returns err.
func (p *Pipeline) refundLogin(r *http.Request, a *attempt, err error) error {
	p.refund(r, waitAfter(err), a.account, a.name, a.client)
	return err
}

// refundWait is how long taking attempts back may take.
const refundWait = 5 * time.Second

// waitAfter is how long taking attempts back may take after a failure.
func waitAfter(err error) time.Duration {
	if errors.Is(err, ErrUnavailable) {
		return refundWait / 10 // who asked has waited already
	}
	return refundWait
}

// A tooManyError is a counter that is over its limit.
type tooManyError struct {
	counter Counter
	count   int
	ends    time.Time
}

// Error names the counter.
func (e *tooManyError) Error() string {
	return fmt.Sprintf("the counter %s is over its limit with %d", e.counter.Kind, e.count)
}

// count counts an attempt before its work begins, so that attempts in flight count as
// well. It returns the counter if it is beyond limit, nil if there is none.
func (p *Pipeline) count(ctx context.Context, c Counter, limit int, window time.Duration) (*tooManyError, error) {
	count, ends, err := p.Throttle.Hit(ctx, c, p.Now(), window)
	if err != nil || count <= limit {
		return nil, err
	}
	return &tooManyError{c, count, ends}, nil
}

// tooMany returns the fault of an attempt too many, and leaves an audit line.
func (p *Pipeline) tooMany(r *http.Request, over *tooManyError, field string) error {
	p.lockedOut(r, over.counter, over.count)
	return fault.Throttled(field, over.ends.Sub(p.Now()))
}

// lockedOut leaves the audit line of a counter that is over its limit.
func (p *Pipeline) lockedOut(r *http.Request, c Counter, count int) {
	name := "login"
	if c.ByUser() {
		name = "user"
	}
	p.audit(r, "lockout", "kind", c.Kind, name, c.Login, "network", c.Client, "attempts", count)
}

// takeAttempt counts an attempt and fails beyond limit.
func (p *Pipeline) takeAttempt(r *http.Request, c Counter, limit int, field string) error {
	return p.takeWithin(r, c, limit, p.Window, field)
}

// takeWithin is takeAttempt with a window of its own.
func (p *Pipeline) takeWithin(r *http.Request, c Counter, limit int, window time.Duration, field string) error {
	over, err := p.count(r.Context(), c, limit, window)
	if over != nil {
		return p.tooMany(r, over, field)
	}
	return err
}

// refundAttempt takes an attempt back. That it cannot is logged and no more: until the
// window is over there is one attempt less, for thirty days of a hundred where a step
// holds, and the operator can clear the counter.
func (p *Pipeline) refundAttempt(r *http.Request, c Counter) { p.refund(r, refundWait, c) }

// refund is refundAttempt for several, which have the time of wait together. It leaves
// out counters that were not taken, the zero ones.
func (p *Pipeline) refund(r *http.Request, wait time.Duration, counters ...Counter) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), wait)
	defer cancel()
	for _, c := range counters {
		if c == (Counter{}) {
			continue
		}
		if err := p.Throttle.Undo(ctx, c); err != nil {
			p.Logger.Warn("attempt not taken back", "request_id", RequestOf(r.Context()).ID, "cause", err)
		}
	}
}

// busyFault returns the fault of a password for which there was no room in the
// queue: 429 for a client that fills it, 503 where others do. Other errors are
// returned as they are.
func busyFault(err error) error {
	if busy, ok := errors.AsType[*admission.Busy](err); ok {
		return &fault.Fault{Code: fault.Busy, ByHost: busy.ByHost, RetryAfter: busy.RetryAfter, Cause: err}
	}
	return err
}

func isBusy(err error) bool {
	_, ok := errors.AsType[*admission.Busy](err)
	return ok
}
