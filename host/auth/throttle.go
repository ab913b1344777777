package auth

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
)

func (p *Pipeline) loginCounter(r *http.Request, login string) Counter {
	_, network := p.Site.Client(r)
	return Counter{Kind: "login", Login: words.Printable(strings.ToLower(login), reserved.MaxLogin), Client: network}
}

// takeAttempt counts an attempt before its work begins, so that attempts in
// flight count as well, and fails beyond limit.
func (p *Pipeline) takeAttempt(r *http.Request, c Counter, limit int, field string) error {
	now := p.Now()
	count, ends, err := p.Throttle.Hit(r.Context(), c, now, p.Window)
	if err != nil {
		return err
	}
	if count <= limit {
		return nil
	}
	p.audit(r, "lockout", "kind", c.Kind, "login", c.Login, "network", c.Client, "attempts", count)
	return fault.Throttled(field, ends.Sub(now))
}

// refundAttempt takes an attempt back that failed for no fault of the person's,
// and returns err.
func (p *Pipeline) refundAttempt(r *http.Request, c Counter, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 5*time.Second)
	defer cancel()
	if undo := p.Throttle.Undo(ctx, c); undo != nil {
		p.Logger.Warn("attempt not taken back", "request_id", p.Site.RequestID(r), "cause", undo)
	}
	return err
}
