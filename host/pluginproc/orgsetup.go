package pluginproc

import (
	"context"
	"encoding/json"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// maxHandles is how many plugins may see one form: it is never sent again, because
// a handler may have acted before its process died.
const maxHandles = 1

// methodHandle is the call in logs and metrics.
const methodHandle = "handle"

// OrgSetup returns the handler that the specs name, nil when none does. It finds the
// process at call time, so it stays good over restarts; after a Reload that gives or takes
// the role, ask again.
func (m *Manager) OrgSetup() pluginsdk.OrgSetupHandler {
	if len(m.named(pluginsdk.RoleOrgSetup)) == 0 {
		return nil
	}
	return pluginsdk.OrgSetupFunc(func(ctx context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Result, error) {
		s, err := m.slotOf(pluginsdk.RoleOrgSetup)
		if err != nil {
			return pluginsdk.Result{}, err
		}
		asking := call[pluginsdk.Result]{slot: s, method: methodHandle, requestID: requestID(req), person: user.ID, limit: maxHandles}
		return asking.run(ctx, func(ctx context.Context, p *instance) (pluginsdk.Result, error) { return p.handle(ctx, user, req) })
	})
}

func (p *instance) handle(ctx context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Result, error) {
	u, r := p.tell(user, req)
	result, err := p.Client.Handle(ctx, u, r)
	if err != nil {
		return pluginsdk.Result{}, err
	}
	if result, err = p.slot.spec.checkResult(result); err != nil {
		return pluginsdk.Result{}, err
	}
	return result, p.fits(ctx, result.Effects())
}

// checkResult holds an answer of a handler against the contract and the grants, and
// returns it as the pipeline wants it.
func (s Spec) checkResult(r pluginsdk.Result) (pluginsdk.Result, error) {
	effects, err := s.checkEffects(r.Effects())
	if err != nil {
		return pluginsdk.Result{}, err
	}
	switch {
	case r.IsSatisfied():
		return pluginsdk.Satisfied().With(effects...), nil
	case r.WantsInput():
		payload := r.NextStep()
		if payload == nil {
			payload = map[string]any{}
		}
		text, err := json.Marshal(payload)
		if err != nil || len(text) > maxNextStep {
			return pluginsdk.Result{}, broken("next_step is no JSON, or larger than %d bytes", maxNextStep)
		}
		return pluginsdk.NeedsMoreInput(payload).With(effects...), nil
	case r.IsFailed():
		if len(r.Errors()) == 0 || len(r.Errors()) > maxErrors {
			return pluginsdk.Result{}, broken("an error needs 1 to %d messages, not %d", maxErrors, len(r.Errors()))
		}
		for _, text := range r.Errors() {
			if err := checkText("a message", text, maxError); err != nil {
				return pluginsdk.Result{}, err
			}
		}
		return pluginsdk.Failed(r.Errors()...).With(effects...), nil
	}
	return pluginsdk.Result{}, broken("there is no status %q", words.Cut(r.Status(), 64))
}
