package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
)

const (
	// poll is how often a worker looks for rows that other hosts wrote or left behind.
	poll = 5 * time.Second
	// grace is how long deliveries go on after the host began to stop.
	grace = 3 * time.Second
	// noting is how long a worker tries to write an outcome down: the database may be away
	// for a while. leasing bounds one lease, and noting once the grace is over.
	noting, leasing = 90 * time.Second, 30 * time.Second
	// maxReason is the longest reason in a row, in bytes.
	maxReason = 500
)

// Options configure a worker. Store and Log are needed.
type Options struct {
	Store Store
	Log   hclog.Logger
	// Now is the clock.
	Now func() time.Time
	// Lease is how long an item is held. The worker renews it in quarters while an attempt
	// is under way, so that an attempt may take longer, and the item of a host that was
	// killed waits no longer.
	Lease time.Duration
	// Parallel is how many items are delivered to each listener at the same time. A
	// listener that hangs delays no other.
	Parallel int
	// Orphaned is the age at which an event is leased that is for no known listener.
	Orphaned time.Duration
}

// Worker delivers the items of the outbox. Any number of workers, in any number of hosts,
// may share one outbox.
type Worker struct {
	d     Deliverer
	o     Options
	kick  chan struct{}
	blind bool // the outbox could not be read; for the goroutine of Run alone

	mu    sync.Mutex
	under map[string]int // items under way by listener
}

// New returns a worker that works once Run is called.
func New(d Deliverer, o Options) *Worker {
	return &Worker{d: d, o: o, kick: make(chan struct{}, 1), under: map[string]int{}}
}

// Kick makes the worker look into the outbox at once and a few times more within the next
// seconds, so it may be called before the transaction that writes the item has committed.
// It never blocks.
func (w *Worker) Kick() {
	select {
	case w.kick <- struct{}{}:
	default: // a look is pending already
	}
}

// Run delivers items until ctx ends. Then it leases nothing more, waits for deliveries
// under way, cancels them after 3 s, and gives their items back. It is called once.
func (w *Worker) Run(ctx context.Context) {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var under sync.WaitGroup
	var soon []time.Duration
	for ctx.Err() == nil {
		item, ok := w.lease(ctx)
		if !ok {
			soon = w.idle(ctx, soon)
			continue
		}
		w.count(item.Listener, 1)
		under.Go(func() {
			w.work(working, item)
			w.count(item.Listener, -1)
			w.Kick() // the slot is free, and an event that waited for this one may be due
		})
	}
	defer time.AfterFunc(grace, stop).Stop()
	under.Wait()
}

func (w *Worker) count(listener string, by int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.under[listener] += by
}

// busy reports whether a listener may get no other item now.
func (w *Worker) busy(listener string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.under[listener] >= w.o.Parallel
}

// idle waits for a kick, for the first of the moments in soon, or, if soon is empty, for
// the next poll. It returns the moments that remain. After a kick it looks a few times
// more, since the transaction may not have committed.
func (w *Worker) idle(ctx context.Context, soon []time.Duration) []time.Duration {
	wait := poll
	if len(soon) > 0 {
		wait, soon = soon[0], soon[1:]
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-w.kick:
		return []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second}
	case <-timer.C:
	}
	return soon
}

func (w *Worker) lease(ctx context.Context) (Item, bool) {
	known := w.d.Listeners()
	free := slices.DeleteFunc(slices.Clone(known), w.busy)
	if len(free) == 0 && len(known) > 0 {
		return Item{}, false
	}
	now := w.o.Now()
	// A canceled statement might have taken an item that nobody knows of then.
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), leasing)
	defer cancel()
	item, err := w.o.Store.Lease(limited, Claim{
		Free: free, Known: known, Now: now, Until: now.Add(w.o.Lease), Orphaned: now.Add(-w.o.Orphaned),
	})
	if err != nil && ctx.Err() != nil {
		return Item{}, false // the host is stopping
	}
	switch {
	case err != nil && !w.blind:
		w.o.Log.Error("the outbox cannot be read, and everything in it waits", "error", err)
	case err == nil && w.blind:
		w.o.Log.Info("the outbox can be read again")
	}
	w.blind = err != nil
	return item, err == nil && item.ID != ""
}

// work makes one attempt and writes its outcome down.
func (w *Worker) work(ctx context.Context, item Item) {
	log := w.o.Log.With("purpose", item.Purpose, "user", item.UserID, "attempt", item.Attempt)
	if item.Listener != "" {
		log = log.With("listener", item.Listener, "event", item.Event())
	}
	outcome, reason, pause := Delivered, "", time.Duration(0)
	err := w.deliver(ctx, item)
	now := w.o.Now()
	if err != nil {
		outcome, reason, pause = Retried, words.Clean(err.Error(), maxReason), w.d.Pause(item, now)
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		outcome, pause = Returned, 0
		log.Info("not delivered and given back, because the host stops")
	case errors.Is(err, ErrUnwanted):
		outcome = Unwanted
	case errors.Is(err, ErrRejected) || pause == 0:
		outcome = Dead
		log.Error("not delivered and given up: mend the cause", "error", reason)
	default:
		log.Warn("not delivered, to be repeated", "error", reason, "next", now.Add(pause).UTC().Format(time.RFC3339))
		time.AfterFunc(pause, w.Kick)
	}
	if err := w.note(ctx, item, outcome, now, pause, reason); err != nil {
		log.Error("outcome not noted, another attempt will follow", "error", err)
	}
	w.d.Observe(item, outcome)
}

// deliver makes one attempt, and holds the item meanwhile. It ends the attempt if that fails
// until the lease ends, because another host makes one then.
func (w *Worker) deliver(ctx context.Context, item Item) error {
	ctx, end := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { w.hold(ctx, item, end) })
	err := w.d.Deliver(ctx, item)
	end(nil)
	renewing.Wait() // a late renewal would outlive the outcome
	if err != nil && errors.Is(context.Cause(ctx), errLost) {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return err
}

// hold renews a lease until ctx ends, and calls lost before the lease does.
func (w *Worker) hold(ctx context.Context, item Item, lost context.CancelCauseFunc) {
	step := w.o.Lease / 4
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	for renewed := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		begin := time.Now()
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), step)
		held, err := w.o.Store.Renew(limited, item, w.o.Now().Add(w.o.Lease))
		cancel()
		switch {
		case err == nil && held:
			renewed = begin
		case err == nil, time.Since(renewed) >= w.o.Lease-step:
			lost(errLost)
			return
		}
	}
}

// note writes an outcome down, and repeats that while the database is away: until the
// lease ends nobody else takes the item, and afterwards somebody delivers it twice.
func (w *Worker) note(ctx context.Context, item Item, outcome Outcome, now time.Time, pause time.Duration, reason string) error {
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), noting)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(leasing, cancel) })()
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		var err error
		switch outcome {
		case Delivered, Unwanted:
			err = w.o.Store.Done(done, item.ID)
		case Dead:
			err = w.o.Store.Bury(done, item, now, reason)
		default:
			err = w.o.Store.Retry(done, item, now.Add(pause), reason)
		}
		if err == nil {
			return nil
		}
		select {
		case <-done.Done():
			return err
		case <-time.After(wait):
		}
	}
}
