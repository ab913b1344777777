package pluginproc

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// maxDispenses is how many plugins may see one call. A call whose process dies is
// repeated once on a fresh one: only one answer is used, and a dispenser decides
// without acting.
const maxDispenses = 2

// methodDispense is the call in logs and metrics.
const methodDispense = "dispense"

// Dispensers returns the names of the plugins that have the role dispenser, in the order
// of the specs, which is that in which they are asked.
func (m *Manager) Dispensers() []string { return m.named(pluginsdk.RoleDispenser) }

// Dispenser returns the dispenser of a name, which is unavailable without a plugin of that
// name. It finds the process at call time, so it stays good over restarts and reloads.
func (m *Manager) Dispenser(name string) pluginsdk.Dispenser {
	return pluginsdk.DispenserFunc(func(ctx context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
		s, err := m.slot(name)
		if err != nil {
			return pluginsdk.Intent{}, err
		}
		asking := call[pluginsdk.Intent]{slot: s, method: methodDispense, requestID: requestID(req), person: user.ID, limit: maxDispenses}
		return asking.run(ctx, func(ctx context.Context, p *instance) (pluginsdk.Intent, error) { return p.dispense(ctx, user, req) })
	})
}

// OfferedStep returns the title of the step that people may ask a dispenser for, as its
// process that was ready last has described it; false for a plugin that offers none.
func (m *Manager) OfferedStep(name string) (title string, ok bool) {
	s, err := m.slot(name)
	if err != nil || !slices.Contains(s.spec.Roles, pluginsdk.RoleDispenser) {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.about.Title, name), s.about.OffersStep
}

func (p *instance) dispense(ctx context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
	u, r := p.tell(user, req)
	intent, err := p.Client.Dispense(ctx, u, r)
	if err != nil {
		return pluginsdk.Intent{}, err
	}
	if intent, err = p.slot.spec.checkIntent(intent); err != nil {
		return pluginsdk.Intent{}, err
	}
	return intent, p.fits(ctx, intent.Effects())
}

// checkIntent holds an answer of a dispenser against the contract and the
// grants, and returns it as the pipeline wants it.
func (s Spec) checkIntent(i pluginsdk.Intent) (pluginsdk.Intent, error) {
	effects, err := s.checkEffects(i.Effects())
	if err != nil {
		return pluginsdk.Intent{}, err
	}
	checked, err := s.checkKind(i, effects)
	if err == nil && i.IsRecovery() {
		checked = checked.AsRecovery()
	}
	return checked, err
}

func (s Spec) checkKind(i pluginsdk.Intent, effects []pluginsdk.Effect) (pluginsdk.Intent, error) {
	switch {
	case i.IsDone():
		return pluginsdk.Done().With(effects...), nil
	case i.IsRedirect():
		if err := checkText("the target", i.Target(), maxTarget); err != nil {
			return pluginsdk.Intent{}, err
		}
		if i.Target() == "" {
			return pluginsdk.Intent{}, broken("the redirect has no target")
		}
		to := pluginsdk.Redirect(i.Target()).With(effects...)
		if !i.Held() {
			return to, nil
		}
		held := to.Hold(i.Prefixes()...).NeedsMoreInput(i.NextStep())
		if len(i.Errors()) > 0 {
			held = held.Failed(i.Errors()...)
		}
		if i.OffersRecovery() {
			held = held.OfferRecovery()
		}
		return held, checkHold(i)
	case i.IsOrgSetup():
		if err := checkText("the person's name", i.PersonName(), maxPersonName); err != nil {
			return pluginsdk.Intent{}, err
		}
		return pluginsdk.OrgSetup(i.PersonName()).With(effects...), nil
	}
	return pluginsdk.Intent{}, broken("there is no intent of kind %q", words.Cut(i.Kind(), 64))
}

// checkHold bounds what a held redirect carries. Where it may lead, and what it may
// open, is for the pipeline to check.
func checkHold(i pluginsdk.Intent) error {
	if len(i.Prefixes()) > maxPrefixes || len(i.Errors()) > maxErrors {
		return broken("the held redirect has %d prefixes and %d messages; %d and %d are allowed", len(i.Prefixes()), len(i.Errors()), maxPrefixes, maxErrors)
	}
	for _, prefix := range i.Prefixes() {
		if err := checkText("a prefix", prefix, maxTarget); err != nil {
			return err
		}
	}
	for _, text := range i.Errors() {
		if err := checkText("a message", text, maxError); err != nil {
			return err
		}
	}
	if text, err := json.Marshal(i.NextStep()); err != nil || len(text) > maxNextStep {
		return broken("next_step is no JSON, or larger than %d bytes", maxNextStep)
	}
	return nil
}
