package auth

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// signIn starts a session for the owner of the identity. What becomes of an identity that nobody has is up to the
// configuration. Somebody who is signed in gets a new session, and nothing is linked to the old one's user.
func (v *visit) signIn() (target string, err error) {
	ctx := v.r.Context()
	user, err := v.identityOwner(ctx, v.from.Name, v.identity.Subject)
	if err == nil {
		return v.enter(user, v.effects, func(ctx context.Context, user User) error { return v.stillLinked(ctx, user) })
	}
	if !errors.Is(err, ErrNotFound) {
		return "", err
	}
	verified := v.identity.EmailVerified && reserved.IsAddress(v.identity.Email)
	switch {
	case v.from.Link == identity.LinkConfirm && v.pending.Elsewhere:
		// Another site may have signed the browser in at the provider, as the attacker.
		return "", v.unknown("begun_elsewhere", nil)
	case v.from.Link == identity.LinkConfirm && !v.session.SignedIn():
		return v.askToConfirm()
	case v.from.Link == identity.LinkVerifiedEmail && verified && !v.session.SignedIn():
		user, err := v.ownerOfAddress(ctx)
		if err == nil {
			return v.enter(user, v.effects, v.linkByAddress)
		}
		if !errors.Is(err, ErrNotFound) {
			return "", err
		}
	}
	if v.from.Create && v.from.Link != identity.LinkConfirm && verified {
		return v.create()
	}
	return "", v.unknown("unknown", nil)
}

// unknown is the refusal of an identity that nobody has. The page is the same whatever the reason.
func (v *visit) unknown(reason string, cause error) error {
	return &identityError{code: fault.IdentityUnknown, reason: reason, subject: v.identity.Subject, cause: cause}
}

// enter starts the session of a user, whom the dispenser sees with the effects. use does what belongs to the sign-in, in
// its transaction, in which the user is locked.
func (v *visit) enter(user User, effects []pluginsdk.Effect, use func(ctx context.Context, user User) error) (target string, err error) {
	if !user.MaySignIn() {
		return "", &identityError{code: fault.IdentityInactive, reason: "may_not_sign_in", userID: user.ID, subject: v.identity.Subject}
	}
	proof := Proof(identityProof + v.from.Name)
	next := Session{UserID: user.ID, Proved: v.proved(), Proof: proof}
	if !v.session.SignedIn() || v.session.UserID == user.ID {
		next.Intended = v.session.Intended
	}
	// A sign-in by identity ends the rest of a password.
	a := &attempt{account: Counter{Kind: countPassword, Login: user.ID}, before: effects}
	a.use = func(ctx context.Context) error {
		now, err := v.Users.FindByID(ctx, user.ID)
		if err != nil {
			return err
		}
		return use(ctx, now)
	}
	first, cookies, err := v.begin(v.r, false, user, v.session, next, a)
	if errors.Is(err, errChanged) {
		// Another sign-in has hashed the password anew, or it was changed. Look again.
		if user, err = v.Users.FindByID(v.r.Context(), user.ID); err == nil && !user.MaySignIn() {
			err = errChanged
		}
		if err == nil {
			first, cookies, err = v.begin(v.r, false, user, v.session, next, a)
		}
	}
	switch {
	case errors.Is(err, errChanged), errors.Is(err, ErrNotFound):
		return "", &identityError{code: fault.IdentityInactive, reason: "changed", userID: user.ID, subject: v.identity.Subject, cause: err}
	case errors.Is(err, identity.ErrKnown), errors.Is(err, identity.ErrHasOne):
		return "", v.unknown("taken", err)
	case err != nil:
		return "", err
	}
	setCookies(v.w, append(cookies, v.endedState()...))
	v.knowOwner(v.w, v.r, user)
	v.audit(v.r, "login", "user", user.ID, "by", string(proof), "intent", first.intent.Kind())
	if target := first.intent.Envelope().Target(); target != "" && !v.pending.ToPage {
		return target, nil
	}
	return signInPage, nil
}

// proved returns when the person proved who they are: a provider may sign them in by a proof of this morning, and says so.
func (v *visit) proved() time.Time {
	now := v.Now()
	if at := v.identity.AuthTime; !at.IsZero() && at.Before(now) {
		return at
	}
	return now
}

// endedState returns the cookie that ends the states of the browser: another session opens none of them.
func (v *visit) endedState() []*http.Cookie { return []*http.Cookie{v.stateCookie("")} }

// stillLinked refuses an identity that was unlinked since it was found.
func (v *visit) stillLinked(ctx context.Context, user User) error {
	found, err := v.Linked.Find(ctx, v.from.Name, v.identity.Subject)
	if errors.Is(err, ErrNotFound) || err == nil && found.UserID != user.ID {
		return v.unknown("gone", err)
	}
	return err
}

// ownerOfAddress returns the one user with the address of the identity, if it is known to be theirs, or ErrNotFound. An
// address that nobody has verified here may be that of an account which a stranger has made in advance.
func (v *visit) ownerOfAddress(ctx context.Context) (User, error) {
	ids, err := v.Linked.UsersAt(ctx, v.identity.Email)
	if err != nil {
		return User{}, err
	}
	if len(ids) != 1 {
		return User{}, ErrNotFound
	}
	user, err := v.Users.FindByID(ctx, ids[0])
	if err == nil && !v.ownsAddress(user) {
		err = ErrNotFound
	}
	return user, err
}

// ownsAddress reports whether a user may sign in, and the address of the identity is verified here as theirs. Letters beyond
// ASCII must be the same: in any case the Kelvin sign is a k, and another mailbox.
func (v *visit) ownsAddress(user User) bool {
	at, known := user.Columns["email_verified_at"]
	verified := !known || at != nil && at != "" && at != false && at != int64(0)
	return verified && user.MaySignIn() && reserved.LowerASCII(user.Email) == reserved.LowerASCII(v.identity.Email)
}

// linkByAddress links the identity in the transaction of the first sign-in with it.
func (v *visit) linkByAddress(ctx context.Context, user User) error {
	if !v.ownsAddress(user) {
		return errChanged
	}
	if err := v.addIdentity(ctx, user, v.from.Name, v.identity.Subject); err != nil {
		return err
	}
	return v.tellOfIdentity(ctx, v.r, user, "identity_link", v.from.Name)
}

// create makes a user for an identity whose verified address no user has, active or not, and signs them in. The user stays
// if the dispenser fails afterwards: the next sign-in finds the identity.
func (v *visit) create() (target string, err error) {
	var user User
	err = v.Tx.InTx(v.r.Context(), func(ctx context.Context) (err error) {
		id, err := v.Linked.AddUser(ctx, v.identity.Email, cmp.Or(v.identity.Name, v.identity.Email), noPassword)
		if err != nil {
			return err
		}
		if user, err = v.Users.FindByID(ctx, id); err != nil {
			return err
		}
		if err := v.addIdentity(ctx, user, v.from.Name, v.identity.Subject); err != nil {
			return err
		}
		if err := v.applyIdentity(ctx, user.ID); err != nil {
			return err
		}
		if user, err = v.Users.FindByID(ctx, user.ID); err != nil { // as the plugin left them
			return err
		}
		return v.Record(ctx, ownOperator(user.ID), "identity_create", v.from.Name)
	})
	switch {
	case errors.Is(err, identity.ErrTaken), errors.Is(err, identity.ErrKnown):
		return "", v.unknown("address_taken", err)
	case err != nil:
		return "", err
	}
	v.audit(v.r, "identity_create", "user", user.ID, "identity", v.from.Name)
	return v.enter(user, nil, v.stillLinked)
}
