package outbox

import (
	"context"
	"errors"
	"time"
)

// Item is one row of the outbox. It holds no token, link or address but in Sealed.
type Item struct {
	// ID is the key of the row. That of an event begins with the event's own id.
	ID string
	// UserID is the user's key as text. A mail without a user is a decoy: it costs a
	// request as much as a mail, and is thrown away unsent.
	UserID string
	// Purpose is the template of a mail, or the kind of an event.
	Purpose string
	// Listener is the plugin that receives an event. It is empty for a mail.
	Listener string
	// Locale is the language tag of a mail, or empty for the default. Device names the
	// browser that a notice is about. Base is the origin that the person asked under, which
	// the builder of links must check, or empty for the public URL.
	Locale, Device, Base string
	// Sealed holds the encrypted texts of a plugin's mail. It is empty for other items.
	Sealed string
	// Created is when the row was queued, in UTC.
	Created time.Time
	// Attempt counts the leases from 1.
	Attempt int
}

// eventDigits is the length of an event's id.
const eventDigits = 32

// Event returns the id of the event, which is the same for every listener and attempt.
func (i Item) Event() string { return i.ID[:min(eventDigits, len(i.ID))] }

// Claim is a request for one item. An item without a listener is a mail.
type Claim struct {
	// Free are the listeners that may get another item, and Known are all listeners.
	// A worker for mails has one empty name in both.
	Free, Known []string
	// Now is the time, and Until is the end of the lease.
	Now, Until time.Time
	// Orphaned is the time before which an event was queued that may be leased although
	// its listener is not Known.
	Orphaned time.Time
}

// Mail reports whether the claim is for mails.
func (c Claim) Mail() bool { return len(c.Known) == 1 && c.Known[0] == "" }

// Store is the outbox in the shared database. Several hosts work on one outbox at the same
// time. All methods are safe for concurrent use, and each but Take is one short transaction.
// Renew, Retry and Bury change nothing if the item has been leased again since.
type Store interface {
	// Lease takes an item that is due and that nobody holds, holds it until the end of the
	// lease, and counts the attempt. It returns the zero Item if there is none. With nothing
	// due it only reads. Mails are leased in the order in which they are due. An event waits
	// for the user's earlier events for the same listener, and events with fewer attempts
	// are leased first.
	Lease(ctx context.Context, c Claim) (Item, error)
	// Renew holds the item until another moment, and reports whether it is still there with
	// this attempt. It may be called after the lease has ended.
	Renew(ctx context.Context, i Item, until time.Time) (bool, error)
	// Done deletes the item. A deleted item is no error.
	Done(ctx context.Context, id string) error
	// Take deletes the item in the transaction of ctx, and reports whether it was there.
	// It fails if the item has been leased again since.
	Take(ctx context.Context, i Item) (bool, error)
	// Retry ends the lease and makes the item due at next. The reason is kept for the
	// operator; it holds no secret.
	Retry(ctx context.Context, i Item, next time.Time, reason string) error
	// Bury ends the lease for good. The item is kept with its reason until the store
	// sweeps it.
	Bury(ctx context.Context, i Item, now time.Time, reason string) error
}

// Backlog counts the items of one kind.
type Backlog struct {
	// Kind is "mail" or "event".
	Kind string
	// Waiting are the items to be delivered, Dead those that were given up and are kept.
	Waiting, Dead int64
	// Oldest is the age of the oldest item that waits, 0 if none does.
	Oldest time.Duration
}

// Deliverer delivers the items of one kind. All methods are safe for concurrent use.
type Deliverer interface {
	// Listeners returns the listeners that receive items now. A deliverer of mails returns
	// one empty name.
	Listeners() []string
	// Deliver makes one attempt, bounded in time. It returns [ErrUnwanted] for a mail that
	// is to be deleted, [ErrRejected] for one that another attempt does not help, and any
	// other error for an attempt to be repeated. The text of the error is logged and stored,
	// so it holds no secret. The context ends if the host stops, or if the lease is lost.
	Deliver(ctx context.Context, i Item) error
	// Pause returns the time until the next attempt after a failed one, or 0 to give the
	// item up.
	Pause(i Item, now time.Time) time.Duration
	// Observe counts the outcome of an attempt. It is fast.
	Observe(i Item, o Outcome)
}

// ErrUnwanted is returned by a [Deliverer] for a mail that nobody wants any more.
var ErrUnwanted = errors.New("no longer wanted")

// errLost is the cause of an attempt that ended because another host may make one by now.
var errLost = errors.New("the lease of the item was lost")

// ErrRejected is returned by a [Deliverer] for an item that was refused for good.
var ErrRejected = errors.New("rejected for good")

// Outcome is the result of one attempt.
type Outcome int

// The outcomes. Every leased item has exactly one.
const (
	Delivered Outcome = iota
	Retried           // failed, due again later
	Returned          // due again at once, for another host: this one stops
	Dead              // given up
	Unwanted          // a mail that is deleted unsent
)

// LongestPause is the longest time between two attempts.
const LongestPause = 15 * time.Minute

// Backoff returns the time to wait after so many failed attempts: first, doubled after
// each up to [LongestPause].
func Backoff(first time.Duration, attempt int) time.Duration {
	if shift := max(attempt-1, 0); shift < 10 {
		return min(first<<shift, LongestPause)
	}
	return LongestPause
}
