package pluginproc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// enter counts a call that begins, or refuses it when too many are under way.
func (s *slot) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls >= s.options.MaxCalls {
		return unavailable("%d calls are under way, more are not allowed at once", s.calls)
	}
	s.calls++
	return nil
}

func (s *slot) leave() {
	s.mu.Lock()
	s.calls--
	s.mu.Unlock()
}

func unavailable(format string, args ...any) error {
	return fmt.Errorf("%w: %s", pluginsdk.ErrUnavailable, fmt.Sprintf(format, args...))
}

// acquire returns the process that answers calls, waiting for one that is about
// to start. With except it waits for another process than that one.
func (s *slot) acquire(ctx context.Context, except *instance) (*instance, error) {
	for {
		s.mu.Lock()
		p, state, heir, changed, next := s.current, s.state, s.heir, s.changed, s.next
		if heir == nil && p != nil && p != except && !p.broken {
			p.calls.Add(1)
			s.mu.Unlock()
			return p, nil
		}
		s.mu.Unlock()
		switch deadline, ok := ctx.Deadline(); {
		case heir != nil:
			return heir.acquire(ctx, except)
		case state == StateStopped:
			return nil, unavailable("it is stopping")
		case state == StateDown && ok && next.After(deadline):
			return nil, unavailable("it is down and will be started again in %s", time.Until(next).Round(time.Second))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, unavailable("it is being started again")
		}
	}
}

// release ends a call on a process. When the call's error may mean that the process
// is broken, it asks for a health check; a process whose connection broke gets no calls
// until it has passed one. late reports whether the call of a person ran out of time.
func (p *instance) release(ctx context.Context, err error, person string, late bool) {
	p.calls.Done()
	s := p.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	p.answered = p.answered || err == nil
	p.broken = p.broken || broke(ctx, err)
	switch {
	case late:
		p.late = append(p.late, person)
	case answered(err) && len(p.late) < maxLate: // else it is being replaced
		p.late, s.lateUntil = nil, time.Time{}
	}
	if p.broken || late || errors.Is(err, context.DeadlineExceeded) {
		select {
		case s.check <- struct{}{}:
		default:
		}
	}
}

// answered tells whether the plugin's own code ended a call, with whatever.
func answered(err error) bool {
	var f interface{ Answered() bool }
	return err == nil || errors.Is(err, pluginsdk.ErrContract) || errors.As(err, &f) && f.Answered()
}

// broke tells whether a call failed because the connection to its process did.
// Canceled, with a caller who still waits, is a connection that was closed under
// the call because its process is gone. What the plugin's own code answers is
// neither, whatever status it chooses.
func broke(ctx context.Context, err error) bool {
	if answered(err) {
		return false
	}
	return status.Code(err) == codes.Unavailable || errors.Is(err, context.Canceled) && ctx.Err() == nil
}

// maxUnsent bounds the attempts that no plugin has seen.
const maxUnsent = 8

// A call is one call of a role, on whichever process answers.
type call[A any] struct {
	slot      *slot
	method    string // in logs and metrics
	requestID string
	person    string // the id of the user whom the call is about
	limit     int    // processes that may see it
}

// run makes the call, counts it, and logs its failure.
func (c call[A]) run(ctx context.Context, do func(context.Context, *instance) (A, error)) (A, error) {
	var answer, none A
	s, begin := c.slot, time.Now()
	err := s.call(ctx, c.requestID, c.person, c.limit, func(ctx context.Context, p *instance) (err error) {
		answer, err = do(ctx, p)
		return err
	})
	took, outcome := time.Since(begin), "ok"
	switch {
	case errors.Is(err, pluginsdk.ErrContract):
		outcome = "contract"
	case err != nil:
		outcome = "unavailable"
	}
	s.options.Metrics.Call(s.spec.Name, c.method, outcome, took)
	if err != nil {
		s.log.Error("the call failed", "call", c.method, "outcome", outcome, "request_id", c.requestID,
			"ms", float64(took.Microseconds())/1000, "error", err)
		return none, fmt.Errorf("plugin %q: %w", s.spec.Name, err)
	}
	return answer, nil
}

// call makes a call on the process of the moment, and on the next one when that
// dies, as long as there is time and the plugin has seen it less than limit times.
func (s *slot) call(caller context.Context, requestID, person string, limit int, do func(context.Context, *instance) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	end := time.Now().Add(s.spec.Timeout)
	ctx, cancel := context.WithDeadline(caller, end)
	defer cancel()
	var last *instance
	for seen, unsent := 0, 0; ; {
		p, err := s.acquire(ctx, last)
		if err != nil {
			return err
		}
		begin := time.Now()
		err = p.ask(ctx, do)
		p.release(ctx, err, person, caller.Err() == nil && s.ranOut(begin, end, err))
		if !broke(ctx, err) || ctx.Err() != nil {
			return err // it is answered, or has failed for good
		}
		var sending interface{ NotSent() bool }
		if errors.As(err, &sending) && sending.NotSent() {
			unsent++
		} else {
			seen++ // the plugin died, maybe after it had seen the call
		}
		if seen >= limit || unsent >= maxUnsent {
			return err
		}
		last = p
		s.log.Warn("the call is made again on a fresh process", "request_id", requestID, "error", err)
	}
}

// early is how much earlier than the host's the clock of a plugin's runtime may end a
// call: that of Node cuts the time that is left to whole milliseconds, and its timers fire
// up to one before their time.
const early = 10 * time.Millisecond

// ranOut reports whether a call that began on a process at begin failed because its time
// ended, at end. The host's clock decides, whatever the status: runtimes write
// DEADLINE_EXCEEDED by themselves at that moment. A call that spent its time waiting for
// the process says nothing about it.
func (s *slot) ranOut(begin, end time.Time, err error) bool {
	return err != nil && time.Until(end) <= early && time.Since(begin) > s.spec.Timeout/2
}

func requestID(req *pluginsdk.Request) string {
	if req == nil {
		return ""
	}
	return req.ID
}
