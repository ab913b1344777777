package events

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// How long an event is tried, and how much longer one waits for a listener that no host
// has before it is given up.
const (
	tried    = 24 * time.Hour
	orphaned = time.Hour
)

// A Worker tells listeners what is in the outbox. Any number of workers, in any number of
// hosts, may share one.
type Worker struct {
	o     Options
	kick  chan struct{}
	blind bool // the outbox could not be read; for the goroutine of Run alone

	mu    sync.Mutex
	under map[string]int // events under way by listener
}

// NewWorker returns a worker that works once Run is called.
func NewWorker(o Options) *Worker {
	o = o.withDefaults()
	return &Worker{o: o, kick: make(chan struct{}, 1), under: map[string]int{}}
}

// Kick makes the worker look into the outbox at once. It never blocks.
func (w *Worker) Kick() {
	select {
	case w.kick <- struct{}{}:
	default: // a look is pending already
	}
}

// Run tells listeners until ctx ends. Then it leases nothing more, gives what is under way
// the grace, and returns. It is called once.
func (w *Worker) Run(ctx context.Context) {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var under sync.WaitGroup
	defer func() {
		defer time.AfterFunc(w.o.Grace, stop).Stop()
		under.Wait()
	}()
	swept := time.Time{}
	for ctx.Err() == nil {
		if now := w.o.Now(); now.Sub(swept) >= time.Minute {
			w.giveUpOrphans(ctx, now)
			swept = now
		}
		item, ok := w.lease(ctx)
		if !ok {
			w.idle(ctx)
			continue
		}
		w.count(item.Listener, 1)
		under.Go(func() {
			w.work(working, item)
			w.count(item.Listener, -1)
			w.Kick() // for its place, and because what this one held back may be due
		})
	}
}

func (w *Worker) count(listener string, by int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.under[listener] += by; w.under[listener] == 0 {
		delete(w.under, listener)
	}
}

// free returns the listeners that may be told of one more event.
func (w *Worker) free() []string {
	listeners := w.o.Listeners()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(listeners), func(name string) bool { return w.under[name] >= w.o.Parallel })
}

func (w *Worker) idle(ctx context.Context) {
	timer := time.NewTimer(w.o.Poll)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-w.kick:
	case <-timer.C:
	}
}

func (w *Worker) lease(ctx context.Context) (Item, bool) {
	listeners := w.free()
	if len(listeners) == 0 || ctx.Err() != nil {
		return Item{}, false
	}
	now := w.o.Now()
	item, err := w.o.Outbox.LeaseEvent(ctx, listeners, now, now.Add(w.o.Lease))
	if ctx.Err() == nil {
		w.outboxRead(err)
	}
	return item, err == nil && item.Row != ""
}

// outboxRead logs when the outbox cannot be read, and when it can be again.
func (w *Worker) outboxRead(err error) {
	switch {
	case err != nil && !w.blind:
		w.o.Log.Error("listeners wait: the outbox cannot be read", "error", err)
	case err == nil && w.blind:
		w.o.Log.Info("the outbox can be read again")
	}
	w.blind = err != nil
}

// work brings one try to its outcome.
func (w *Worker) work(ctx context.Context, item Item) {
	log := w.o.Log.With("listener", item.Listener, "event", item.ID, "kind", item.Kind, "user", item.UserID, "attempt", item.Attempt)
	err := w.tell(ctx, item)
	reason := ""
	if err != nil {
		reason = words.Clean(err.Error(), 500)
	}
	// The outcome is written down even when the host is stopping.
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	now, outcome := w.o.Now(), Told
	switch {
	case err == nil:
		err = w.o.Outbox.EventDone(done, item.Row)
	case ctx.Err() != nil:
		outcome, err = Returned, w.o.Outbox.RetryEvent(done, item, now, "")
	case now.Sub(item.At) >= tried:
		outcome = Dropped
		log.Error("a listener was not told of an event within a day, which is dropped: mend the cause", "error", reason)
		err = w.o.Outbox.BuryEvent(done, item, now, reason)
	default:
		outcome = Retried
		next := now.Add(Pause(item.Attempt))
		log.Warn("a listener was not told of an event, to be repeated", "error", reason, "next", next.UTC().Format(time.RFC3339))
		err = w.o.Outbox.RetryEvent(done, item, next, reason)
		time.AfterFunc(next.Sub(now), w.Kick)
	}
	if err != nil {
		log.Error("what became of an event is not noted, another try will follow", "outcome", outcome, "error", err)
	}
	w.o.Observe(item.Listener, outcome)
}

func (w *Worker) tell(ctx context.Context, item Item) error {
	person, err := w.o.Person(ctx, item.UserID)
	if err != nil {
		return err
	}
	return w.o.Notify(ctx, item.Listener, pluginsdk.Event{ID: item.ID, Kind: item.Kind, User: person, At: item.At})
}

// giveUpOrphans drops the events of listeners that are in no host's configuration any
// more, or never came back.
func (w *Worker) giveUpOrphans(ctx context.Context, now time.Time) {
	items, err := w.o.Outbox.OrphanedEvents(ctx, w.o.Listeners(), now, now.Add(-tried-orphaned))
	if err != nil {
		return // a lease that fails says so
	}
	for _, item := range items {
		const reason = "no host has this listener"
		if err := w.o.Outbox.BuryEvent(ctx, item, now, reason); err != nil {
			return
		}
		w.o.Log.Error("an event is dropped: no host has its listener", "listener", item.Listener, "event", item.ID, "kind", item.Kind, "user", item.UserID)
		w.o.Observe(item.Listener, Dropped)
	}
}

// Pause returns how long to wait after so many failed tries: 1 s, doubled every time up to
// 15 min.
func Pause(attempt int) time.Duration {
	const first, most = time.Second, 15 * time.Minute
	if shift := max(attempt-1, 0); shift < 10 {
		return min(first<<shift, most)
	}
	return most
}
