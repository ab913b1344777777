package pluginproc

import (
	"context"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc/internal/events"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// maxNotices is how many processes may see one call: who tells of an event tries again
// anyway, after a pause.
const maxNotices = 1

// methodNotify is the call in logs and metrics.
const methodNotify = "notify"

// Listeners returns the names of the plugins that have the role listener, in the order of
// the specs.
func (m *Manager) Listeners() []string { return m.named(pluginsdk.RoleListener) }

func (m *Manager) openEvents() {
	o := m.options
	if o.Outbox == nil {
		return
	}
	m.events = events.NewWorker(events.Options{
		Outbox: o.Outbox, Plugins: m.Listeners, Person: o.Person, Notify: m.Notify, Apply: o.Apply, Log: o.Logger.Named("events"), Now: o.Now, Count: o.Metrics.Event,
	})
}

// TellListeners tells listeners what is in the outbox until ctx ends, and lets those that
// are being told finish, for a moment. It is called once, after Start.
func (m *Manager) TellListeners(ctx context.Context) {
	if m.events != nil {
		m.events.Run(ctx)
	}
}

// KickListeners has the outbox looked into at once, after a commit. It never blocks.
func (m *Manager) KickListeners() {
	if m.events != nil {
		m.events.Kick()
	}
}

// Notify informs one listener of an event, within the plugin's timeout, and returns the
// effects that it asks for, checked against its grants. The error is nil once the listener
// has acknowledged the event.
func (m *Manager) Notify(ctx context.Context, listener string, e pluginsdk.Event) ([]pluginsdk.Effect, error) {
	s, err := m.slot(listener)
	if err != nil {
		return nil, err
	}
	asking := call[[]pluginsdk.Effect]{slot: s, method: methodNotify, requestID: e.ID, person: e.User.ID, limit: maxNotices}
	return asking.run(ctx, func(ctx context.Context, p *instance) ([]pluginsdk.Effect, error) { return p.notify(ctx, e) })
}

func (p *instance) notify(ctx context.Context, e pluginsdk.Event) ([]pluginsdk.Effect, error) {
	e.User, _ = p.tell(e.User, nil)
	effects, err := p.Client.Notify(ctx, e)
	if err != nil {
		return nil, err
	}
	if effects, err = p.slot.spec.checkTold(effects); err != nil {
		return nil, err
	}
	return effects, p.fits(ctx, effects)
}
