package auth

import (
	"context"
	"errors"
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/form"
)

// InvitationIdentity answers POST /auth/invitation/identities/{name}: where somebody who has the token of a link goes to link
// an identity. It is there if nothing but identities signs people in.
func (p *Pipeline) InvitationIdentity() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		to, err := p.providerNamed(r.PathValue("name"))
		if err != nil {
			return err
		}
		if !p.LinksLinkIdentities() {
			return &fault.Fault{Code: fault.NotFound}
		}
		f, err := form.Read(r)
		if err != nil {
			return err
		}
		l, user, err := p.linkIn(r, f)
		if err != nil {
			return err
		}
		s, err := p.load(r)
		if err != nil {
			return err
		}
		return p.showOuting(w, r, to, s, outing{
			purpose: identity.Invitation, hint: user.Email, invited: identity.Invited{TokenHash: l.Hash, UserID: user.ID},
		})
	})
}

// accept links the identity to the user of the link with which the browser was sent away, and signs them in. The token is
// the proof, as it is for a password or a passkey, and it is claimed in the transaction in which the session begins. The
// address of the identity need not be that of the user.
func (v *visit) accept() (target string, err error) {
	dead := func(cause error) error {
		return &identityError{code: fault.IdentityState, reason: "link", subject: v.identity.Subject, cause: cause}
	}
	if !v.LinksLinkIdentities() {
		return "", dead(nil)
	}
	var l link
	user, err := v.Users.FindByID(v.r.Context(), v.pending.Invited.UserID)
	if err == nil {
		l, user, err = v.findHash(v.r.Context(), user.Email, v.pending.Invited.TokenHash)
	}
	if errors.Is(err, ErrNotFound) {
		return "", dead(err)
	}
	if err != nil {
		return "", err
	}
	by := token() // not the request's id, which a proxy may have let the client choose
	target, err = v.enter(user, v.effects, func(ctx context.Context, user User) error {
		won, err := l.tokens.Claim(ctx, l.ResetToken, by, v.Now())
		if err == nil && !won {
			err = dead(nil)
		}
		if err != nil {
			return err
		}
		return v.linkByLink(ctx, user)
	})
	if err == nil {
		v.audit(v.r, l.event(), "user", user.ID, "identity", v.from.Name)
	}
	return target, err
}

// linkByLink links the identity to a user whose link is claimed, and ends all that the user had open, and their other
// links. It joins the transaction of ctx.
func (v *visit) linkByLink(ctx context.Context, user User) error {
	if err := v.endEverything(ctx, user.ID); err != nil {
		return err
	}
	if err := v.endLinks(ctx, user.ID); err != nil {
		return err
	}
	owner, err := v.identityOwner(ctx, v.from.Name, v.identity.Subject)
	if err == nil && owner.ID == user.ID {
		return nil // nothing is linked, and no mail names it
	}
	if err := ignoreNotFound(err); err != nil {
		return err
	}
	if err := v.addIdentity(ctx, user, v.from.Name, v.identity.Subject); err != nil {
		return v.taken(user.ID, err)
	}
	return v.tellOfIdentity(ctx, v.r, user, "identity_link", v.from.Name)
}
