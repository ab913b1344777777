package auth

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/form"
	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey"
)

// Where nobody signs in with a password, the link of an invitation, and one that an operator
// prints, is for a passkey. Whoever has the token makes one, and the token is spent in the
// transaction in which the passkey is kept. Without the token every answer is the same.

// enrolmentSite returns where a passkey is made by a link, or 404 where links are for a
// password.
func (p *Pipeline) enrolmentSite(r *http.Request) (passkey.Site, error) {
	if !p.PasswordOff {
		return passkey.Site{}, &fault.Fault{Code: fault.NotFound}
	}
	return p.passkeySite(r)
}

// boundToLink returns the session that the challenge of a link is bound to: the token's hash
// is its key, so that options for one token serve for no other.
func boundToLink(l link) Session { return Session{Key: l.Hash} }

// InvitationOptions answers POST /auth/invitation/options: what a page hands to
// navigator.credentials.create for somebody who has the token of a link.
func (p *Pipeline) InvitationOptions() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		site, err := p.enrolmentSite(r)
		if err != nil {
			return err
		}
		f, err := form.Read(r)
		if err != nil {
			return err
		}
		l, user, err := p.linkIn(r, f)
		if err != nil {
			return err
		}
		person, known, err := p.enrolling(r.Context(), user.ID)
		if err != nil {
			return err
		}
		challenge, err := p.openChallenge(w, r, passkey.Enrol, boundToLink(l))
		if err != nil {
			return err
		}
		fault.WriteJSON(w, http.StatusOK, site.CreateOptions(challenge, person, known))
		return nil
	})
}

// AcceptInvitation answers POST /auth/invitation: it verifies and keeps a passkey of somebody
// who has the token of a link. It signs nobody in, so that the mail alone opens no session.
func (p *Pipeline) AcceptInvitation() http.Handler { return p.serve(p.acceptInvitation) }

func (p *Pipeline) acceptInvitation(w http.ResponseWriter, r *http.Request) error {
	start := time.Now()
	site, err := p.enrolmentSite(r)
	if err != nil {
		return err
	}
	f, err := form.Read(r)
	if err != nil {
		return err
	}
	var name string
	if err := f.Texts(form.Field{Name: "name", Into: &name, Optional: true}); err != nil {
		return err
	}
	name = cmp.Or(name, browserName(r.UserAgent()), "Passkey")
	if err := checkName(name, "a passkey"); err != nil {
		return err
	}
	l, user, err := p.linkIn(r, f)
	if err != nil {
		return err
	}
	credential, err := credentialIn(f)
	if err != nil {
		return err
	}
	fresh, ends, err := p.verifyCreation(r, site, boundToLink(l), credential)
	won := false
	if err == nil {
		fresh.ID, fresh.UserID, fresh.Name, fresh.Created = hex.EncodeToString(random(passkeyIDBytes)), user.ID, name, p.Now()
		won, err = p.spendLink(r, l, fresh, ends)
	}
	if refused, ok := errors.AsType[*passkeyError](err); ok {
		return p.refusePasskey(r, passkey.Enrol, start, refused)
	}
	if err != nil {
		return err
	}
	if !won {
		return fault.Invalid("email", "reset_failed")
	}
	http.SetCookie(w, p.challengeCookie("", -1))
	p.knowOwner(w, r, user)
	p.audit(r, l.event(), "user", user.ID, "passkey", fresh.ID)
	fault.WriteJSON(w, http.StatusOK, map[string]string{"message": "passkey_added", "redirect": p.Site.Base(r) + "/login"})
	return nil
}

// linkIn returns the valid token that a form names, and its user. Every fault of token or
// address has one answer, and counts.
func (p *Pipeline) linkIn(r *http.Request, f form.Form) (link, User, error) {
	var secret, email string
	err := f.Texts(
		form.Field{Name: "token", Into: &secret, Optional: true},
		form.Field{Name: "email", Into: &email, Optional: true},
	)
	if err != nil {
		return link{}, User{}, err
	}
	l, user, err := p.findLink(r.Context(), email, secret)
	if errors.Is(err, ErrNotFound) {
		// Only failures count, as for resets.
		if err := p.takeResetAttempts(r, "reset", email); err != nil {
			return link{}, User{}, err
		}
		return link{}, User{}, fault.Invalid("email", "reset_failed")
	}
	return l, user, err
}

// spendLink claims the token, keeps the passkey, ends all sessions and devices of the user, and
// queues the notice, in one transaction. It reports false if another request has won the claim.
func (p *Pipeline) spendLink(r *http.Request, l link, fresh newPasskey, ends time.Time) (bool, error) {
	won, tried := false, false
	// Not the request's id, which a proxy may have let the client choose.
	by, locale, browser := token(), p.Site.Locale(r), browserName(r.UserAgent())
	// Once claimed, the token must not be lost because the browser went away.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 30*time.Second)
	defer cancel()
	err := p.Tx.Settle(ctx, func(ctx context.Context) error {
		var err error
		if won, err = l.tokens.Claim(ctx, l.ResetToken, by, p.Now()); err != nil || !won {
			return err
		}
		if tried {
			// The id is random: the commit of the try before happened, and its answer was lost.
			if _, err := p.Passkeys.FindID(ctx, fresh.ID); !errors.Is(err, ErrNotFound) {
				return err
			}
		}
		tried = true
		if err := p.Passkeys.Spend(ctx, fresh.challenge, ends); err != nil {
			return err
		}
		if _, err := p.Passkeys.Handle(ctx, l.UserID, random(handleBytes)); err != nil {
			return err
		}
		if err := p.Passkeys.Add(ctx, fresh.Passkey, maxPasskeys); err != nil {
			return err
		}
		if err := p.endEverything(ctx, l.UserID); err != nil {
			return err
		}
		if err := p.endLinks(ctx, l.UserID); err != nil {
			return err
		}
		if err := p.Mailer.QueueNotice(ctx, noticePasskey, l.UserID, locale, browser); err != nil {
			return err
		}
		return p.Record(ctx, ownOperator(l.UserID), "passkey_add", fresh.Name+" ("+fresh.ID+")")
	})
	switch {
	case errors.Is(err, passkey.ErrSpent):
		err = &passkeyError{reason: "spent", cause: err}
	case errors.Is(err, passkey.ErrKnown):
		err = &passkeyError{reason: "known", cause: err} // nobody learns of whose it is
	case errors.Is(err, passkey.ErrTooMany):
		err = invalidBecause("name", "too_many", "the user has %d passkeys already: delete one", maxPasskeys)
	}
	return won && err == nil, err
}
