package mail

import (
	"math/rand/v2"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Purposes are the mails that there are.
func Purposes() []string {
	return []string{PasswordReset, PasswordChanged, TokenAdded, ManyFailures}
}

// Outcomes are what an attempt may come to, see [Outcome].
func Outcomes() []string {
	return []string{string(Sent), string(Retried), string(Returned), string(Dropped), string(Dead)}
}

// Outcome is what became of one attempt to send.
type Outcome string

// The outcomes. Every leased item has exactly one.
const (
	Sent     Outcome = "sent"     // handed over to the transport
	Retried  Outcome = "retried"  // failed, due again later
	Returned Outcome = "returned" // due again at once, for another host: this one stops
	Dropped  Outcome = "dropped"  // not wanted any more, or a decoy
	Dead     Outcome = "dead"     // given up
)

// Options tell a worker what to work with. Config, Outbox and Resolve are needed.
type Options struct {
	Config  Config
	Outbox  Outbox
	Resolve Resolve
	// App is the application's name and Host that of its public address, as the
	// mails show them. An empty App is the display name of Config.From, and
	// "Vestibule" where that has none.
	App, Host string
	// Sender replaces the transport of Config when not nil.
	Sender Sender
	// Log receives what happens; nil discards.
	Log hclog.Logger
	// Now is the clock; time.Now when nil.
	Now func() time.Time
	// Observe is called with every outcome, for counters; may be nil. It must
	// be fast and safe for concurrent use.
	Observe func(purpose string, o Outcome)
	// Poll is how often to look for what other hosts wrote or left behind: 5 s
	// when zero. Kick makes the worker look at once.
	Poll time.Duration
	// SendTimeout bounds one attempt: 30 s when zero. An item is leased for twice
	// that and a minute.
	SendTimeout time.Duration
	// Grace is how long attempts that are under way may go on after Run's context
	// ended: 3 s when zero.
	Grace time.Duration
	// Attempts is after how many failures an item is given up: 10 when zero, which
	// is after about an hour.
	Attempts int
	// Parallel is how many mails are sent at the same time: 2 when zero.
	Parallel int
	// Jitter returns a number in [0, 1) that spreads retries; random when nil.
	Jitter func() float64
}

func (o Options) withDefaults() Options {
	if o.App == "" {
		o.App = o.Config.displayName()
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Observe == nil {
		o.Observe = func(string, Outcome) {}
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	orDuration(&o.Poll, 5*time.Second)
	orDuration(&o.SendTimeout, 30*time.Second)
	orDuration(&o.Grace, 3*time.Second)
	if o.Attempts == 0 {
		o.Attempts = 10
	}
	if o.Parallel == 0 {
		o.Parallel = 2
	}
	return o
}

func orDuration(d *time.Duration, otherwise time.Duration) {
	if *d == 0 {
		*d = otherwise
	}
}
