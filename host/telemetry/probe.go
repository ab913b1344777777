package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// How often a [Probe] looks, how long one look may take, and how long a caller
// waits for the first.
const (
	probeEvery = time.Second
	probeLimit = 3 * time.Second
	firstProbe = 900 * time.Millisecond
)

// ErrNoAnswer is the result of a look that has not come to an end.
var ErrNoAnswer = errors.New("it does not answer")

// A Probe looks every second in the background whether something works, so that
// [Probe.Err] never waits for it. It is safe for concurrent use.
type Probe struct {
	name  string
	look  func(context.Context) error
	log   hclog.Logger
	first chan struct{} // closed after the first look

	mu     sync.Mutex
	err    error
	looked time.Time
}

// NewProbe returns a probe that looks with the given function once [Probe.Run] is
// called. The name is for the log.
func NewProbe(name string, look func(context.Context) error, log hclog.Logger) *Probe {
	return &Probe{name: name, look: look, log: log, first: make(chan struct{})}
}

// Run looks until ctx ends. It logs when the result changes.
func (p *Probe) Run(ctx context.Context) {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		p.once(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (p *Probe) once(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	err := p.look(limited)
	if ctx.Err() != nil {
		return // the host stops
	}
	begun, before := p.note(err)
	switch {
	case err != nil && (before == nil || before.Error() != err.Error()):
		p.log.Warn("not ready", "check", p.name, "cause", err)
	case err == nil && before != nil:
		p.log.Info("ready again", "check", p.name)
	}
	if !begun {
		close(p.first)
	}
}

// note keeps a result and returns the one before.
func (p *Probe) note(err error) (begun bool, before error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, begun = p.err, !p.looked.IsZero()
	p.err, p.looked = err, time.Now()
	return begun, before
}

// Err returns the result of the last probe, nil when all is well, and
// [ErrNoAnswer] when that probe is too old. It waits, for up to 0.9 s, only until
// the first probe has ended.
func (p *Probe) Err(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, firstProbe)
	defer cancel()
	select {
	case <-p.first:
	case <-ctx.Done():
		return ErrNoAnswer
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.looked) > probeEvery+probeLimit+firstProbe {
		return ErrNoAnswer
	}
	return p.err
}
