package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
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

// errReplaced has a listener asked again about a user whose columns have changed.
var errReplaced = errors.New("a column has another value than the effect of the listener replaces")

// applyTold applies the effects of a listener in one transaction with take. The database
// refuses some values, such as a text that is too long for the column, each time: then the
// listener has broken the contract.
func (h *Host) applyTold(ctx context.Context, userID string, effects []pluginsdk.Effect, take func(context.Context) (bool, error)) error {
	var taking error
	applied, err := h.pipeline.ApplyTold(ctx, userID, effects, func(ctx context.Context) (wanted bool, err error) {
		wanted, taking = take(ctx)
		return wanted, taking
	})
	switch {
	case err == nil && !applied:
		return errReplaced
	case err == nil, taking != nil, errors.Is(err, auth.ErrUnavailable), store.IsAway(err), ctx.Err() != nil:
		return err
	}
	return fmt.Errorf("%w: %w", pluginsdk.ErrContract, err)
}
