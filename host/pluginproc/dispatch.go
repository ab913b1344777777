package pluginproc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// enter admits a call, or refuses it when too many are under way. It returns
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
func (s *slot) acquire(ctx context.Context, except *tenant) (*tenant, error) {
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

// release gives a process back after a call that ended with err, and has it
// examined when that casts a doubt on it. A process whose connection broke gets
// no further calls until it has passed.
func (s *slot) release(ctx context.Context, p *tenant, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.calls--
	if p.draining && p.calls == 0 {
		close(p.idle)
	}
	p.answered = p.answered || err == nil
	p.broken = p.broken || broke(ctx, err)
	if p.broken || errors.Is(err, context.DeadlineExceeded) {
		select {
		case s.check <- struct{}{}:
		default:
		}
	}
}

// broke tells whether a call failed because the connection to its process did.
// Canceled, with a caller who still waits, is a connection that was closed under
// the call because its process is gone.
func broke(ctx context.Context, err error) bool {
	return status.Code(err) == codes.Unavailable || errors.Is(err, context.Canceled) && ctx.Err() == nil
}

// An attempt is what became of a call on one process.
type attempt int

const (
	attemptOver   attempt = iota // answered, or failed for good
	attemptUnsent                // the plugin has never seen it
	attemptCut                   // the plugin died, maybe after it had seen it
)

const (
	maxDispenses = 2 // attempts of a dispense that a plugin may have seen
	maxUnsent    = 8 // attempts that no plugin has seen
)

// judge tells what became of a call. gRPC writes these words when there was no
// connection to send the call on; without them the plugin may have seen it.
func judge(ctx context.Context, err error) attempt {
	switch {
	case !broke(ctx, err) || ctx.Err() != nil:
		return attemptOver
	case strings.Contains(err.Error(), "transport: Error while dialing"):
		return attemptUnsent
	}
	return attemptCut
}

// dispense asks the plugin for the next step. A call whose process dies is
// repeated once on a fresh one: only one answer is used, and a dispenser decides
// without acting.
func (s *slot) dispense(ctx context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
	var intent pluginsdk.Intent
	err := s.call(ctx, req, maxDispenses, func(ctx context.Context, p *tenant) (err error) {
		intent, err = p.dispense(ctx, user, req)
		return err
	})
	return intent, err
}

// handle asks the plugin to judge a form. It is never repeated once the plugin may
// have seen it, because it may have acted before its process died.
func (s *slot) handle(ctx context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Result, error) {
	var result pluginsdk.Result
	err := s.call(ctx, req, 1, func(ctx context.Context, p *tenant) (err error) {
		result, err = p.handle(ctx, user, req)
		return err
	})
	return result, err
}

// call makes a call on the process of the moment, and on the next one when that
// dies, as long as there is time and the plugin has seen it less than limit times.
func (s *slot) call(ctx context.Context, req *pluginsdk.Request, limit int, do func(context.Context, *tenant) error) error {
	timeout, err := s.enter()
	if err != nil {
		return err
	}
	defer s.leave()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var last *tenant
	for seen, unsent := 0, 0; ; {
		p, err := s.acquire(ctx, last)
		if err != nil {
			return err
		}
		err = do(ctx, p)
		s.release(ctx, p, err)
		switch judge(ctx, err) {
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
		s.log.Warn("the call is made again on a fresh process", "request_id", requestID(req), "error", err)
	}
}

func (p *tenant) dispense(ctx context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
	u, r := p.spec.narrow(user, req)
	intent, err := p.Client.Dispense(ctx, u, r)
	if err != nil {
		return pluginsdk.Intent{}, err
	}
	return p.spec.checkIntent(intent)
}

func (p *tenant) handle(ctx context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Result, error) {
	u, r := p.spec.narrow(user, req)
	result, err := p.Client.Handle(ctx, u, r)
	if err != nil {
		return pluginsdk.Result{}, err
	}
	return p.spec.checkResult(result)
}

func requestID(req *pluginsdk.Request) string {
	if req == nil {
		return ""
	}
	return req.ID
}
