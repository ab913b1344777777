package admission

import (
	"math"
	"time"
)

// State is what happens in a [Queue]: how many hold one of its slots, of which there are
// none to count where their number is not bounded (0), how many wait, how many had to
// wait so far, and the time that those have waited together whose wait is over.
type State struct {
	Name                 string
	Slots, Held, Waiting int
	Waits                int64
	Waited               time.Duration
}

// State returns the state of the queue, under a name.
func (q *Queue) State(name string) State {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := State{Name: name, Slots: q.o.Slots, Held: q.o.Slots - q.free, Waiting: q.queued, Waits: q.waits, Waited: q.waited}
	if s.Slots == math.MaxInt {
		s.Slots = 0
	}
	return s
}
