package events

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// An Item is an event for one listener. It is an alias of an unnamed struct type, so that
// a store can write the same fields without importing this package.
//
// Row is the key in the outbox, ID that of the event, which is the same for every listener
// and every try. UserID is the user's key as text. Attempt counts the leases from 1.
type Item = struct {
	Row, ID, Listener, Kind, UserID string
	At                              time.Time
	Attempt                         int
}

// Outbox is the queue in the shared store. Several hosts work on one at the same time. All
// methods are safe for concurrent use. RetryEvent and BuryEvent change nothing where the
// item has been leased again since.
type Outbox interface {
	// LeaseEvent takes an event that is due for one of the listeners, that nobody holds,
	// and that the user's earlier ones for this listener do not hold back, of those that
	// were tried least often the one that has been due longest; it holds it until the
	// given time. The zero Item means none.
	LeaseEvent(ctx context.Context, listeners []string, now, until time.Time) (Item, error)
	// EventDone deletes the item.
	EventDone(ctx context.Context, row string) error
	// RetryEvent ends the lease, and makes the item due at next. The reason is kept for
	// the operator.
	RetryEvent(ctx context.Context, e Item, next time.Time, reason string) error
	// BuryEvent ends the lease for good.
	BuryEvent(ctx context.Context, e Item, now time.Time, reason string) error
	// OrphanedEvents returns some of the events from before a time that nobody holds, and
	// that are for other listeners than these.
	OrphanedEvents(ctx context.Context, listeners []string, now, before time.Time) ([]Item, error)
}

// Outcome is what became of one try.
type Outcome string

// The outcomes.
const (
	Told     Outcome = "told"     // acknowledged
	Retried  Outcome = "retried"  // failed, due again later
	Returned Outcome = "returned" // due again at once, for another host: this one stops
	Dropped  Outcome = "dropped"  // given up after a day
)

// Outcomes returns all of them.
func Outcomes() []Outcome { return []Outcome{Told, Retried, Returned, Dropped} }

// Options tell a worker what to work with. Outbox, Listeners, Person and Notify are needed.
type Options struct {
	Outbox Outbox
	// Listeners returns the names of the plugins that listen now.
	Listeners func() []string
	// Person looks a user up by their key. One who is gone is a user with the key alone,
	// and no error.
	Person func(ctx context.Context, userID string) (pluginsdk.User, error)
	// Notify tells a listener, and bounds how long that takes. Nil means acknowledged.
	Notify func(ctx context.Context, listener string, e pluginsdk.Event) error
	// Log receives what happens; nil discards.
	Log hclog.Logger
	// Now is the clock; time.Now when nil.
	Now func() time.Time
	// Observe is called with every outcome; may be nil. It must be fast and safe for
	// concurrent use.
	Observe func(listener string, o Outcome)
	// Poll is how often to look for what other hosts wrote or left behind: 5 s when zero.
	// Kick makes the worker look at once.
	Poll time.Duration
	// Lease is for how long an item is held: 5 min when zero. Notify must take less.
	Lease time.Duration
	// Grace is how long tries that are under way may go on after Run's context ended:
	// 3 s when zero.
	Grace time.Duration
	// Parallel is how many events each listener is told of at the same time: 4 when zero.
	// Listeners have places of their own, so that one that hangs delays no other.
	Parallel int
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Observe == nil {
		o.Observe = func(string, Outcome) {}
	}
	if o.Poll == 0 {
		o.Poll = 5 * time.Second
	}
	if o.Lease == 0 {
		o.Lease = 5 * time.Minute
	}
	if o.Grace == 0 {
		o.Grace = 3 * time.Second
	}
	if o.Parallel == 0 {
		o.Parallel = 4
	}
	return o
}
