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

// enter counts a call that begins, or refuses it when too many are under way. It returns
// the time that the call has.
func (s *slot) enter() (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return 0, s.unavailable("it is stopping")
	}
	if s.calls >= s.options.MaxCalls {
		return 0, s.unavailable("%d calls are under way, more are not allowed at once", s.calls)
	}
	s.calls++
	return s.spec.Timeout, nil
}

func (s *slot) leave() {
	s.mu.Lock()
	s.calls--
	s.mu.Unlock()
}

func (s *slot) unavailable(format string, args ...any) error {
	return fmt.Errorf("%w: %s", pluginsdk.ErrUnavailable, fmt.Sprintf(format, args...))
}

// acquire returns the process that answers calls, waiting for one that is about
// to start. With except it waits for another process than that one.
func (s *slot) acquire(ctx context.Context, except *instance) (*instance, error) {
	for {
		s.mu.Lock()
		p, changed, next := s.current, s.changed, s.next
		switch {
		case s.stopping:
			s.mu.Unlock()
			return nil, s.unavailable("it is stopping")
		case p != nil && p != except && !p.broken:
			p.calls++
			s.mu.Unlock()
			return p, nil
		}
		s.mu.Unlock()
		if deadline, ok := ctx.Deadline(); ok && p == nil && next.After(deadline) {
			return nil, s.unavailable("it is down and will be started again in %s", time.Until(next).Round(time.Second))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, s.unavailable("it is being started again")
		}
	}
}

// release ends a call on a process, which has had it for a time. When the call's
// error may mean that the process is broken, it asks for a health check; a process
// whose connection broke gets no calls until it has passed one.
func (s *slot) release(ctx context.Context, p *instance, err error, late bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.calls--
	if p.draining && p.calls == 0 {
		close(p.idle)
	}
	p.answered = p.answered || err == nil
	p.broken = p.broken || broke(ctx, err)
	switch {
	case late:
		p.late++
	case answered(err):
		p.late, s.lateUntil = 0, time.Time{}
	}
	if p.broken || errors.Is(err, context.DeadlineExceeded) {
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

// An attempt is what became of a call on one process.
type attempt int

const (
	attemptOver   attempt = iota // answered, or failed for good
	attemptUnsent                // the plugin has never seen it
	attemptCut                   // the plugin died, maybe after it had seen it
)

// maxUnsent bounds the attempts that no plugin has seen.
const maxUnsent = 8

// classify tells from the error of a call whether another process may be asked.
func classify(ctx context.Context, err error) attempt {
	var sending interface{ NotSent() bool }
	switch {
	case !broke(ctx, err) || ctx.Err() != nil:
		return attemptOver
	case errors.As(err, &sending) && sending.NotSent():
		return attemptUnsent
	}
	return attemptCut
}

// A call is one call of a role, on whichever process answers.
type call[A any] struct {
	slot      *slot
	method    string // in logs and metrics
	requestID string
	limit     int // processes that may see it
}

// run makes the call and counts it.
func (c call[A]) run(ctx context.Context, do func(context.Context, *instance) (A, error)) (A, error) {
	var answer A
	begin := time.Now()
	err := c.slot.call(ctx, c.requestID, c.limit, func(ctx context.Context, p *instance) (err error) {
		answer, err = do(ctx, p)
		return err
	})
	spec := c.slot.done(c.method, begin, c.requestID, err)
	if err != nil {
		var none A
		return none, fmt.Errorf("plugin %q: %w", spec.Name, err)
	}
	return answer, nil
}

// call makes a call on the process of the moment, and on the next one when that
// dies, as long as there is time and the plugin has seen it less than limit times.
func (s *slot) call(ctx context.Context, requestID string, limit int, do func(context.Context, *instance) error) error {
	timeout, err := s.enter()
	if err != nil {
		return err
	}
	defer s.leave()
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var last *instance
	for seen, unsent := 0, 0; ; {
		p, err := s.acquire(ctx, last)
		if err != nil {
			return err
		}
		begin := time.Now()
		err = p.ask(ctx, do)
		// A call that spent its time waiting for the process says nothing about it.
		late := errors.Is(err, context.DeadlineExceeded) && caller.Err() == nil && time.Since(begin) > timeout/2
		s.release(ctx, p, err, late)
		switch classify(ctx, err) {
		case attemptOver:
			return err
		case attemptUnsent:
			unsent++
		case attemptCut:
			seen++
		}
		if seen >= limit || unsent >= maxUnsent {
			return err
		}
		last = p
		s.log.Warn("the call is made again on a fresh process", "request_id", requestID, "error", err)
	}
}

// done counts a call in the metrics and in the status, and logs its failure.
func (s *slot) done(method string, begin time.Time, requestID string, err error) Spec {
	s.mu.Lock()
	spec := s.spec
	s.mu.Unlock()
	took, outcome := time.Since(begin), "ok"
	switch {
	case errors.Is(err, pluginsdk.ErrContract):
		outcome = "contract"
	case err != nil:
		outcome = "unavailable"
	}
	s.options.Metrics.Call(spec.Name, method, outcome, took)
	if err != nil {
		s.log.Error("the call failed", "call", method, "outcome", outcome, "request_id", requestID,
			"ms", float64(took.Microseconds())/1000, "error", err)
	}
	return spec
}

func requestID(req *pluginsdk.Request) string {
	if req == nil {
		return ""
	}
	return req.ID
}
