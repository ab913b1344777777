package pluginproc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/pluginsdk"
)

// A slot is the place of one plugin: at most one process answers calls, while
// others may be on their way in or out.
type slot struct {
	launcher *launcher
	log      hclog.Logger

	mu       sync.Mutex
	spec     Spec
	image    *image
	current  *process
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

func (l *launcher) newSlot(s Spec, im *image) *slot {
	return &slot{
		launcher: l, log: l.log.With("plugin", s.Name), spec: s, image: im,
		changed: make(chan struct{}), check: make(chan struct{}, 1), state: StateStarting,
	}
}

// notify is called with the lock held.
func (s *slot) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// install makes p the process that answers calls, unless the slot has gone over
// to another version or is stopping. The old process finishes its calls.
func (s *slot) install(p *process, version int) bool {
	s.mu.Lock()
	if s.stopping || s.version != version {
		s.mu.Unlock()
		p.stop(time.Second)
		return false
	}
	old := s.current
	s.current, s.state, s.about, s.next = p, StateReady, p.about, time.Time{}
	s.retire(old)
	s.notify()
	s.mu.Unlock()
	s.log.Info("ready", "pid", p.runner.ID(), "version", clean(p.about.Version, 64, false), "sha256", p.image.sum[:12])
	s.launcher.options.Metrics.Up(p.spec.Name, true)
	return true
}

// swap goes over to another spec, with a process that is ready.
func (s *slot) swap(spec Spec, im *image, p *process) bool {
	s.mu.Lock()
	old := s.image
	s.spec, s.image, s.strikes, s.lastErr = spec, im, 0, ""
	s.version++
	version := s.version
	s.mu.Unlock()
	old.release()
	return s.install(p, version)
}

// retire lets a process finish its calls and stops it. It is called with the
// lock held.
func (s *slot) retire(p *process) {
	if p == nil {
		return
	}
	p.draining = true
	if p.calls == 0 {
		close(p.idle)
	}
	limit := p.spec.Timeout
	s.leaving.Go(func() {
		select {
		case <-p.idle:
		case <-p.runner.exited:
		case <-time.After(limit):
		}
		p.stop(3 * time.Second)
	})
}

// supervise keeps one process running until ctx ends.
func (s *slot) supervise(ctx context.Context) {
	ticker := time.NewTicker(s.launcher.options.HealthInterval)
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
		case <-p.runner.exited:
			s.lose(p, p.obituary())
		case <-ticker.C:
			s.examine(ctx, p)
		case <-s.check:
			s.examine(ctx, p)
		}
	}
}

func (p *process) obituary() string {
	text := "it ended by itself"
	if p.runner.reason != nil {
		text = "it ended: " + p.runner.reason.Error()
	}
	if tail := p.runner.out.summary(); tail != "" {
		text += "; it printed: " + tail
	}
	return text
}

// examine gives up a process that fails two health checks in a row.
func (s *slot) examine(ctx context.Context, p *process) {
	limit := s.launcher.options.HealthInterval / 2
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
		err = p.ping(ping)
		cancel()
		if err == nil || ctx.Err() != nil {
			return
		}
	}
	select {
	case <-p.runner.exited:
		s.lose(p, p.obituary())
	default:
		s.lose(p, "it does not answer health checks: "+clean(firstLine(err.Error()), 200, false))
	}
}

// lose takes a process that is dead, or as good as dead, out of service.
func (s *slot) lose(p *process, reason string) {
	s.mu.Lock()
	if s.current != p {
		s.mu.Unlock()
		return
	}
	lived := s.launcher.options.Now().Sub(p.started)
	switch {
	case lived > time.Minute:
		s.strikes = 0
	case p.answered:
		s.strikes = min(s.strikes, 3) // it works, most of the time: do not keep people waiting
	}
	s.current, s.state = nil, StateDown
	delay := s.postpone(reason)
	s.leaving.Go(func() {
		_ = p.runner.Kill(context.Background()) // stop says so when it cannot be killed
		p.stop(time.Second)
	})
	s.mu.Unlock()
	s.log.Error("lost, will be started again", "pid", p.runner.ID(), "reason", reason, "in", delay.Round(time.Millisecond).String())
	s.launcher.options.Metrics.Up(p.spec.Name, false)
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
	spec, im := s.spec, s.image.retain()
	s.state = StateStarting
	s.mu.Unlock()
	defer im.release()
	s.launcher.options.Metrics.Restart(spec.Name)
	p, err := s.launcher.relaunch(ctx, spec, im)
	if ctx.Err() != nil && err != nil {
		return
	}
	if err == nil {
		s.mu.Lock()
		s.restarts++
		s.mu.Unlock()
		s.install(p, version)
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

// relaunch starts the program once more. One that is executed in place is
// checked again first, as it may have been exchanged since.
func (l *launcher) relaunch(ctx context.Context, s Spec, im *image) (*process, error) {
	if err := im.recheck(s); err != nil {
		return nil, err
	}
	return l.launch(ctx, s, im)
}

// close lets calls under way finish as long as ctx allows, and stops the
// process. The supervisor has ended.
func (s *slot) close(ctx context.Context) {
	s.mu.Lock()
	p := s.current
	s.current, s.state, s.stopping = nil, StateStopped, true
	s.notify()
	if p != nil && !p.draining {
		p.draining = true
		if p.calls == 0 {
			close(p.idle)
		}
	}
	s.mu.Unlock()
	if p != nil {
		select {
		case <-p.idle:
		case <-p.runner.exited:
		case <-ctx.Done():
		}
		p.stop(3 * time.Second)
		s.launcher.options.Metrics.Up(p.spec.Name, false)
	}
	s.leaving.Wait()
	s.image.release()
}

// status tells how the plugin fares.
func (s *slot) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Status{
		Name: s.spec.Name, Version: clean(s.about.Version, 64, false), Command: s.spec.Command, Roles: s.spec.Roles,
		State: s.state, Restarts: s.restarts, LastError: s.lastErr, SHA256: s.image.sum,
	}
	if p := s.current; p != nil {
		out.PID = p.runner.pid
		out.Uptime = s.launcher.options.Now().Sub(p.started)
	}
	return out
}

// ready returns nil when a process answers calls.
func (s *slot) ready() error {
	st := s.status()
	if st.State == StateReady {
		return nil
	}
	if st.LastError == "" {
		return fmt.Errorf("plugin %q is %s", st.Name, st.State)
	}
	return fmt.Errorf("plugin %q is %s: %s", st.Name, st.State, st.LastError)
}
