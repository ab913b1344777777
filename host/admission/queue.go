package admission

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// Options say what a [Queue] admits.
type Options struct {
	// Slots is how many there are for all clients together, and Limit the
	// configuration key that says so; no bound when zero.
	Slots int
	Limit string
	// Share is how many of them one client may hold, and ShareLimit the
	// configuration key that says so. All of them when zero: then clients take turns,
	// and one that waits in vain although it had turns meanwhile has asked too much
	// itself.
	Share      int
	ShareLimit string
	// Waiting is how many more one client may wait for at once; four times the share
	// when zero.
	Waiting int
	// Wait is how long one may wait; not at all when zero.
	Wait time.Duration
	// Refused is told of every refusal; nil for nobody.
	Refused func(*Busy)
}

// maxWaiting bounds those who wait, of all clients together.
const maxWaiting = 1024

// A Queue hands out slots to clients. It is exact: at no moment are more taken
// than there are, or more by one client than its share. It is safe for concurrent
// use.
type Queue struct {
	o     Options
	turns bool // no share of its own holds a client
	epoch time.Time

	mu      sync.Mutex
	free    int
	clients map[string]*client
	waiting []*client // those with waiters, in no order
	queued  int       // waiters of all clients
	waits   int64     // all that ever waited
	waited  time.Duration
	sweepAt int // the number of clients at which those that are idle are forgotten
}

// New returns a queue whose slots are free.
func New(o Options) *Queue {
	turns := o.Share <= 0
	if o.Slots <= 0 {
		o.Slots = math.MaxInt
	}
	if o.Share <= 0 || o.Share > o.Slots {
		o.Share = o.Slots
	}
	if o.Waiting <= 0 {
		o.Waiting = maxWaiting
		if o.Share < maxWaiting/4 {
			o.Waiting = 4 * o.Share
		}
	}
	if o.Refused == nil {
		o.Refused = func(*Busy) {}
	}
	return &Queue{o: o, turns: turns, epoch: time.Now(), free: o.Slots, clients: map[string]*client{}, sweepAt: minSweep}
}

// Enter takes a slot for a client and returns how to give it back, which must be
// done once and does nothing when repeated. Where no slot is free or the client
// holds its share, it waits; the error is a [*Busy] when that took too long or too
// many are waiting, and that of ctx when it ended first.
func (q *Queue) Enter(ctx context.Context, key string) (leave func(), err error) {
	leave, w, busy := q.enter(key)
	if w != nil {
		leave, busy, err = q.wait(ctx, w)
	}
	if busy != nil {
		q.o.Refused(busy)
		return nil, busy
	}
	return leave, err
}

// TryEnter is Enter for one who does not wait: there is no slot when leave is nil.
func (q *Queue) TryEnter(key string) (leave func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.take(q.client(key))
}

// enter returns a slot, a place in the queue, or why there is neither.
func (q *Queue) enter(key string) (leave func(), w *waiter, busy *Busy) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.client(key)
	if leave := q.take(c); leave != nil {
		return leave, nil, nil
	}
	switch {
	case q.o.Wait <= 0:
		return nil, nil, q.busy(c, c.held < q.o.Share, 0)
	case len(c.waiters) >= q.o.Waiting:
		return nil, nil, q.busy(c, false, 0)
	case q.queued >= maxWaiting:
		busy := q.busy(c, true, 0)
		busy.Full = true
		return nil, nil, busy
	}
	w = &waiter{of: c, since: q.now(), granted: make(chan struct{})}
	if len(c.waiters) == 0 {
		q.waiting = append(q.waiting, c)
	}
	c.waiters = append(c.waiters, w)
	q.queued++
	q.waits++
	return nil, w, nil
}

// take returns nil where the client has to wait. Nobody is passed over: as soon as
// a slot is free it goes to who waits for it, see serve.
func (q *Queue) take(c *client) (leave func()) {
	if q.free == 0 || c.held >= q.o.Share {
		return nil
	}
	now := q.now()
	q.free--
	c.take(now)
	return q.leaver(c, now)
}

// wait waits for the turn of w.
func (q *Queue) wait(ctx context.Context, w *waiter) (leave func(), busy *Busy, err error) {
	from := time.Now()
	timer := time.NewTimer(q.o.Wait)
	defer timer.Stop()
	select {
	case <-w.granted:
	case <-timer.C:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waited += q.now() - w.since
	c := w.of
	select {
	case <-w.granted: // perhaps at the last moment
		return q.leaver(c, w.at), nil, nil
	default:
	}
	c.remove(w)
	q.queued--
	q.settle(c)
	if err != nil {
		return nil, nil, err
	}
	byHost := c.held < q.o.Share
	if q.turns {
		byHost = !c.served(w.since)
	}
	return nil, q.busy(c, byHost, time.Since(from)), nil
}

// leaver returns the function that gives back a slot that c has had since then.
func (q *Queue) leaver(c *client, since time.Duration) func() {
	var once sync.Once
	return func() { once.Do(func() { q.giveBack(c, since) }) }
}

func (q *Queue) giveBack(c *client, since time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	c.giveBack(since, now)
	q.free++
	q.serve(now)
}

// serve gives free slots to the waiting clients that may have more, to the one
// that has used the least time first.
func (q *Queue) serve(now time.Duration) {
	for q.free > 0 {
		next := q.next(now)
		if next == nil {
			return
		}
		w := next.waiters[0]
		next.waiters = next.waiters[1:]
		q.queued--
		q.settle(next)
		q.free--
		next.take(now)
		w.at = now
		close(w.granted)
	}
}

func (q *Queue) next(now time.Duration) *client {
	var next *client
	least := math.Inf(1)
	for _, c := range q.waiting {
		if c.held >= q.o.Share {
			continue
		}
		if used := c.used(now); used < least {
			next, least = c, used
		}
	}
	return next
}

// settle takes a client without waiters from those that wait.
func (q *Queue) settle(c *client) {
	if len(c.waiters) > 0 {
		return
	}
	if i := slices.Index(q.waiting, c); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
}

func (q *Queue) busy(c *client, byHost bool, waited time.Duration) *Busy {
	b := &Busy{
		Client: c.key, ByHost: byHost, Limit: q.o.ShareLimit, Allowed: q.o.Share, Held: c.held, Waiting: len(c.waiters),
		Waited: waited, RetryAfter: max(time.Second, q.o.Wait/4),
	}
	if byHost && q.o.Limit != "" {
		b.Limit, b.Allowed = q.o.Limit, q.o.Slots
	}
	return b
}

// minSweep is how many clients are remembered in any case, and maxClients how many
// of those that hold nothing.
const (
	minSweep   = 1024
	maxClients = 32 << 10
)

// client finds or makes a client, and forgets idle ones from time to time.
func (q *Queue) client(key string) *client {
	if c := q.clients[key]; c != nil {
		return c
	}
	if len(q.clients) >= q.sweepAt {
		q.sweep()
	}
	c := &client{key: key}
	q.clients[key] = c
	return c
}

// sweep forgets idle clients, and where they are still too many, the time that
// others have used. The next time is when there are twice as many as now.
func (q *Queue) sweep() {
	now := q.now()
	maps.DeleteFunc(q.clients, func(_ string, c *client) bool { return c.idle() && c.decayed(now) < forgotten })
	if len(q.clients) >= maxClients {
		maps.DeleteFunc(q.clients, func(_ string, c *client) bool { return c.idle() })
	}
	q.sweepAt = max(minSweep, 2*len(q.clients))
}

func (q *Queue) now() time.Duration { return time.Since(q.epoch) }
