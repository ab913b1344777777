package auth

import (
	"context"
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
		body["next"] = s.Intent.Envelope()
	}
	fault.WriteJSON(w, http.StatusOK, body)
	return nil
}

func (p *Pipeline) signedIn(w http.ResponseWriter, r *http.Request) (Session, error) {
	who, err := p.Authenticate(w, r)
	if err == nil && !who.SignedIn() {
		err = &fault.Fault{Code: fault.Unauthenticated}
	}
	return who.Session, err
}

// Intent answers POST /auth/intents/{kind} for every kind that takes a form.
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
	k, ok := kindAt(r.PathValue("kind"))
	if !ok {
		return &fault.Fault{Code: fault.UnknownIntent}
	}
	if s.Intent == nil || s.Intent.Kind() != k.name {
		return &fault.Fault{Code: fault.IntentNotCurrent}
	}
	if err := k.available(p); err != nil {
		return err
	}
	fields, err := k.form(r)
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
	result, next, err := k.answer(p, r, attempt{user, s, fields})
	if err != nil {
		return err
	}
	body := satisfaction{Status: result.Status(), NextStep: result.NextStep(), Errors: result.Errors()}
	if next != nil {
		if body.Next, err = p.advance(r, user, s, *next); err != nil {
			return err
		}
	}
	fault.WriteJSON(w, http.StatusOK, body)
	return nil
}

// advance commits a step that follows a satisfied intent: the effects and the next
// intent together.
func (p *Pipeline) advance(r *http.Request, user User, s Session, step step) (*Envelope, error) {
	next := step.applyTo(s)
	err := p.Tx.InTx(r.Context(), func(ctx context.Context) error {
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
		// Another request has answered the step first, or ended the session.
		return nil, &fault.Fault{Code: fault.IntentNotCurrent, Cause: err}
	}
	if errors.Is(err, ErrNotFound) {
		// The application has deleted the user meanwhile.
		return nil, &fault.Fault{Code: fault.Unauthenticated, Cause: err}
	}
	if err != nil {
		return nil, err
	}
	envelope := next.Intent.Envelope()
	p.Logger.Info("intent satisfied", "request_id", p.Site.RequestID(r), "user", user.ID, "next", string(envelope.Kind))
	return &envelope, nil
}
