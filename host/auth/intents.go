package auth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// CurrentIntent answers GET /auth/intents/current with the intent last dispensed
// in this session, so that a reload resumes.
func (p *Pipeline) CurrentIntent() http.Handler { return p.serve(p.currentIntent) }

func (p *Pipeline) currentIntent(w http.ResponseWriter, r *http.Request) error {
	s, err := p.signedIn(w, r)
	if err != nil {
		return err
	}
	body := map[string]any{"next": nil}
	if s.Intent != nil {
		body["next"] = s.Intent.Envelope
	}
	fault.WriteJSON(w, http.StatusOK, body)
	return nil
}

func (p *Pipeline) signedIn(w http.ResponseWriter, r *http.Request) (Session, error) {
	s, err := p.Identify(w, r)
	if err == nil && !s.SignedIn() {
		err = &fault.Fault{Code: fault.Unauthenticated}
	}
	return s, err
}

// Intent answers POST /auth/intents/{kind}, where the only kind is org-setup.
func (p *Pipeline) Intent() http.Handler { return p.serve(p.intent) }

// satisfaction is the answer's body; all four keys are always there.
type satisfaction struct {
	Status   pluginsdk.Status `json:"status"`
	NextStep map[string]any   `json:"next_step"`
	Errors   []string         `json:"errors"`
	Next     *Envelope        `json:"next"`
}

func (p *Pipeline) intent(w http.ResponseWriter, r *http.Request) error {
	s, err := p.signedIn(w, r)
	if err != nil {
		return err
	}
	if r.PathValue("kind") != "org-setup" {
		return &fault.Fault{Code: fault.UnknownIntent}
	}
	if s.Intent == nil || s.Intent.Envelope.Kind != string(pluginsdk.KindOrgSetup) {
		return &fault.Fault{Code: fault.IntentNotCurrent}
	}
	handler := p.OrgSetup()
	if handler == nil {
		return &fault.Fault{Code: fault.HandlerMissing, Cause: errors.New("an org_setup intent was dispensed, but no plugin has the role org_setup")}
	}
	fields, err := readOrgSetup(r)
	if err != nil {
		return err
	}
	user, err := p.Users.FindByID(r.Context(), s.UserID)
	if errors.Is(err, ErrNotFound) {
		return &fault.Fault{Code: fault.Unauthenticated, Cause: err}
	}
	if err != nil {
		return err
	}
	result, err := p.handle(r, handler, user, s, fields)
	if err != nil {
		return err
	}
	body := satisfaction{Status: result.Status(), NextStep: result.NextStep(), Errors: result.Errors()}
	if result.Status() == pluginsdk.StatusSatisfied {
		if body.Next, err = p.advance(r, user, s, result); err != nil {
			return err
		}
	}
	fault.WriteJSON(w, http.StatusOK, body)
	return nil
}

// handle asks the handler and refuses answers that the contract forbids.
func (p *Pipeline) handle(r *http.Request, h pluginsdk.OrgSetupHandler, user User, s Session, fields map[string]pluginsdk.Value) (pluginsdk.Result, error) {
	req := p.request(r, s, s.Intent.ID)
	req.Form = fields
	result, err := h.Handle(r.Context(), pluginUser(user, nil), req)
	if errors.Is(err, pluginsdk.ErrContract) {
		return result, contractFault(err)
	}
	if err != nil {
		return result, &fault.Fault{Code: fault.HandlerUnavailable, RetryAfter: retryAfter, Cause: err}
	}
	switch result.Status() {
	case pluginsdk.StatusSatisfied:
	case pluginsdk.StatusNeedsMoreInput:
		if _, err := json.Marshal(result.NextStep()); err != nil {
			return result, contractFault(err)
		}
	case pluginsdk.StatusError:
	default:
		return result, contractFault(errors.New("the handler returned no result"))
	}
	return result, nil
}

// advance asks the dispenser again and commits the handler's effects, the
// dispenser's and the next intent together.
func (p *Pipeline) advance(r *http.Request, user User, s Session, result pluginsdk.Result) (*Envelope, error) {
	step, err := p.dispense(r, user, s, result.Effects())
	if err != nil {
		return nil, err
	}
	next := step.applyTo(s)
	err = p.Tx.InTx(r.Context(), func(ctx context.Context) error {
		if err := p.writeColumns(ctx, user.ID, step.columns); err != nil {
			return err
		}
		if next.Device != nil {
			if err := p.Devices.SetIntent(ctx, next.Device, openIntent(next)); err != nil {
				return err
			}
		}
		return p.Sessions.Update(ctx, next)
	})
	if errors.Is(err, ErrSessionGone) {
		// Another request was faster, or ended the session: the step is not ours.
		return nil, &fault.Fault{Code: fault.IntentNotCurrent, Cause: err}
	}
	if err != nil {
		return nil, err
	}
	p.Logger.Info("intent satisfied", "request_id", p.Site.RequestID(r), "user", user.ID, "next", next.Intent.Envelope.Kind)
	return &next.Intent.Envelope, nil
}
