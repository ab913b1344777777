package plugintest

import (
	"context"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A Note holds the answer of a listener to an event.
type Note struct {
	outcome
	// Effects are those that it asks for.
	Effects []pluginsdk.Effect
}

// Notify informs the plugin of an event.
func (p *Plugin) Notify(e pluginsdk.Event) Note {
	ctx, cancel := context.WithTimeout(p.t.Context(), callLimit)
	defer cancel()
	effects, err := p.Client.Notify(ctx, e)
	return Note{outcome{p.t, err, effects}, effects}
}

// Acknowledges fails the test if the listener fails.
func (n Note) Acknowledges() Note {
	n.t.Helper()
	n.succeeded()
	return n
}

// With fails the test unless the effect was asked for.
func (n Note) With(want pluginsdk.Effect) Note {
	n.t.Helper()
	if n.succeeded() {
		n.has(want)
	}
	return n
}
