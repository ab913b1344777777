package store

import (
	"context"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// Lock is FindByID within a transaction, and nobody else changes the row or
// disables the user before it ends.
func (u users) Lock(ctx context.Context, id string) (auth.User, error) {
	return u.findLocked(ctx, id)
}
