package auth

import (
	"context"
	"testing"
)

// oneUser finds one user.
type oneUser struct {
	Users
	user User
}

func (o oneUser) FindByID(context.Context, string) (User, error) { return o.user, nil }

// TestIdentityIsNoWholeUser holds that who asks for the columns of a user gets them, although the session was read with the identity
// alone.
func TestIdentityIsNoWholeUser(t *testing.T) {
	whole := User{ID: "7", Name: "Ada", Columns: map[string]any{"plan": "gold"}}
	read := whole
	read.Columns = nil
	who := Principal{UserID: "7", users: oneUser{user: whole}, user: &read}
	if got, err := who.Identity(t.Context()); err != nil || got.Name != "Ada" || got.Columns != nil {
		t.Errorf("identity %+v, %v", got, err)
	}
	if got, err := who.User(t.Context()); err != nil || got.Columns["plan"] != "gold" {
		t.Errorf("user %+v, %v", got, err)
	}
	who.user = nil
	if got, err := who.Identity(t.Context()); err != nil || got.Name != "Ada" {
		t.Errorf("identity that was not read before: %+v, %v", got, err)
	}
	if _, err := (Principal{user: &whole}).Identity(t.Context()); err == nil {
		t.Error("a guest has an identity")
	}
}
