package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
)

// InvitationLifetime returns how long the link of an invitation works.
func (p *Pipeline) InvitationLifetime() time.Duration { return 7 * 24 * time.Hour }

// noPassword is in the column password of a person who was invited and has set none. It is
// no hash, so that no password matches it, and each attempt takes as long as one for a name
// that nobody has.
const noPassword = "!"

// HashForInvited checks the address of a person who is to be invited and returns what the
// column password holds until that person has set one.
func (p *Pipeline) HashForInvited(email string) (string, error) {
	if err := checkAddress(email); err != nil {
		return "", err
	}
	return noPassword, nil
}

func checkAddress(email string) error {
	if !reserved.IsAddress(email) {
		return fmt.Errorf("%q is no mail address: write it like ada@example.com", email)
	}
	return nil
}

// MintInvitation issues a new invitation for a user and returns its token. Like
// [Pipeline.MintReset], the mail sender calls it at the moment of sending. It also returns
// ErrNotFound for a user who has set a password, made a passkey or linked an identity since the
// mail was queued: a mail may be sent twice.
func (p *Pipeline) MintInvitation(ctx context.Context, userID string) (User, string, error) {
	user, err := p.Users.FindByID(ctx, userID)
	if err == nil && user.Password != noPassword {
		err = ErrNotFound
	}
	if err == nil && p.Passkeys != nil {
		var own []passkey.Passkey
		if own, err = p.Passkeys.List(ctx, userID, 1); len(own) > 0 {
			err = ErrNotFound
		}
	}
	if err == nil {
		var own []identity.Identity
		if own, err = p.identitiesOf(ctx, user); len(own) > 0 {
			err = ErrNotFound
		}
	}
	if err != nil {
		return User{}, "", err
	}
	return p.mint(ctx, p.Invitations, user)
}

// LinksLead reports whether links work: for a password; for a passkey where nobody signs in with a
// password; or for an identity where passkeys are off as well.
func (p *Pipeline) LinksLead() bool {
	return !p.PasswordOff || p.LinksMakePasskeys() || len(p.Identities) > 0
}

// LinksMakePasskeys reports whether links are for a passkey.
func (p *Pipeline) LinksMakePasskeys() bool {
	return p.PasswordOff && p.Passkeys != nil && !p.PasskeysOff
}

// LinksLinkIdentities reports whether links are for an identity: nothing else signs people in.
func (p *Pipeline) LinksLinkIdentities() bool {
	return p.PasswordOff && !p.LinksMakePasskeys() && len(p.Identities) > 0
}

// mint issues a token for a user who may sign in and has an address.
func (p *Pipeline) mint(ctx context.Context, tokens ResetTokens, user User) (User, string, error) {
	if !user.MaySignIn() || user.Email == "" || !p.LinksLead() {
		return User{}, "", ErrNotFound
	}
	secret := token()
	err := p.Tx.InTx(ctx, func(ctx context.Context) error {
		return tokens.Issue(ctx, ResetToken{
			Hash: digest([]byte(secret)), UserID: user.ID, Email: user.Email, Created: p.Now(),
		})
	})
	return user, secret, err
}

// A link is a valid token that was mailed or handed over, of a reset or of an invitation.
type link struct {
	ResetToken
	// tokens is the store that the token is in.
	tokens  ResetTokens
	invited bool
}

// event returns the audit event of the use of the link.
func (l link) event() string {
	event := "reset"
	if l.invited {
		event = "invitation_used"
	}
	return event
}

// findLink returns the valid token that a link or form names, and its user, or
// ErrNotFound. A token that nobody has takes the same statements as one that has expired.
func (p *Pipeline) findLink(ctx context.Context, email, secret string) (link, User, error) {
	if !reserved.IsAddress(email) || len(secret) > 256 {
		return link{}, User{}, ErrNotFound
	}
	return p.findHash(ctx, email, digest([]byte(secret)))
}

// findHash returns the valid token of a hash, and its user, or ErrNotFound.
func (p *Pipeline) findHash(ctx context.Context, email string, hash []byte) (link, User, error) {
	l := link{tokens: p.Resets}
	var err error
	l.ResetToken, err = p.Resets.Find(ctx, email, hash, p.Now().Add(-p.ResetLifetime))
	if errors.Is(err, ErrNotFound) && p.Invitations != nil {
		l.tokens, l.invited = p.Invitations, true
		l.ResetToken, err = p.Invitations.Find(ctx, email, hash, p.Now().Add(-p.InvitationLifetime()))
	}
	if err != nil {
		return link{}, User{}, err
	}
	user, err := p.Users.FindByID(ctx, l.UserID)
	if err == nil && !user.MaySignIn() {
		err = ErrNotFound
	}
	return l, user, err
}

// endLinks ends the unused links of a user whose password is as it was, so that they would go on. It joins the transaction
// of ctx.
func (p *Pipeline) endLinks(ctx context.Context, userID string) error {
	if err := p.Resets.End(ctx, userID); err != nil || p.Invitations == nil {
		return err
	}
	return p.Invitations.End(ctx, userID)
}
