package pluginproc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc/internal/proc"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
)

const (
	// probation is how long a plugin counts as late when no call says otherwise: long
	// enough for a balancer to notice, and no longer, because without calls it could not
	// show that it works again.
	probation = 30 * time.Second
	// maxLate is how many calls in a row may run out of time before the process is
	// replaced, although it answers health checks: its calls may be deadlocked.
	maxLate = 3
	// maxDeaths is the most strikes that the deaths of processes which had answered leave.
	// With more of them processes could not be started, or ended before they answered anybody.
	maxDeaths = 2
)

// run keeps a process running until ctx ends, beginning with p.
func (s *slot) run(ctx context.Context, p *instance) {
	for p != nil {
		reason := s.watch(ctx, p)
		if ctx.Err() != nil {
			return
		}
		next := s.relieve(ctx, p, reason)
		if next == nil && ctx.Err() == nil {
			s.lose(p, reason)
			next = s.restart(ctx)
		}
		p = next
	}
}

// watch returns why a process is dead, or as good as dead, or once ctx has ended.
func (s *slot) watch(ctx context.Context, p *instance) string {
	ticker := time.NewTicker(s.options.HealthInterval)
	defer ticker.Stop()
	reason := ""
	for reason == "" && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-p.Dead():
			reason = p.ExitSummary()
		case <-ticker.C:
			reason = s.examine(ctx, p)
		case <-s.check:
			reason = s.examine(ctx, p)
		}
	}
	return reason
}

// examine returns why a process is to be replaced: it has ended, has failed two health
// checks in a row, or its calls run out of time.
func (s *slot) examine(ctx context.Context, p *instance) string {
	if s.isLate(p) {
		return fmt.Sprintf("%d calls in a row ran out of time (timeout = %s): find out what it waits for", maxLate, s.spec.Timeout)
	}
	limit := s.options.HealthInterval / 2
	err := p.ping(ctx, limit)
	if err != nil {
		select {
		case <-p.Dead(): // which is noticed a moment after the connection broke
		case <-ctx.Done():
		case <-time.After(limit / 5):
			err = p.ping(ctx, limit)
		}
	}
	select {
	case <-ctx.Done():
		return ""
	case <-p.Dead():
		return p.ExitSummary()
	default:
	}
	if err != nil {
		return "it does not answer health checks: " + words.Clean(err.Error(), 200)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.broken {
		p.broken = false
		s.notify()
	}
	return ""
}

// ping is one health check.
func (p *instance) ping(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return p.ask(ctx, func(ctx context.Context, p *instance) error { return p.Ping(ctx) })
}

// isLate reports whether so many calls ran out of time that the process is to be
// replaced. If they were calls of several people, the plugin counts as late then until a
// call is answered, or for a while in which none ran out of time. The calls of one person
// say nothing about the plugin's others, and must not keep these from the host.
func (s *slot) isLate(p *instance) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(p.late) < maxLate {
		return false
	}
	if slices.ContainsFunc(p.late, func(person string) bool { return person != p.late[0] }) {
		s.lateUntil = s.options.Now().Add(probation)
	}
	return true
}

// relieve replaces a process that lives and whose calls run out of time. Further calls wait
// for its successor. It ends once its own calls are done, since those of other people may
// be answered. relieve returns nil if no calls ran out of time, or if there is no successor.
func (s *slot) relieve(ctx context.Context, p *instance, reason string) *instance {
	s.mu.Lock()
	late := len(p.late) >= maxLate
	p.broken = p.broken || late
	s.mu.Unlock()
	if !late {
		return nil
	}
	s.options.Metrics.Restart(s.spec.Name)
	started, err := s.relaunch(ctx)
	if err != nil {
		return nil // the next start says why
	}
	s.log.Error("replaced", "pid", p.PID(), "reason", reason)
	next := newInstance(s, started)
	s.mu.Lock()
	s.lastErr = reason
	s.takeOver(next)
	s.mu.Unlock()
	s.leaving.Go(func() {
		drained, cancel := context.WithTimeout(context.Background(), s.spec.Timeout)
		defer cancel()
		defer context.AfterFunc(ctx, func() { time.AfterFunc(drainLimit, cancel) })()
		p.finish(drained)
	})
	s.ready(next)
	return next
}

// lose takes a process that is dead, or as good as dead, out of service.
func (s *slot) lose(p *instance, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.options.Now().Sub(p.Started) > time.Minute:
		s.strikes = 0
	case p.answered:
		s.strikes = min(s.strikes, maxDeaths-1) // it works, most of the time: do not keep people waiting
	}
	delay := s.postpone(reason)
	s.leaving.Go(func() {
		p.Kill()
		p.Stop(time.Second)
	})
	s.log.Error("lost, will be started again", "pid", p.PID(), "reason", reason, "in_ms", delay.Milliseconds())
	if s.heir == nil {
		s.options.Metrics.Up(s.spec.Name, false)
	}
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
	s.to(StateDown, nil)
	return delay
}

// restart starts the program whenever that is due, until there is a process. It returns
// nil once ctx has ended.
func (s *slot) restart(ctx context.Context) *instance {
	for {
		s.mu.Lock()
		next := s.next
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(next)):
		}
		s.mu.Lock()
		s.state = StateStarting // which no call waits for
		s.mu.Unlock()
		s.options.Metrics.Restart(s.spec.Name)
		started, err := s.relaunch(ctx)
		if err != nil && ctx.Err() != nil {
			return nil
		}
		s.mu.Lock()
		if err == nil {
			p := newInstance(s, started)
			s.takeOver(p)
			s.mu.Unlock()
			s.ready(p)
			return p
		}
		delay := s.postpone(err.Error())
		s.mu.Unlock()
		s.log.Error("cannot be started again", "error", err, "in_ms", delay.Milliseconds())
	}
}

// takeOver puts the successor of a process in service. It is called with the lock held.
func (s *slot) takeOver(p *instance) {
	s.about, s.next = p.About, time.Time{}
	s.restarts++
	s.to(StateReady, p)
}

// relaunch starts the program once more. One that is executed in place is checked again
// first, as it may have been exchanged since; a copy that is gone is made anew, from a
// program that must still have the checksum.
func (s *slot) relaunch(ctx context.Context) (*proc.Process, error) {
	program, im := s.spec.program(), s.image // which nobody else changes
	if im.Gone() {
		fresh, err := s.launcher.OpenImage(program)
		if err != nil {
			return nil, err
		}
		s.log.Warn("the copy of its program was gone and is made anew", "sha256", fresh.Sum[:12])
		s.mu.Lock()
		s.image, im = fresh, fresh
		s.mu.Unlock()
	}
	if err := im.Recheck(program); err != nil {
		return nil, err
	}
	return s.launcher.Launch(ctx, program, im, s.spec.setup())
}
