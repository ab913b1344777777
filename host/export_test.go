package host

import (
	"context"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// AskDispensers makes the host ask these dispensers of the process, in this order, instead
// of those of its options. Call it before the first request.
func (h *Host) AskDispensers(names []string, of func(name string) pluginsdk.Dispenser) {
	h.pipeline.Dispensers = func() []string { return names }
	h.pipeline.Dispenser = of
}

// OfferStep makes the dispensers of these names offer their steps.
func (h *Host) OfferStep(titles map[string]string) {
	h.pipeline.Offered = func(name string) (string, bool) {
		title, ok := titles[name]
		return title, ok
	}
}

// Store returns the store with the settings of the host.
func (h *Host) Store() *store.DB { return h.o.Store }

// SignIn returns the sign-in, which mints the tokens of mailed links.
func (h *Host) SignIn() *auth.Pipeline { return h.pipeline }

// ErrReplaced is returned by [Host.ApplyTold] if a column has another value than an effect replaces.
var ErrReplaced = errReplaced

// ApplyTold applies the effects of a listener to a user, in one transaction with take.
func (h *Host) ApplyTold(ctx context.Context, userID string, effects []pluginsdk.Effect, take func(context.Context) (bool, error)) error {
	return h.applyTold(ctx, userID, effects, take)
}

// Validate asks the plugins of a host for their verdict as the query endpoint does; of maps sets to plugins.
func (h *Host) Validate(ctx context.Context, of map[string]string, c odata.Caller, changes []odata.Proposal) (odata.Verdict, error) {
	return newValidation(h.plugins, of, h.limits).validate(ctx, c, changes)
}
