package admission

import (
	"fmt"
	"time"
)

// Busy is the refusal of a [Queue].
type Busy struct { //nolint:errname // an answer: errors.As(err, &busy)
	// Client was refused.
	Client string
	// ByHost tells that the host was at its limit, rather than the client at its own.
	ByHost bool
	// Full tells that this was because too many of all clients were waiting.
	Full bool
	// Limit is the configuration key of the limit that was reached, and Allowed what
	// it is.
	Limit   string
	Allowed int
	// Held is what the client had at that moment, and Waiting what else it was
	// waiting for.
	Held, Waiting int
	// Waited is how long this one waited, zero when it was refused at once.
	Waited time.Duration
	// RetryAfter is when it makes sense to ask again.
	RetryAfter time.Duration
}

// Error says what was asked for and which limit stood in the way.
func (b *Busy) Error() string {
	asked := fmt.Sprintf("one more beside %d under way and %d waiting of this client", b.Held, b.Waiting)
	if b.Waited > 0 {
		asked += fmt.Sprintf(", after waiting for %v", b.Waited.Round(time.Millisecond))
	}
	if b.Full {
		return fmt.Sprintf("%s: %d of all clients are waiting already, which is a fixed limit", asked, maxWaiting)
	}
	whose := "one client"
	if b.ByHost {
		whose = "all clients together"
	}
	return fmt.Sprintf("%s: %s allows %s %d at once", asked, b.Limit, whose, b.Allowed)
}
