package host

import (
	"context"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// AskDispensers makes the host ask these dispensers of the process, in this order, instead
// of those of its options. Call it before the first request.
func (h *Host) AskDispensers(names []string, of func(name string) pluginsdk.Dispenser) {
	h.pipeline.Dispensers = func() []string { return names }
	h.pipeline.Dispenser = of
}

// ErrReplaced is returned by [Host.ApplyTold] if a column has another value than an effect replaces.
var ErrReplaced = errReplaced

// ApplyTold applies the effects of a listener to a user, in one transaction with take.
func (h *Host) ApplyTold(ctx context.Context, userID string, effects []pluginsdk.Effect, take func(context.Context) (bool, error)) error {
	return h.applyTold(ctx, userID, effects, take)
}
