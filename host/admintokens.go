package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// What the commands show of a machine token, and what they ask for.
type (
	// Token is a machine token, without the text that opens anything.
	Token = auth.Token
	// TokenRequest says what token is wanted.
	TokenRequest = auth.TokenRequest
)

// AddToken makes a machine token for the user with the address and returns it with
// its text, which is shown this once and kept nowhere. A running host tells the person by
// mail.
func (a *Admin) AddToken(ctx context.Context, email string, in TokenRequest) (t Token, text string, err error) {
	user, err := a.FindUser(ctx, email)
	if err != nil {
		return Token{}, "", err
	}
	err = a.actOn(ctx, "token_add", func() string { return user.Email + " " + t.Name + " (" + t.ID + ")" }, func(ctx context.Context) error {
		t, text, err = a.signIn.AddToken(ctx, user.ID, in, "en", "")
		return err
	})
	if errors.Is(err, auth.ErrNotFound) {
		err = whyNot(user)
	}
	if err != nil {
		return Token{}, "", err
	}
	return t, text, nil
}

// Tokens calls f for up to limit machine tokens, the newest first, with the address
// of the user, which is empty where the application has deleted the user. They are
// those of the user with the address or, when it is empty, of everybody.
func (a *Admin) Tokens(ctx context.Context, email string, limit int, f func(t Token, email string) error) error {
	id := ""
	if email != "" {
		user, err := a.FindUser(ctx, email)
		if err != nil {
			return err
		}
		id = user.ID
	}
	list, err := a.db.Tokens().List(ctx, id, limit)
	if err != nil {
		return err
	}
	addresses := map[string]string{}
	for _, t := range list {
		address, known := addresses[t.UserID]
		if !known {
			user, err := a.db.Users().FindByID(ctx, t.UserID)
			if err != nil && !errors.Is(err, auth.ErrNotFound) {
				return err
			}
			address = user.Email
			addresses[t.UserID] = address
		}
		if err := f(t, address); err != nil {
			return err
		}
	}
	return nil
}

// RevokeToken ends the machine token with this id.
func (a *Admin) RevokeToken(ctx context.Context, id string) error {
	t, err := a.db.Tokens().FindID(ctx, id)
	if err == nil {
		err = a.act(ctx, "token_revoke", t.Name+" ("+id+")", func(ctx context.Context) error {
			return a.db.Tokens().Delete(ctx, id, t.UserID)
		})
	}
	if errors.Is(err, auth.ErrNotFound) {
		return fmt.Errorf("no token has the id %s: `token list` shows them", id)
	}
	return err
}
