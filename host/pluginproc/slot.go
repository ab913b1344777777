package pluginproc

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc/internal/proc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A instance is a process that has, or had, a slot. The slot's lock guards it.
type instance struct {
	*proc.Process
	spec     Spec
	calls    int
	answered bool          // it worked once
	broken   bool          // the connection broke: it gets no calls until it answers a health check
	draining bool          // it gets no further calls
	idle     chan struct{} // closed when draining and without calls
}

func newInstance(spec Spec, p *proc.Process) *instance {
	return &instance{Process: p, spec: spec, idle: make(chan struct{})}
}

// drain is called with the slot's lock held.
func (t *instance) drain() {
	if !t.draining {
		t.draining = true
		if t.calls == 0 {
			close(t.idle)
		}
	}
}

// A slot is the place of one plugin: at most one process answers calls, while
// others may be on their way in or out.
type slot struct {
	launcher *proc.Launcher
	options  Options
	log      hclog.Logger

	mu       sync.Mutex
	spec     Spec
	image    *proc.Image
	current  *instance
	changed  chan struct{} // closed and renewed when current, next or stopping change
	version  int           // counts reloads, so that a late start of an old spec is seen
	calls    int           // under way or waiting
	stopping bool
	state    State
	about    pluginsdk.Description
	lastErr  string
	restarts int
	strikes  int       // processes lost in a row
	next     time.Time // when the next start is due, while there is no process

	check   chan struct{} // asks for a health check now
	leaving sync.WaitGroup
}

func (m *Manager) newSlot(s Spec, im *proc.Image) *slot {
	return &slot{
		launcher: m.launcher, options: m.options, log: m.log.With("plugin", s.Name), spec: s, image: im,
		changed: make(chan struct{}), check: make(chan struct{}, 1), state: StateStarting,
	}
}

// notify is called with the lock held.
func (s *slot) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// install makes p the process that answers calls, unless the slot has another
// version by now or is stopping. The old process finishes its calls.
func (s *slot) install(p *instance, version int) bool {
	s.mu.Lock()
	if s.stopping || s.version != version {
		s.mu.Unlock()
		p.Stop(time.Second)
		return false
	}
	old := s.current
	s.current, s.state, s.about, s.next = p, StateReady, p.About, time.Time{}
	s.finish(old)
	s.notify()
	s.mu.Unlock()
	s.log.Info("ready", "pid", p.PID(), "version", proc.Clean(p.About.Version, 64), "sha256", p.Sum()[:12])
	s.options.Metrics.Up(p.spec.Name, true)
	return true
}

// swap replaces the spec, with a process that is ready.
func (s *slot) swap(spec Spec, one launched) bool {
	s.mu.Lock()
	old := s.image
	s.spec, s.image, s.strikes, s.lastErr = spec, one.image, 0, ""
	s.version++
	version := s.version
	s.mu.Unlock()
	old.Release()
	return s.install(newInstance(spec, one.process), version)
}

// finish lets a process finish its calls and stops it. It is called with the
// lock held.
func (s *slot) finish(p *instance) {
	if p == nil {
		return
	}
	p.drain()
	limit := p.spec.Timeout
	s.leaving.Go(func() {
		select {
		case <-p.idle:
		case <-p.Exited():
		case <-time.After(limit):
		}
		p.Stop(stopGrace)
	})
}

// run keeps one process running until ctx ends.
func (s *slot) run(ctx context.Context) {
	ticker := time.NewTicker(s.options.HealthInterval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		s.mu.Lock()
		p, changed := s.current, s.changed
		s.mu.Unlock()
		if p == nil {
			s.restart(ctx)
			continue
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-p.Exited():
			s.markFailed(p, p.ExitSummary())
		case <-ticker.C:
			s.examine(ctx, p)
		case <-s.check:
			s.examine(ctx, p)
		}
	}
}

// examine gives up a process that fails two health checks in a row.
func (s *slot) examine(ctx context.Context, p *instance) {
	limit := s.options.HealthInterval / 2
	var err error
	for attempt := range 2 {
		if attempt > 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(limit / 5):
			}
		}
		ping, cancel := context.WithTimeout(ctx, limit)
		err = p.Ping(ping)
		cancel()
		if err == nil {
			s.markHealthy(p)
			return
		}
		if ctx.Err() != nil {
			return
		}
	}
	select {
	case <-p.Exited():
		s.markFailed(p, p.ExitSummary())
	default:
		s.markFailed(p, "it does not answer health checks: "+proc.Clean(err.Error(), 200))
	}
}

// markHealthy gives calls to a process again.
func (s *slot) markHealthy(p *instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.broken {
		p.broken = false
		s.notify()
	}
}

// markFailed takes a process that is dead, or as good as dead, out of service.
func (s *slot) markFailed(p *instance, reason string) {
	s.mu.Lock()
	if s.current != p {
		s.mu.Unlock()
		return
	}
	lived := s.options.Now().Sub(p.Started)
	switch {
	case lived > time.Minute:
		s.strikes = 0
	case p.answered:
		s.strikes = min(s.strikes, 1) // it works, most of the time: do not keep people waiting
	}
	s.current, s.state = nil, StateDown
	delay := s.postpone(reason)
	s.leaving.Go(func() {
		p.Kill()
		p.Stop(time.Second)
	})
	s.mu.Unlock()
	s.log.Error("lost, will be started again", "pid", p.PID(), "reason", reason, "in", delay.Round(time.Millisecond).String())
	s.options.Metrics.Up(p.spec.Name, false)
}

// postpone notes a failure and says when to try again: at once, then after
// 0.1 s, doubled with each failure in a row up to 30 s, give or take a fifth. It
// is called with the lock held.
func (s *slot) postpone(reason string) time.Duration {
	var delay time.Duration
	if s.strikes > 0 {
		delay = min(30*time.Second, 100*time.Millisecond<<min(s.strikes-1, 10))
		delay += time.Duration(float64(delay) * (rand.Float64() - 0.5) * 0.4)
	}
	s.strikes++
	s.lastErr, s.next = reason, time.Now().Add(delay)
	s.notify()
	return delay
}

// restart waits until the next start is due and starts a process.
func (s *slot) restart(ctx context.Context) {
	s.mu.Lock()
	next, changed, version := s.next, s.changed, s.version
	s.mu.Unlock()
	timer := time.NewTimer(time.Until(next))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return
	case <-changed:
		return
	case <-timer.C:
	}
	s.mu.Lock()
	spec, im := s.spec, s.image.Retain()
	s.state = StateStarting
	s.mu.Unlock()
	defer im.Release()
	s.options.Metrics.Restart(spec.Name)
	ctx, cancel := s.whileVersion(ctx, version)
	defer cancel()
	p, err := s.relaunch(ctx, spec, im)
	if ctx.Err() != nil && err != nil {
		return
	}
	if err == nil {
		s.mu.Lock()
		s.restarts++
		s.mu.Unlock()
		s.install(newInstance(spec, p), version)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version == version {
		s.state = StateDown
		delay := s.postpone(err.Error())
		s.log.Error("cannot be started again", "error", err, "in", delay.Round(time.Millisecond).String())
	}
}

// whileVersion returns a context that ends when the slot gets another
// version, so that an old one does not keep the supervisor from the new one.
func (s *slot) whileVersion(ctx context.Context, version int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		for {
			s.mu.Lock()
			changed, same := s.changed, s.version == version
			s.mu.Unlock()
			if !same {
				cancel()
			}
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
		}
	}()
	return ctx, cancel
}

// relaunch starts the program once more. One that is executed in place is
// checked again first, as it may have been exchanged since.
func (s *slot) relaunch(ctx context.Context, spec Spec, im *proc.Image) (*proc.Process, error) {
	if err := im.Recheck(spec.program()); err != nil {
		return nil, err
	}
	return s.launcher.Launch(ctx, spec.program(), im, spec.setup())
}

// close lets calls under way finish as long as ctx allows, and stops the
// process. The supervisor has ended.
func (s *slot) close(ctx context.Context) {
	s.mu.Lock()
	p := s.current
	s.current, s.state, s.stopping = nil, StateStopped, true
	s.notify()
	if p != nil {
		p.drain()
	}
	s.mu.Unlock()
	if p != nil {
		select {
		case <-p.idle:
		case <-p.Exited():
		case <-ctx.Done():
		}
		p.Stop(stopGrace)
		s.options.Metrics.Up(p.spec.Name, false)
	}
	s.leaving.Wait()
	s.image.Release()
}

// status tells how the plugin fares.
func (s *slot) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Status{
		Name: s.spec.Name, Version: proc.Clean(s.about.Version, 64), Command: s.spec.Command, Roles: s.spec.Roles,
		State: s.state, Restarts: s.restarts, LastError: s.lastErr, SHA256: s.image.Sum,
	}
	if p := s.current; p != nil {
		out.PID = p.PID()
		out.Uptime = s.options.Now().Sub(p.Started)
	}
	return out
}
