package pluginproc

import (
	"context"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// How many processes may see one call of an identity provider. A Begin whose process dies
// is repeated once on a fresh one, because Begin decides nothing. A Finish is never
// repeated, because a provider takes a code once.
const (
	maxBegins   = 2
	maxFinishes = 1
)

// methodBegin and methodFinish are the calls in logs and metrics.
const (
	methodBegin  = "begin"
	methodFinish = "finish"
)

// IdentityProviders returns the names of the plugins that have the role identity_provider,
// in the order of the specs.
func (m *Manager) IdentityProviders() []string { return m.named(pluginsdk.RoleIdentityProvider) }

// IdentityProvider returns the identity provider of a name; nil if no plugin of that name
// has the role. It finds the process at call time, so it stays good over restarts; after a
// Reload that gives or takes the role, ask again.
func (m *Manager) IdentityProvider(plugin string) pluginsdk.IdentityProvider {
	if !slices.Contains(m.IdentityProviders(), plugin) {
		return nil
	}
	return identityProvider{m, plugin}
}

// An identityProvider calls the process of a plugin. Its calls are about nobody whom the
// host knows: a guest whose calls run out of time must not make the plugin count as late.
type identityProvider struct {
	manager *Manager
	plugin  string
}

// Begin returns where the browser is sent.
func (i identityProvider) Begin(ctx context.Context, r pluginsdk.BeginRequest) (pluginsdk.Authorization, error) {
	s, err := i.manager.slot(i.plugin)
	if err != nil {
		return pluginsdk.Authorization{}, err
	}
	asking := call[pluginsdk.Authorization]{slot: s, method: methodBegin, requestID: r.ID, limit: maxBegins}
	return asking.run(ctx, func(ctx context.Context, p *instance) (pluginsdk.Authorization, error) { return p.Begin(ctx, r) })
}

// Finish returns who the person is, with effects that the plugin's grants allow.
func (i identityProvider) Finish(ctx context.Context, r pluginsdk.FinishRequest) (pluginsdk.IdentityResult, error) {
	s, err := i.manager.slot(i.plugin)
	if err != nil {
		return pluginsdk.IdentityResult{}, err
	}
	asking := call[pluginsdk.IdentityResult]{slot: s, method: methodFinish, requestID: r.ID, limit: maxFinishes}
	return asking.run(ctx, func(ctx context.Context, p *instance) (pluginsdk.IdentityResult, error) { return p.Finish(ctx, r) })
}

// Begin asks the process where the browser is sent. Text that is not UTF-8 cannot be sent
// and is mended.
func (p *instance) Begin(ctx context.Context, r pluginsdk.BeginRequest) (pluginsdk.Authorization, error) {
	r.Callback, r.Locale, r.LoginHint = mend(r.Callback), mend(r.Locale), mend(r.LoginHint)
	return p.Client.Begin(ctx, r)
}

// Finish asks the process who the person is, and holds its answer against the grants.
func (p *instance) Finish(ctx context.Context, r pluginsdk.FinishRequest) (pluginsdk.IdentityResult, error) {
	r.Callback, r.Locale = mend(r.Callback), mend(r.Locale)
	parameters := make(map[string]string, len(r.Parameters))
	for name, value := range r.Parameters {
		parameters[mend(name)] = mend(value)
	}
	r.Parameters = parameters
	result, err := p.Client.Finish(ctx, r)
	if err != nil {
		return pluginsdk.IdentityResult{}, err
	}
	if _, err := p.slot.spec.checkEffects(result.Effects()); err != nil {
		return pluginsdk.IdentityResult{}, err
	}
	return result, p.fits(ctx, result.Effects())
}
