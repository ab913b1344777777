package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// A Passkey holds the facts of a passkey that the commands show.
type Passkey struct {
	// ID names the passkey, and Name is that by which its person knows it.
	ID, Name string
	// Email is the address of its person, empty where the application has deleted the user.
	Email string
	// BackedUp reports whether the passkey was copied to other devices when it was last used.
	BackedUp bool
	// Created is when it was made, and Used when it was last used. Used is zero before the first use.
	Created, Used time.Time
}

// Passkeys returns up to limit passkeys, the newest first: those of the user with the address or, when it is empty, of
// everybody.
func (a *Admin) Passkeys(ctx context.Context, email string, limit int) ([]Passkey, error) {
	id := ""
	if email != "" {
		user, err := a.FindUser(ctx, email)
		if err != nil {
			return nil, err
		}
		id = user.ID
	}
	list, err := a.db.Passkeys().List(ctx, id, limit)
	if err != nil {
		return nil, err
	}
	out := make([]Passkey, len(list))
	addresses := a.addresses()
	for i, p := range list {
		address, err := addresses(ctx, p.UserID)
		if err != nil {
			return nil, err
		}
		out[i] = Passkey{ID: p.ID, Name: p.Name, Email: address, BackedUp: p.BackedUp, Created: p.Created, Used: p.Used}
	}
	return out, nil
}

// DeletePasskey ends a passkey of the user with the address, the last way to sign in as well.
func (a *Admin) DeletePasskey(ctx context.Context, email, id string) error {
	user, err := a.FindUser(ctx, email)
	if err != nil {
		return err
	}
	name := ""
	err = a.actOn(ctx, "passkey_delete", func() string { return user.Email + " " + name + " (" + id + ")" }, func(ctx context.Context) error {
		// The user first, as every change of what somebody signs in with.
		if _, err := a.db.Users().Lock(ctx, user.ID); err != nil {
			return err
		}
		gone, err := a.db.Passkeys().FindID(ctx, id)
		if err != nil {
			return err
		}
		name = gone.Name
		return a.db.Passkeys().Delete(ctx, id, user.ID)
	})
	if errors.Is(err, auth.ErrNotFound) {
		return fmt.Errorf("%s has no passkey with the id %s: `passkey list` shows them", user.Email, id)
	}
	return err
}
