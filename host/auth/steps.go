package auth

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
)

// A settled person asks for a step of a dispenser that offers it, such as to add a second
// factor. The session stays settled: the step lies beside it in [Session.Asked], and a guard
// admits the person as before, to the step's page as to any other. One dispenser alone is
// asked about it, and its page posts where the page of a held step does. The step ends with
// the answer that the dispenser is done, when the person gives it up, with the session, or
// [Rules].Recent after it was asked for.

// accountPage is where the person goes when a step ends that names no other page.
const accountPage = "/login?account"

// An offeredStep is a step that people may ask for.
type offeredStep struct {
	Plugin string `json:"plugin"`
	Title  string `json:"title"`
}

// offeredSteps returns the steps that people may ask for, in the order of the dispensers.
func (p *Pipeline) offeredSteps() []offeredStep {
	steps := []offeredStep{}
	for _, name := range p.Dispensers() {
		if title, ok := p.Offered(name); ok {
			steps = append(steps, offeredStep{name, title})
		}
	}
	return steps
}

// offers reports whether people may ask for the step of a plugin.
func (p *Pipeline) offers(plugin string) bool {
	return slices.ContainsFunc(p.offeredSteps(), func(s offeredStep) bool { return s.Plugin == plugin })
}

// AskedStep answers POST and DELETE /auth/account/steps/{plugin}: a settled person with fresh
// proof asks for the step of a plugin, and gives it up.
func (p *Pipeline) AskedStep() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		if r.Method == http.MethodDelete {
			return p.endStep(w, r)
		}
		return p.beginStep(w, r)
	})
}

// beginStep asks the dispenser for the first intent of its step. A step that was asked for
// before is replaced.
func (p *Pipeline) beginStep(w http.ResponseWriter, r *http.Request) error {
	who, err := p.fresh(w, r)
	if err != nil {
		return err
	}
	plugin := r.PathValue("plugin")
	if !p.offers(plugin) {
		return &fault.Fault{Code: fault.NotFound}
	}
	if err := p.takeAttempt(r, Counter{Kind: countStepAsked, Login: who.UserID}, p.ClientAttempts, "plugin"); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(r.Context(), RequestOf(r.Context()).Left(p.Wait))
	defer cancel()
	turn, err := p.turns.take(waiting, who.UserID)
	if err != nil {
		return noTurn(err)
	}
	defer turn.release()
	s := who.Session
	s.Asked = nil
	a, err := p.ask(r, s, question{begins: plugin})
	if err != nil {
		return err
	}
	p.audit(r, "step_asked", "user", who.UserID, "plugin", plugin)
	fault.WriteJSON(w, http.StatusOK, map[string]any{"next": a.step.intent.Envelope()})
	return nil
}

// endStep gives up the step of a plugin. What it has changed stays changed. It needs no fresh
// proof: it takes a possibility away.
func (p *Pipeline) endStep(w http.ResponseWriter, r *http.Request) error {
	who, err := p.settled(w, r)
	if err != nil {
		return err
	}
	plugin := r.PathValue("plugin")
	if !p.offers(plugin) {
		return &fault.Fault{Code: fault.NotFound}
	}
	if err := p.giveUp(r.Context(), who.Session, plugin); err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// giveUp takes the step of a plugin out of the session, unless it is over already. An answer
// to the step that commits later is refused; one that was faster counts.
func (p *Pipeline) giveUp(ctx context.Context, s Session, plugin string) error {
	for range maxAsks {
		if s.Asked == nil || s.Asked.Dispenser != plugin {
			return nil
		}
		next := s
		next.Asked = nil
		err := p.Sessions.Update(ctx, next)
		if !errors.Is(err, ErrSessionGone) {
			return err
		}
		if s, err = p.reload(ctx, s); err != nil {
			return err
		}
		if !s.SignedIn() {
			return &fault.Fault{Code: fault.Unauthenticated, Cause: ErrSessionGone}
		}
	}
	return contested(ErrSessionGone)
}

// commitAsked commits the answer to a step that a settled person has asked for. One that sets
// columns changes what somebody signs in with, for all that the host knows.
func (p *Pipeline) commitAsked(r *http.Request, device Device, next Session, st step) error {
	if len(st.columns) == 0 {
		return p.Tx.InTx(r.Context(), func(ctx context.Context) error { return p.write(ctx, device, next, st) })
	}
	who := Principal{UserID: next.UserID, Session: next}
	return p.changeCredential(r, who, credentialChange{event: "step_changed", apply: func(ctx context.Context, _ User) (string, error) {
		return st.intent.Dispenser, p.write(ctx, device, next, st)
	}})
}

// reload returns the session as it is stored now.
func (p *Pipeline) reload(ctx context.Context, s Session) (Session, error) {
	now, err := p.Sessions.Reload(ctx, s)
	return p.withoutOver(now), err
}

// withoutOver returns a session without the step that was asked for if that is over: after
// [Rules].Recent, in a session with another id, which a release that does not know of the step
// has given it, or because its plugin no longer offers it.
func (p *Pipeline) withoutOver(s Session) Session {
	if s.Asked == nil {
		return s
	}
	age := p.Now().Sub(s.Asked.Asked)
	if !s.Settled() || s.Asked.Session != s.ID() || age < -p.Recent || age > p.Recent || !p.offers(s.Asked.Dispenser) {
		s.Asked = nil
	}
	return s
}
