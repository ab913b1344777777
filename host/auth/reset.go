package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/form"
)

// ShowReset answers GET /password/reset/{token}?email=: it sends the browser to
// the screen for a new password, with token and address if they are valid, and
// otherwise without, which makes the screen say that the link is dead. It consumes
// nothing, since mail scanners open links too.
func (p *Pipeline) ShowReset() http.Handler { return p.serve(p.showReset) }

// showReset redirects the link of a reset mail to the screen that sets a password. A valid token goes into the fragment,
// which no server or proxy sees; without one the screen reports that the link has expired.
func (p *Pipeline) showReset(w http.ResponseWriter, r *http.Request) error {
	secret, email := r.PathValue("token"), r.URL.Query().Get("email")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-store")
	target := "/login#/set-password"
	l, _, err := p.findLink(r.Context(), email, secret)
	switch {
	case err == nil && (!p.PasswordOff || p.OffersPasskeys(r) || p.LinksLinkIdentities()):
		if l.invited {
			target = "/login?invited#/set-password" // the screen welcomes instead of speaking of a reset
		}
		target += "/" + component(secret) + "/" + component(email)
	case err != nil && !errors.Is(err, ErrNotFound):
		return err
	}
	http.SetCookie(w, p.screenCookie(time.Minute)) // else /login redirects a person who is signed in
	// Not http.Redirect: its body would repeat the token.
	w.Header().Set("Location", target)
	w.WriteHeader(http.StatusFound)
	return nil
}

// component encodes a part of a fragment as encodeURIComponent does, which is how
// the front end decodes it.
func component(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// MintReset issues a new reset token for a user and returns it. The mail sender
// calls it at the moment of sending, so that no token ever waits in the outbox.
// It returns ErrNotFound for a user who is gone, may not sign in, or has no address.
func (p *Pipeline) MintReset(ctx context.Context, userID string) (User, string, error) {
	user, err := p.Users.FindByID(ctx, userID)
	if err != nil {
		return User{}, "", err
	}
	return p.mint(ctx, p.Resets, user)
}

// Reset answers POST /auth/reset-password. It signs nobody in, so that the mail
// alone opens no session.
func (p *Pipeline) Reset() http.Handler { return p.serve(p.byPassword(p.reset)) }

type resetForm struct {
	token, email string
	newPassword
}

func (p *Pipeline) reset(w http.ResponseWriter, r *http.Request) error {
	in, err := readReset(r)
	if err != nil {
		return err
	}
	refused := fault.Invalid("email", "reset_failed")
	l, user, err := p.findLink(r.Context(), in.email, in.token)
	if errors.Is(err, ErrNotFound) {
		// Only failures count: strangers' attempts must not keep out the person
		// who has the mail, and 256 random bits cannot be guessed.
		if err := p.takeResetAttempts(r, "reset", in.email); err != nil {
			return err
		}
		return refused
	}
	if err != nil {
		return err
	}
	if err := p.checkNew(in.newPassword, user); err != nil {
		return err
	}
	hash, err := p.setPassword(r, l, user, in.password)
	if err != nil {
		return err
	}
	if hash == "" {
		return refused
	}
	user.Password = hash
	p.knowOwner(w, r, user)
	p.audit(r, l.event(), "user", user.ID)
	p.PasswordReset(context.WithoutCancel(r.Context()), PasswordReset{UserID: user.ID, At: p.Now()})
	fault.WriteJSON(w, http.StatusOK, map[string]string{"message": "reset_success", "redirect": p.Site.Base(r) + "/login"})
	return nil
}

func readReset(r *http.Request) (resetForm, error) {
	f, err := form.Read(r)
	if err != nil {
		return resetForm{}, err
	}
	var in resetForm
	// An empty token or address gets the same error as a wrong one.
	err = f.Texts(append(
		in.fields(),
		form.Field{Name: "token", Into: &in.token, Optional: true},
		form.Field{Name: "email", Into: &in.email, Optional: true},
	)...)
	return in, err
}

// setPassword claims the token, writes the password, ends all sessions and devices
// of the user, and queues the notice, in one transaction. It returns the new hash, and ""
// if another request has won the claim.
func (p *Pipeline) setPassword(r *http.Request, l link, user User, plain string) (string, error) {
	hash, err := p.hashAsked(r, user, plain)
	if err != nil {
		return "", err
	}
	won, tried := false, false
	// Not the request's id, which a proxy may have let the client choose.
	by, locale, base := token(), p.Site.Locale(r), p.Site.Base(r)
	// Once claimed, the reset must not be lost because the browser went away.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 30*time.Second)
	defer cancel()
	err = p.Tx.Settle(ctx, func(ctx context.Context) error {
		var err error
		if won, err = l.tokens.Claim(ctx, l.ResetToken, by, p.Now()); err != nil || !won {
			return err
		}
		if tried {
			// The salt makes this hash one that nobody else has written: the commit of the
			// try before happened, and its answer was lost.
			if now, err := p.Users.FindByID(ctx, user.ID); err != nil || now.Password == hash {
				return err
			}
		}
		tried = true
		if err = p.replacePassword(ctx, user.ID, hash, locale, base, browserName(r.UserAgent())); err != nil {
			return err
		}
		return p.Announce(ctx, eventPasswordReset, user.ID)
	})
	if err != nil || !won {
		return "", err
	}
	return hash, nil
}

// knowOwner makes the browser that has completed a reset known to the account, as a sign-in
// does. Otherwise strangers could use up the password's attempts again before the owner,
// who has no other browser, signs in with the new one.
func (p *Pipeline) knowOwner(w http.ResponseWriter, r *http.Request, user User) {
	k, err := p.readKnown(r)
	if err != nil {
		p.Logger.Warn("the browser is not known at the next sign-in", "request_id", RequestOf(r.Context()).ID, "cause", err)
		return
	}
	if c := p.knowBrowser(r, k, func(k known) known { return k.withSignIn(user, folded(p.LoginName(user)), p.Now()) }); c != nil {
		http.SetCookie(w, c)
	}
}

// replacePassword writes a new hash, ends everything that the user had open, and queues the
// notice. It joins the transaction of ctx.
func (p *Pipeline) replacePassword(ctx context.Context, userID, hash, locale, base, device string) error {
	if err := p.Users.SetPassword(ctx, userID, hash, token()); err != nil {
		return err
	}
	if err := p.endEverything(ctx, userID); err != nil {
		return err
	}
	return p.Mailer.QueueChanged(ctx, userID, locale, base, device)
}

// endEverything ends every session, device and token of the user, and the rest of the password.
// It joins the transaction of ctx.
func (p *Pipeline) endEverything(ctx context.Context, userID string) error {
	if err := p.Devices.DeleteUser(ctx, userID); err != nil {
		return err
	}
	if err := p.Sessions.EndUser(ctx, userID); err != nil {
		return err
	}
	if p.Tokens != nil {
		if err := p.Tokens.DeleteUser(ctx, userID); err != nil {
			return err
		}
	}
	return p.Throttle.Clear(ctx, Counter{Kind: countPassword, Login: userID})
}
