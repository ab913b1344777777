package host

import (
	"context"
	"errors"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// announce queues an event for all listeners, in the transaction of ctx.
func (h *Host) announce(ctx context.Context, kind, userID string) error {
	return h.o.Store.Outbox().Announce(ctx, kind, userID, h.plugins.Listeners())
}

// committed has listeners told at once of what was announced.
func (h *Host) committed(context.Context, auth.PasswordReset) { h.plugins.KickListeners() }

// listenersPerson looks a user up for a listener.
func (h *Host) listenersPerson(ctx context.Context, userID string) (pluginsdk.User, error) {
	user, err := h.o.Store.Users().FindByID(ctx, userID)
	if errors.Is(err, auth.ErrNotFound) {
		return pluginsdk.User{ID: userID}, nil
	}
	return auth.PluginUser(user), err
}
