package pluginproc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vestibule-dev/vestibule/pluginsdk"
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
		case p != nil && p != except:
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

// release gives a process back. answered tells that it worked.
func (s *slot) release(p *tenant, answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.calls--
	p.answered = p.answered || answered
	if p.draining && p.calls == 0 {
		close(p.idle)
	}
}

// suspect has the process examined soon if the outcome of a call casts a doubt
// on it, and tells whether the connection to it broke.
func (s *slot) suspect(ctx context.Context, err error) bool {
	// Canceled, with a caller who still waits, is a connection that was closed
	// under the call because its process is gone.
	broke := status.Code(err) == codes.Unavailable || errors.Is(err, context.Canceled) && ctx.Err() == nil
	if broke || errors.Is(err, context.DeadlineExceeded) {
		select {
		case s.check <- struct{}{}:
		default:
		}
	}
	return broke
}

// dispense asks the plugin for the next step. A call whose process dies is
// repeated once on a fresh one: only one answer is used, and a dispenser decides
// without acting.
func (s *slot) dispense(ctx context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
	limit, err := s.enter()
	if err != nil {
		return pluginsdk.Intent{}, err
	}
	defer s.leave()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last *tenant
	for range 2 {
		var p *tenant
		if p, err = s.acquire(ctx, last); err != nil {
			return pluginsdk.Intent{}, err
		}
		var intent pluginsdk.Intent
		intent, err = p.dispense(ctx, user, req)
		s.release(p, err == nil)
		if err == nil || !s.suspect(ctx, err) || ctx.Err() != nil {
			return intent, err
		}
		last = p
		s.log.Warn("the call is repeated on a fresh process", "request_id", requestID(req), "error", err)
	}
	return pluginsdk.Intent{}, err
}

// handle asks the plugin to judge a form. It is never repeated: the plugin may
// have acted before its process died.
func (s *slot) handle(ctx context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Result, error) {
	limit, err := s.enter()
	if err != nil {
		return pluginsdk.Result{}, err
	}
	defer s.leave()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p, err := s.acquire(ctx, nil)
	if err != nil {
		return pluginsdk.Result{}, err
	}
	result, err := p.handle(ctx, user, req)
	s.release(p, err == nil)
	if err != nil {
		s.suspect(ctx, err)
	}
	return result, err
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
