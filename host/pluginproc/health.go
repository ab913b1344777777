package pluginproc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc/internal/proc"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
)

// probation is how long a plugin counts as late when no call says otherwise: long
// enough for a balancer to notice, and no longer, because without calls it could not
// show that it works again.
const probation = 30 * time.Second

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
		case <-p.Dead():
			s.markFailed(p, p.ExitSummary())
		case <-ticker.C:
			s.examine(ctx, p)
		case <-s.check:
			s.examine(ctx, p)
		}
	}
}

// maxLate is how many calls in a row may run out of time before the process is
// replaced, although it answers health checks: its calls may be deadlocked.
const maxLate = 3

// examine gives up a process that fails two health checks in a row, or whose calls
// run out of time.
func (s *slot) examine(ctx context.Context, p *instance) {
	if s.isLate(p) {
		s.markFailed(p, fmt.Sprintf("%d calls in a row ran out of time (timeout = %s): find out what it waits for", maxLate, p.spec.Timeout))
		return
	}
	limit := s.options.HealthInterval / 2
	err := s.ping(ctx, p, limit)
	if err != nil {
		select {
		case <-p.Dead(): // which is noticed a moment after the connection broke
		case <-ctx.Done():
		case <-time.After(limit / 5):
			err = s.ping(ctx, p, limit)
		}
	}
	select {
	case <-ctx.Done():
	case <-p.Dead():
		s.markFailed(p, p.ExitSummary())
	default:
		if err != nil {
			s.markFailed(p, "it does not answer health checks: "+words.Clean(err.Error(), 200))
			return
		}
		s.markHealthy(p)
	}
}

// ping is one health check.
func (s *slot) ping(ctx context.Context, p *instance, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return p.ask(ctx, func(ctx context.Context, p *instance) error { return p.Ping(ctx) })
}

// isLate tells whether so many calls ran out of time that the process is to be
// replaced. The plugin counts as late then until a call is answered, or for a while
// in which none ran out of time.
func (s *slot) isLate(p *instance) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.late < maxLate {
		return false
	}
	s.lateUntil = s.options.Now().Add(probation)
	return true
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

// maxDeaths is the most strikes that the deaths of processes which had answered leave. With
// more of them processes could not be started, or ended before they answered anybody.
const maxDeaths = 2

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
		s.strikes = min(s.strikes, maxDeaths-1) // it works, most of the time: do not keep people waiting
	}
	s.current, s.state = nil, StateDown
	delay := s.postpone(reason)
	s.leaving.Go(func() {
		p.Kill()
		p.Stop(time.Second)
	})
	s.mu.Unlock()
	s.log.Error("lost, will be started again", "pid", p.PID(), "reason", reason, "in_ms", delay.Milliseconds())
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
	p, err := s.relaunch(ctx, spec, im, version)
	if ctx.Err() != nil && err != nil {
		return
	}
	if err == nil {
		s.mu.Lock()
		s.restarts++
		s.mu.Unlock()
		s.install(newInstance(spec, p, s.log), version)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version == version {
		s.state = StateDown
		delay := s.postpone(err.Error())
		s.log.Error("cannot be started again", "error", err, "in_ms", delay.Milliseconds())
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
// checked again first, as it may have been exchanged since; a copy that is gone is
// made anew, from a program that must still have the checksum.
func (s *slot) relaunch(ctx context.Context, spec Spec, im *proc.Image, version int) (*proc.Process, error) {
	if im.Gone() {
		fresh, err := s.launcher.OpenImage(spec.program())
		if err != nil {
			return nil, err
		}
		defer fresh.Release()
		s.log.Warn("the copy of its program was gone and is made anew", "sha256", fresh.Sum[:12])
		s.exchange(im, fresh, version)
		im = fresh
	}
	if err := im.Recheck(spec.program()); err != nil {
		return nil, err
	}
	return s.launcher.Launch(ctx, spec.program(), im, spec.setup())
}

// exchange puts another image of the same program into the slot, unless it has another
// version by now.
func (s *slot) exchange(old, fresh *proc.Image, version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version == version && s.image == old {
		s.image = fresh.Retain()
		old.Release()
	}
}
