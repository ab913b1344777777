package events

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

const (
	tried      = 24 * time.Hour    // after which an event is given up
	orphaned   = tried + time.Hour // after which any host gives up an event for a listener that it does not have
	lease      = time.Minute       // longer than a switchover of the database takes
	parallel   = 4                 // events that each listener gets at the same time
	firstPause = time.Second
)

// Options configure a worker. All fields are needed.
type Options struct {
	Outbox outbox.Store
	// Plugins returns the names of the plugins that listen now.
	Plugins func() []string
	// Person looks a user up by their key. A deleted user is a user with the key alone, and
	// no error.
	Person func(ctx context.Context, userID string) (pluginsdk.User, error)
	// Notify notifies a listener, bounds the time that this takes, and returns the effects
	// that the listener asks for. A nil error means acknowledged.
	Notify func(ctx context.Context, listener string, e pluginsdk.Event) ([]pluginsdk.Effect, error)
	// Apply applies effects to the user in one transaction with take, which deletes the
	// event and reports whether it was still there. An error that wraps
	// pluginsdk.ErrContract gives the event up.
	Apply func(ctx context.Context, userID string, effects []pluginsdk.Effect, take func(context.Context) (bool, error)) error
	Log   hclog.Logger
	Now   func() time.Time
	// Count counts outcomes. It must be fast and safe for concurrent use.
	Count func(listener, outcome string, n int)
}

// NewWorker returns a worker that works once Run is called, and counts each outcome of each
// listener zero times.
func NewWorker(o Options) *outbox.Worker {
	for _, listener := range o.Plugins() {
		for _, outcome := range outcomes() {
			o.Count(listener, outcome, 0)
		}
	}
	return outbox.New(deliverer{o}, outbox.Options{
		Store: o.Outbox, Log: o.Log, Now: o.Now, Lease: lease, Parallel: parallel, Orphaned: orphaned,
	})
}

// outcomes are the words of metrics for each outcome of an event.
func outcomes() []string { return []string{"told", "retried", "returned", "dropped"} }

type deliverer struct{ o Options }

func (d deliverer) Listeners() []string { return d.o.Plugins() }

func (d deliverer) Deliver(ctx context.Context, item outbox.Item) error {
	if !slices.Contains(d.o.Plugins(), item.Listener) {
		return errors.New("no host has this listener")
	}
	person, err := d.o.Person(ctx, item.UserID)
	if err != nil {
		return err
	}
	effects, err := d.o.Notify(ctx, item.Listener, pluginsdk.Event{ID: item.Event(), Kind: item.Purpose, User: person, At: item.Created})
	if err == nil && len(effects) > 0 {
		take := func(ctx context.Context) (bool, error) { return d.o.Outbox.Take(ctx, item) }
		err = d.o.Apply(ctx, item.UserID, effects, take)
	}
	if errors.Is(err, pluginsdk.ErrContract) {
		return fmt.Errorf("%w: %w", outbox.ErrRejected, err) // another try would get the same answer
	}
	return err
}

// Pause returns 1 s after the first attempt, doubled after each up to 15 min.
func (d deliverer) Pause(item outbox.Item, now time.Time) time.Duration {
	if now.Sub(item.Created) >= tried {
		return 0
	}
	return outbox.Backoff(firstPause, item.Attempt)
}

func (d deliverer) Observe(item outbox.Item, o outbox.Outcome) {
	d.o.Count(item.Listener, outcomes()[o], 1)
}
