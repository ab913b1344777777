package admission

import (
	"math"
	"slices"
	"time"
)

// halfLife is how long it takes until half of the time that a client has used is
// forgotten.
const halfLife = 30 * time.Second

// forgotten is the time used, in seconds, below which a client is like a new one.
const forgotten = 0.001

// client is what a queue knows of one client. All times count from the start of
// the queue.
type client struct {
	key  string
	held int
	// begun is the sum of the moments at which the slots that are held were taken.
	begun time.Duration
	// spent is the time of slots that were given back, in seconds, as it counted at
	// the moment asOf.
	spent float64
	asOf  time.Duration
	// waiters are in the order in which they came.
	waiters []*waiter
}

// waiter is one that waits for a slot.
type waiter struct {
	of      *client
	since   time.Duration // when it came
	granted chan struct{} // closed when it has a slot
	at      time.Duration // when that was
}

// used is the time that the client has used, in seconds: what it holds now counts
// in full, what it gave back less and less.
func (c *client) used(now time.Duration) float64 {
	return c.decayed(now) + (time.Duration(c.held)*now - c.begun).Seconds()
}

func (c *client) decayed(now time.Duration) float64 {
	return c.spent * math.Exp2(-float64(now-c.asOf)/float64(halfLife))
}

func (c *client) take(now time.Duration) {
	c.held++
	c.begun += now
}

func (c *client) giveBack(since, now time.Duration) {
	c.held--
	c.begun -= since
	c.spent, c.asOf = c.decayed(now)+(now-since).Seconds(), now
}

// idle reports whether the client neither has nor wants a slot.
func (c *client) idle() bool { return c.held == 0 && len(c.waiters) == 0 }

// served reports whether the client has had a slot since then.
func (c *client) served(then time.Duration) bool { return c.held > 0 || c.spent > 0 && c.asOf > then }

func (c *client) remove(w *waiter) {
	if i := slices.Index(c.waiters, w); i >= 0 {
		c.waiters = slices.Delete(c.waiters, i, i+1)
	}
}
