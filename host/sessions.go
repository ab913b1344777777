package host

import (
	"context"
	"errors"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// maySignIn reports whether a user is there and may sign in, and may therefore have
// sessions.
func maySignIn(users auth.Users) func(context.Context, string) (bool, error) {
	return func(ctx context.Context, id string) (bool, error) {
		user, err := users.FindByID(ctx, id)
		if errors.Is(err, auth.ErrNotFound) {
			return false, nil
		}
		return user.MaySignIn(), err
	}
}

// recordVisits records the visits of sessions that wait in memory, unless the host was aborted. It takes two seconds at most.
func (h *Host) recordVisits() {
	if h.stop.aborted.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := h.sessions.Flush(ctx); err != nil {
		h.o.Logger.Warn("visits of sessions not recorded before the end", "error", err)
	}
}

// living returns those of many users who are there and may sign in; nil, so that users
// are looked up with the touches of their sessions alone, where the application's columns
// do not keep anybody out.
func (o Options) living() func(context.Context, []string) (map[string]bool, error) {
	if o.Auth.Active == nil {
		return nil
	}
	return func(ctx context.Context, ids []string) (map[string]bool, error) {
		found, err := o.Store.Users().FindAll(ctx, ids)
		living := map[string]bool{}
		for _, user := range found {
			living[user.ID] = user.MaySignIn()
		}
		return living, err
	}
}
