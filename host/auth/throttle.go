package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/admission"
	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/words"
)

// loginCounters are what an attempt to sign in is counted by.
type loginCounters struct {
	// name is the login name at the client, client the client over all names.
	name, client Counter
}

func (p *Pipeline) loginCounters(r *http.Request, login string) loginCounters {
	_, network := p.Site.Client(r)
	return loginCounters{
		name:   Counter{Kind: "login", Login: words.Printable(strings.ToLower(login), reserved.MaxLogin), Client: network},
		client: Counter{Kind: "client", Client: network},
	}
}

// takeLogin counts an attempt to sign in, by the client first.
func (p *Pipeline) takeLogin(r *http.Request, c loginCounters) error {
	if err := p.takeAttempt(r, c.client, p.ClientAttempts, "login"); err != nil {
		return err
	}
	return p.takeAttempt(r, c.name, p.Attempts, "login")
}

// refundLogin takes an attempt to sign in back that failed for no fault of the
// person's, and returns err.
func (p *Pipeline) refundLogin(r *http.Request, c loginCounters, err error) error {
	p.refund(r, waitAfter(err), c.name, c.client)
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

// takeAttempt counts an attempt before its work begins, so that attempts in
// flight count as well, and fails beyond limit.
func (p *Pipeline) takeAttempt(r *http.Request, c Counter, limit int, field string) error {
	return p.takeWithin(r, c, limit, p.Window, field)
}

// takeWithin is takeAttempt with a window of its own.
func (p *Pipeline) takeWithin(r *http.Request, c Counter, limit int, window time.Duration, field string) error {
	now := p.Now()
	count, ends, err := p.Throttle.Hit(r.Context(), c, now, window)
	if err != nil {
		return err
	}
	if count <= limit {
		return nil
	}
	name := "login"
	if c.byUser() {
		name = "user"
	}
	p.audit(r, "lockout", "kind", c.Kind, name, c.Login, "network", c.Client, "attempts", count)
	return fault.Throttled(field, ends.Sub(now))
}

// refundAttempt takes an attempt back. That it cannot is logged and no more: until the
// window is over there is one attempt less, for thirty days of a hundred where a step
// holds, and the operator can clear the counter.
func (p *Pipeline) refundAttempt(r *http.Request, c Counter) { p.refund(r, refundWait, c) }

// refund is refundAttempt for several, which have the time of wait together.
func (p *Pipeline) refund(r *http.Request, wait time.Duration, counters ...Counter) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), wait)
	defer cancel()
	for _, c := range counters {
		if err := p.Throttle.Undo(ctx, c); err != nil {
			p.Logger.Warn("attempt not taken back", "request_id", p.Site.RequestID(r), "cause", err)
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
