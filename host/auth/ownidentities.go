package auth

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/form"
)

// clockSkew is how far the clock of a provider may be from ours where the age of a proof counts.
const clockSkew = 30 * time.Second

// shownIdentity is a provider as a person sees it on the account screen. Linked is null where the person has no identity there.
type shownIdentity struct {
	Name   string     `json:"name"`
	Label  string     `json:"label"`
	Linked *time.Time `json:"linked"`
}

// showIdentities returns the providers, with the identities of a user, as GET /auth/account shows them.
func (p *Pipeline) showIdentities(ctx context.Context, user User) ([]shownIdentity, error) {
	shown := []shownIdentity{}
	own, err := p.OwnIdentities(ctx, user)
	for _, one := range p.Identities {
		entry := shownIdentity{Name: one.Name, Label: one.Label}
		if i := slices.IndexFunc(own, func(i identity.Own) bool { return i.Name == one.Name }); i >= 0 {
			entry.Linked = &own[i].Linked
		}
		shown = append(shown, entry)
	}
	return shown, err
}

// OwnIdentities returns the identities with which a user can sign in, in the order of their buttons.
func (p *Pipeline) OwnIdentities(ctx context.Context, user User) ([]identity.Own, error) {
	all, err := p.identitiesOf(ctx, user)
	var own []identity.Own
	for _, one := range p.Identities {
		if i := slices.IndexFunc(all, func(i identity.Identity) bool { return i.Name == one.Name }); i >= 0 {
			own = append(own, identity.Own{Name: one.Name, Label: one.Label, Linked: p.shownTime(all[i].Created)})
		}
	}
	return own, err
}

// ConfirmByIdentity answers POST /auth/account/confirm/{name}: where somebody who is signed in proves it anew, with their
// own identity of that name.
func (p *Pipeline) ConfirmByIdentity() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		to, err := p.providerNamed(r.PathValue("name"))
		if err != nil {
			return err
		}
		if err := form.Discard(r); err != nil {
			return err
		}
		who, err := p.settled(w, r)
		if err != nil {
			return err
		}
		user, has, err := p.hasIdentity(r.Context(), who.UserID, to.Name)
		if err != nil {
			return err
		}
		if !has {
			return &fault.Fault{Code: fault.NotFound}
		}
		return p.showOuting(w, r, to, who.Session, outing{purpose: identity.Confirm, hint: user.Email})
	})
}

// hasIdentity returns the user of a session, and whether the user has an identity of a name.
func (p *Pipeline) hasIdentity(ctx context.Context, userID, name string) (User, bool, error) {
	user, err := p.stillThere(ctx, userID)
	if err != nil {
		return user, false, err
	}
	own, err := p.identitiesOf(ctx, user)
	return user, slices.ContainsFunc(own, func(i identity.Identity) bool { return i.Name == name }), err
}

// showOuting answers with the address of the provider, to which a page's script sends the browser.
func (p *Pipeline) showOuting(w http.ResponseWriter, r *http.Request, to identity.Provider, s Session, o outing) error {
	address, err := p.sendOut(w, r, to, s, o)
	if err != nil {
		return err
	}
	fault.WriteJSON(w, http.StatusOK, map[string]string{"url": address})
	return nil
}

// ChangeIdentity answers POST and DELETE /auth/account/identities/{name}: it begins to link an identity, or ends the one
// that the person has unless it is the last way to sign in.
func (p *Pipeline) ChangeIdentity() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		to, err := p.providerNamed(r.PathValue("name"))
		if err != nil {
			return err
		}
		if err := form.Discard(r); err != nil {
			return err
		}
		who, err := p.fresh(w, r)
		if err != nil {
			return err
		}
		// Whoever changes them without end would fill the audit table.
		if err := p.takeAttempt(r, Counter{Kind: countIdentities, Login: who.UserID}, p.ClientAttempts, "identity"); err != nil {
			return err
		}
		if r.Method == http.MethodDelete {
			return p.unlink(w, r, who, to.Name)
		}
		user, has, err := p.hasIdentity(r.Context(), who.UserID, to.Name)
		if err != nil {
			return err
		}
		if has {
			return &fault.Fault{Code: fault.IdentityKnown}
		}
		return p.showOuting(w, r, to, who.Session, outing{purpose: identity.Join, hint: user.Email})
	})
}

func (p *Pipeline) unlink(w http.ResponseWriter, r *http.Request, who Principal, name string) error {
	err := p.changeCredential(r, who, credentialChange{event: "identity_unlink", apply: func(ctx context.Context, user User) (string, error) {
		own, err := p.identitiesOf(ctx, user)
		if err != nil {
			return "", err
		}
		if !slices.ContainsFunc(own, func(i identity.Identity) bool { return i.Name == name }) {
			return "", &fault.Fault{Code: fault.NotFound}
		}
		if last, err := p.lastWay(ctx, user, way{identity: name}); err != nil || last {
			if last {
				err = &fault.Fault{Code: fault.LastWayToSignIn}
			}
			return "", err
		}
		return name, absent(p.Linked.Delete(ctx, name, user.ID))
	}})
	if err == nil {
		noContent(w)
	}
	return err
}

// errLinked is returned for an identity that another tab has linked to the same person. Nothing was written then.
var errLinked = errors.New("the identity is linked already")

// link links the identity to who is signed in, whose session is bound to the state, and must still be recent.
func (v *visit) link() (target string, err error) {
	who, err := v.fresh(v.w, v.r)
	if err != nil {
		return "", v.ended(err)
	}
	err = v.changeCredential(v.r, who, credentialChange{event: "identity_link", notice: noticeIdentity, apply: func(ctx context.Context, user User) (string, error) {
		owner, err := v.identityOwner(ctx, v.from.Name, v.identity.Subject)
		if err == nil && owner.ID == user.ID {
			return "", errLinked
		}
		if err := v.addIdentity(ctx, user, v.from.Name, v.identity.Subject); err != nil {
			return "", err
		}
		return v.from.Name, v.applyIdentity(ctx, user.ID)
	}})
	if err != nil && !errors.Is(err, errLinked) {
		return "", v.ended(v.taken(who.UserID, err))
	}
	return accountPage, nil
}

// taken returns the refusal of an identity that cannot be linked to a user, and other errors as they are.
func (v *visit) taken(userID string, err error) error {
	refused := &identityError{code: fault.IdentityTaken, userID: userID, subject: v.identity.Subject}
	switch {
	case errors.Is(err, identity.ErrKnown):
		refused.reason = "another_user"
	case errors.Is(err, identity.ErrHasOne):
		refused.reason = "has_another"
	default:
		return err
	}
	return refused
}

// ended returns the refusal of a state whose session has ended meanwhile, and other errors as they are.
func (v *visit) ended(err error) error {
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Code == fault.Unauthenticated {
		return &identityError{code: fault.IdentityState, reason: "session", cause: err}
	}
	return err
}

// confirm makes the session recent if the identity is the person's own, and the proof was made since the browser was sent
// away. A failure counts for the client and for the login name, as a wrong password does.
func (v *visit) confirm() (target string, err error) {
	who, err := v.settled(v.w, v.r)
	if err != nil {
		return "", v.ended(err)
	}
	user, err := v.stillThere(v.r.Context(), who.UserID)
	if err != nil {
		return "", v.ended(err)
	}
	a, err := v.counters(v.r, v.LoginName(user), attempt{field: "identity"}, func(k known) *knownEntry { return k.byUser(user.ID) })
	if err != nil {
		return "", err
	}
	if err := v.takeAttempt(v.r, a.name, v.Attempts, a.field); err != nil {
		return "", err
	}
	a.client = Counter{} // which is counted already
	err = v.prove(v.r, who, Proof(identityProof+v.from.Name), func(ctx context.Context, user User) error {
		if reason, err := v.judgeProof(ctx, user); err != nil || reason != "" {
			if err == nil {
				err = &identityError{code: fault.IdentityProof, reason: reason, userID: user.ID, subject: v.identity.Subject}
			}
			return err
		}
		return v.clearAttempts(ctx, a)
	})
	if _, refused := errors.AsType[*identityError](err); err != nil && !refused {
		err = v.ended(v.refundLogin(v.r, a, err))
	}
	if err == nil {
		v.audit(v.r, "confirm", "user", user.ID, "by", identityProof+v.from.Name)
	}
	return accountPage, err
}

// judgeProof returns why the proof is refused, empty where it is not.
func (v *visit) judgeProof(ctx context.Context, user User) (reason string, err error) {
	owner, err := v.identityOwner(ctx, v.from.Name, v.identity.Subject)
	switch at := v.identity.AuthTime; {
	case errors.Is(err, ErrNotFound), err == nil && owner.ID != user.ID:
		return "another_identity", nil
	case err != nil:
		return "", err
	case at.IsZero():
		return "no_time", nil
	case at.Before(v.pending.Begun.Add(-clockSkew)), at.After(v.Now().Add(clockSkew)):
		return "time", nil
	}
	return "", nil
}
