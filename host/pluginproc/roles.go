package pluginproc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc/internal/proc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A role is what a plugin plays, as the pipeline sees it: whichever process
// plays it at the moment.
type role struct {
	manager *Manager
	name    string
}

// Dispense asks the dispenser, whichever process that is.
func (r role) Dispense(ctx context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
	s, err := r.slot()
	if err != nil {
		return pluginsdk.Intent{}, err
	}
	begin := time.Now()
	intent, err := s.dispense(ctx, user, req)
	spec := s.done("dispense", begin, req, err)
	if err != nil && errors.Is(err, pluginsdk.ErrUnavailable) && spec.OnFailure == OnFailureBuiltin {
		s.log.Warn(`the built-in dispenser answers in its place, as on_failure = "builtin" says`, "request_id", requestID(req))
		s.options.Metrics.Builtin(spec.Name)
		return pluginsdk.Done(), nil
	}
	if err != nil {
		return pluginsdk.Intent{}, fmt.Errorf("plugin %q: %w", spec.Name, err)
	}
	if times := r.manager.loops.dispensed(user.ID, intent.Kind()); times >= loopWarning {
		s.log.Warn("it dispenses a step again that was satisfied: the step must change what the dispenser tests",
			"request_id", requestID(req), "user", user.ID, "kind", string(intent.Kind()), "times", times)
		s.options.Metrics.Loop(spec.Name)
	}
	return intent, nil
}

// Handle asks the handler, whichever process that is.
func (r role) Handle(ctx context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Result, error) {
	s, err := r.slot()
	if err != nil {
		return pluginsdk.Result{}, err
	}
	begin := time.Now()
	result, err := s.handle(ctx, user, req)
	spec := s.done("handle", begin, req, err)
	if err != nil {
		return pluginsdk.Result{}, fmt.Errorf("plugin %q: %w", spec.Name, err)
	}
	if result.Status() == pluginsdk.StatusSatisfied {
		r.manager.loops.satisfied(user.ID)
	}
	return result, nil
}

func (r role) slot() (*slot, error) {
	r.manager.mu.RLock()
	defer r.manager.mu.RUnlock()
	if s := r.manager.roles[r.name]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("%w: no plugin with the role %q is running", pluginsdk.ErrUnavailable, r.name)
}

// done counts a call and logs its failure.
func (s *slot) done(method string, begin time.Time, req *pluginsdk.Request, err error) Spec {
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
		s.log.Error("the call failed", "call", method, "outcome", outcome, "request_id", requestID(req),
			"took", took.Round(time.Microsecond).String(), "error", proc.Clean(err.Error(), 2<<10))
	}
	return spec
}
