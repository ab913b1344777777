package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/form"
	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
)

// Forgot answers POST /auth/forgot-password. The answer, and the work behind it,
// are the same for known and unknown addresses: the mail is written and sent
// later, by the outbox worker.
func (p *Pipeline) Forgot() http.Handler { return p.serve(p.byPassword(p.forgot)) }

// Answers that must not tell whether a name is known take a multiple of answerStep,
// beside doing the same work for all.
const answerStep = 20 * time.Millisecond

func (p *Pipeline) forgot(w http.ResponseWriter, r *http.Request) error {
	f, err := form.Read(r)
	if err != nil {
		return err
	}
	var email string
	if err := f.Texts(form.Field{Name: "email", Into: &email, Optional: true}); err != nil {
		return err
	}
	if !reserved.IsAddress(email) {
		return fault.Invalid("email", "email")
	}
	if err := p.takeResetAttempts(r, "forgot", email); err != nil {
		return err
	}
	start := time.Now()
	if err := p.requestReset(r.Context(), email, p.Site.Locale(r), p.Site.Base(r)); err != nil {
		return err
	}
	password.PadTo(r.Context(), start, answerStep)
	p.audit(r, "reset_requested", "email", strings.ToLower(email))
	fault.WriteJSON(w, http.StatusOK, map[string]string{"message": "reset_link_sent"})
	return nil
}

// requestReset queues a reset mail for the address, unless the last one is too
// recent. Unknown addresses cost the same writes.
func (p *Pipeline) requestReset(ctx context.Context, email, locale, base string) error {
	user, err := p.findUser(ctx, "email", email)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	id := user.ID
	if !user.MaySignIn() {
		id = ""
	}
	return p.Tx.InTx(ctx, func(ctx context.Context) error {
		c := Counter{Kind: "resend", Login: strings.ToLower(email)}
		granted, err := p.Throttle.Space(ctx, c, p.Now(), p.resetSpacing())
		if err != nil || !granted {
			return err
		}
		return p.Mailer.QueueReset(ctx, id, locale, base)
	})
}

// takeResetAttempts counts a request of the reset flow by client and by address,
// and fails beyond the limit of either.
func (p *Pipeline) takeResetAttempts(r *http.Request, kind, email string) error {
	network := RequestOf(r.Context()).Network
	for _, c := range []Counter{{Kind: kind, Client: network}, {Kind: kind, Login: words.Printable(strings.ToLower(email), reserved.MaxLogin)}} {
		if err := p.takeAttempt(r, c, p.ResetAttempts, "email"); err != nil {
			return err
		}
	}
	return nil
}
