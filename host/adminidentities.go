package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// A LinkedIdentity holds the facts of an account elsewhere that the commands show.
type LinkedIdentity struct {
	// Name is that of the provider in the configuration, and Subject names the person there.
	Name, Subject string
	// Email is the address of its person here, empty where the application has deleted the user.
	Email string
	// Linked is when it was linked.
	Linked time.Time
}

// Identities returns up to limit identities, the newest first: those of the user with the address or, when it is empty, of
// everybody.
func (a *Admin) Identities(ctx context.Context, email string, limit int) ([]LinkedIdentity, error) {
	id := ""
	if email != "" {
		user, err := a.FindUser(ctx, email)
		if err != nil {
			return nil, err
		}
		id = user.ID
	}
	list, err := a.db.Identities().List(ctx, id, limit)
	if err != nil {
		return nil, err
	}
	out := make([]LinkedIdentity, len(list))
	addresses := a.addresses()
	for i, one := range list {
		address, err := addresses(ctx, one.UserID)
		if err != nil {
			return nil, err
		}
		out[i] = LinkedIdentity{Name: one.Name, Subject: one.Subject, Email: address, Linked: one.Created}
	}
	return out, nil
}

// addresses returns a function that returns the address of a user, empty for one who is gone. It reads each user once.
func (a *Admin) addresses() func(ctx context.Context, userID string) (string, error) {
	known := map[string]string{}
	return func(ctx context.Context, userID string) (string, error) {
		if address, ok := known[userID]; ok {
			return address, nil
		}
		user, err := a.db.Users().FindByID(ctx, userID)
		if err != nil && !errors.Is(err, auth.ErrNotFound) {
			return "", err
		}
		known[userID] = user.Email
		return user.Email, nil
	}
}

// UnlinkIdentity ends the identity of a name that the user with the address has, the last way to sign in as well.
func (a *Admin) UnlinkIdentity(ctx context.Context, email, name string) error {
	user, err := a.FindUser(ctx, email)
	if err != nil {
		return err
	}
	err = a.act(ctx, "identity_unlink", user.Email+" "+name, func(ctx context.Context) error {
		// The user first, as every change of what somebody signs in with.
		if _, err := a.db.Users().Lock(ctx, user.ID); err != nil {
			return err
		}
		return a.db.Identities().Delete(ctx, name, user.ID)
	})
	if errors.Is(err, auth.ErrNotFound) {
		return fmt.Errorf("%s has no identity of the name %s: `identity list` shows them", user.Email, name)
	}
	return err
}
