package auth

import (
	"cmp"
	"context"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
)

// HashForNewUser checks the address and the password of a person who is to be
// added and returns the password's hash. A password that is refused is a
// *password.PolicyError.
func (p *Pipeline) HashForNewUser(ctx context.Context, email, name, plain string) (string, error) {
	if err := checkAddress(email); err != nil {
		return "", err
	}
	return p.hashNew(ctx, "", plain, email, name)
}

// operator is whom an operator's commands count as where clients take turns.
const operator = "operator"

// hashNew checks a new password by the rules of a reset and hashes it; old is the
// hash that it replaces. The error is a *password.PolicyError; its message begins
// with the fault code.
func (p *Pipeline) hashNew(ctx context.Context, old, plain string, known ...string) (string, error) {
	if code := p.checkPassword(old, plain, known...); code != "" {
		return "", &password.PolicyError{Code: code, MinLength: p.MinLength}
	}
	return p.hasher.Hash(ctx, operator, old, plain)
}

// checkPassword returns the code of what is wrong with a new password, or "". old
// is the hash that it replaces; known are texts that strangers know about the
// person, such as the address.
func (p *Pipeline) checkPassword(old, plain string, known ...string) string {
	if code := password.Check(plain, p.MinLength, known...); code != "" {
		return code
	}
	if p.hasher.TooLong(old, plain) {
		return password.TooLong
	}
	return ""
}

// NewPassword checks and hashes a password that an operator gives to a user, and
// returns what sets it: all sessions and devices end, and a notice is queued, in one
// transaction, which may be that of its context.
func (p *Pipeline) NewPassword(ctx context.Context, user User, plain, locale string) (set func(context.Context) error, err error) {
	login, _ := user.Columns[p.LoginField].(string)
	hash, err := p.hashNew(ctx, user.Password, plain, user.Email, user.Name, login)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		return p.Tx.InTx(ctx, func(ctx context.Context) error {
			return p.replacePassword(ctx, user.ID, hash, locale, "", "")
		})
	}, nil
}

// LoginName returns what a user signs in with, and the id of one who has nothing.
func (p *Pipeline) LoginName(u User) string {
	name := ""
	switch p.LoginField {
	case "email":
		name = u.Email
	case "name":
		name = u.Name
	default:
		if v := u.Columns[p.LoginField]; v != nil {
			name = fmt.Sprint(v)
		}
	}
	return cmp.Or(name, u.ID)
}
