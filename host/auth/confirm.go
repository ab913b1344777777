package auth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/form"
)

// Confirm answers POST /auth/account/confirm: somebody who is signed in proves again who they are, which makes the session
// recent. A wrong password has the work and the counters of a failed sign-in, so that a stolen session is no better place
// to guess at.
func (p *Pipeline) Confirm() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		who, err := p.settled(w, r)
		if err != nil {
			return err
		}
		f, err := form.Read(r)
		if err != nil {
			return err
		}
		if f.Values["credential"] != nil {
			return p.confirmPasskey(w, r, who, f)
		}
		return p.confirmPassword(w, r, who, f)
	})
}

// confirmPassword makes the session of who recent if the form has the password.
func (p *Pipeline) confirmPassword(w http.ResponseWriter, r *http.Request, who Principal, f form.Form) error {
	if p.PasswordOff {
		return &fault.Fault{Code: fault.PasswordSignInOff}
	}
	plain := ""
	if err := f.Texts(form.Field{Name: "password", Into: &plain, Secret: true}); err != nil {
		return err
	}
	user, err := p.stillThere(r.Context(), who.UserID)
	if err != nil {
		return err
	}
	a, err := p.takeConfirm(r, user)
	if err != nil {
		return err
	}
	user, err = p.tryPassword(r, who, user, plain, a)
	if errors.Is(err, errChanged) {
		// The hash that the password was compared with is no longer the user's, as for a sign-in. Look again.
		p.refundAttempt(r, a.account)
		if user, err = p.stillThere(r.Context(), who.UserID); err == nil {
			user, err = p.tryPassword(r, who, user, plain, a)
		}
	}
	if errors.Is(err, errChanged) {
		return fault.Invalid(a.field, "credentials_do_not_match")
	}
	if err != nil {
		return err
	}
	if c := p.knowBrowser(r, a.known, func(k known) known { return k.withSignIn(user, folded(p.LoginName(user)), p.Now()) }); c != nil {
		http.SetCookie(w, c)
	}
	p.confirmed(w, r, user)
	return nil
}

// confirmed answers that the session is recent.
func (p *Pipeline) confirmed(w http.ResponseWriter, r *http.Request, user User) {
	p.audit(r, "confirm", "user", user.ID)
	noContent(w)
}

// tryPassword compares a password and makes the session recent if it is right. It returns the user, whose password may be
// hashed anew, and errChanged where the user's password was changed meanwhile.
func (p *Pipeline) tryPassword(r *http.Request, who Principal, user User, plain string, a *attempt) (User, error) {
	user, err := p.verify(r, user, credentials{login: p.LoginName(user), password: plain}, a, time.Now())
	if isBusy(err) {
		err = p.refundLogin(r, a, err)
	}
	if err != nil {
		return user, err
	}
	err = p.prove(r, who, proofPassword, func(ctx context.Context, now User) error {
		if now.Password != user.Password {
			return errChanged
		}
		return p.clearAttempts(ctx, a)
	})
	if err != nil && !errors.Is(err, errChanged) {
		err = p.refundLogin(r, a, err)
	}
	return user, err
}

// prove makes the session of who recent, by a proof that was verified, together with what also does, in one transaction.
// The user is locked in it. The session is replaced only as it is stored, and one that was ended meanwhile stays so: then
// who is unauthenticated.
func (p *Pipeline) prove(r *http.Request, who Principal, proof Proof, also func(ctx context.Context, user User) error) error {
	var err error
	for range maxAsks {
		err = p.Tx.Settle(r.Context(), func(ctx context.Context) error {
			user, err := p.Users.Lock(ctx, who.UserID)
			if err != nil {
				return err
			}
			s, err := p.Sessions.Reload(ctx, who.Session)
			if err != nil {
				return err
			}
			if !s.SignedIn() || !user.MaySignIn() {
				return ErrNotFound
			}
			if err := also(ctx, user); err != nil {
				return err
			}
			s.Proved, s.Proof = p.Now(), proof
			return p.Sessions.Update(ctx, s)
		})
		if !errors.Is(err, ErrSessionGone) {
			break
		}
	}
	switch {
	case errors.Is(err, ErrNotFound):
		return &fault.Fault{Code: fault.Unauthenticated, Cause: err}
	case errors.Is(err, ErrSessionGone):
		return overtaken(err)
	}
	return err
}
