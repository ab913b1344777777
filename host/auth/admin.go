package auth

import (
	"context"
	"fmt"

	"github.com/vestibule-dev/vestibule/host/auth/password"
)

// HashNew judges a new password for a person as a reset does and hashes it. The
// error's text is the code.
func (p *Pipeline) HashNew(ctx context.Context, plain string, known ...string) (string, error) {
	if code := password.Check(plain, p.MinLength, known...); code != "" {
		return "", &WeakPassword{Code: code, MinLength: p.MinLength}
	}
	return p.hasher.Hash(ctx, plain)
}

// A WeakPassword is the error of a password that the rules refuse.
type WeakPassword struct {
	// Code is password_too_short or password_too_common.
	Code string
	// MinLength is what the rules demand.
	MinLength int
}

// Error says what to do.
func (e *WeakPassword) Error() string {
	if e.Code == "password_too_short" {
		return fmt.Sprintf("password_too_short: use at least %d characters", e.MinLength)
	}
	return e.Code + ": choose one that is not in every list, and neither the name nor the address"
}

// SetPassword gives a user a new password as an operator does: all sessions and
// devices end, and a notice is queued, in one transaction.
func (p *Pipeline) SetPassword(ctx context.Context, user User, plain, locale string) error {
	login, _ := user.Columns[p.LoginField].(string)
	hash, err := p.HashNew(ctx, plain, user.Email, user.Name, login)
	if err != nil {
		return err
	}
	return p.Tx.InTx(ctx, func(ctx context.Context) error {
		return p.replacePassword(ctx, user.ID, hash, locale)
	})
}
