package auth

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey"
	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
)

// What somebody signs in with is changed here and nowhere else: a password, a passkey, an identity, a machine token, or
// a step that a plugin offers. Each change asks for fresh proof, keeps a session that was ended from changing anything,
// leaves a row in the table of audit, and queues a mail to the person.

// A credentialChange is a change of what somebody signs in with.
type credentialChange struct {
	// event names the change in audit lines, counts and the table of audit, such as "token_add"; subject names the changed object.
	event string
	// notice is the mail that tells the person of it; empty for none.
	notice Notice
	// apply changes it in the transaction of ctx, in which the user is locked. It returns the subject of the change for the
	// table of audit, such as the id of a token. It may be called again after a serialization failure.
	apply func(ctx context.Context, user User) (subject string, err error)
	// happened reports whether a commit whose answer was lost has happened. With it the change is tried again then.
	happened func(ctx context.Context) (bool, error)
}

// fresh returns who is signed in, done with every step, and has proved within [Rules].Recent who they are.
func (p *Pipeline) fresh(w http.ResponseWriter, r *http.Request) (Principal, error) {
	who, err := p.settled(w, r)
	if err == nil && !p.recent(who.Session) {
		err = &fault.Fault{Code: fault.ConfirmationRequired}
	}
	return who, err
}

// changeCredential carries out a change for who has asked, whom fresh has admitted. A session that was ended before, or a
// user who may no longer sign in, changes nothing and is unauthenticated.
func (p *Pipeline) changeCredential(r *http.Request, who Principal, change credentialChange) error {
	subject, inTx := "", p.Tx.InTx
	if change.happened != nil {
		inTx = p.Tx.Settle
	}
	err := inTx(r.Context(), func(ctx context.Context) error {
		if change.happened != nil {
			if done, err := change.happened(ctx); err != nil || done {
				return err
			}
		}
		user, err := p.Users.Lock(ctx, who.UserID)
		if err != nil {
			return err
		}
		// Whoever ends sessions locks the user as well, or does so before this transaction.
		alive, err := p.Sessions.Alive(ctx, [][]byte{who.Session.Key})
		if err != nil {
			return err
		}
		if !alive[0] || !user.MaySignIn() {
			return ErrNotFound
		}
		if subject, err = change.apply(ctx, user); err != nil {
			return err
		}
		if change.notice != "" {
			if err := p.Mailer.QueueNotice(ctx, change.notice, user.ID, p.Site.Locale(r), browserName(r.UserAgent())); err != nil {
				return err
			}
		}
		return p.Record(ctx, ownOperator(user.ID), change.event, subject)
	})
	if errors.Is(err, ErrNotFound) {
		return &fault.Fault{Code: fault.Unauthenticated, Cause: err}
	}
	if err == nil {
		p.audit(r, change.event, "user", who.UserID, "subject", subject)
	}
	return err
}

// A way names one credential beside the password: the passkey of an ID, or the identity of a name.
type way struct{ passkeyID, identity string }

// lastWay reports whether a user could not sign in any more without one of the ways. It joins the transaction of ctx, in
// which the user is locked.
func (p *Pipeline) lastWay(ctx context.Context, user User, without way) (bool, error) {
	if !p.PasswordOff && password.Usable(user.Password) {
		return false, nil
	}
	own, err := p.identitiesOf(ctx, user)
	if err != nil || slices.ContainsFunc(own, func(i identity.Identity) bool { return i.Name != without.identity }) {
		return false, err
	}
	if p.Passkeys == nil || p.PasskeysOff {
		return true, nil
	}
	list, err := p.Passkeys.List(ctx, user.ID, maxPasskeys)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(list, func(k passkey.Passkey) bool { return k.ID != without.passkeyID }), nil
}
