package auth

import (
	"cmp"
	"net/http"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
)

// CurrentIntent answers GET /auth/intents/current with the intent last dispensed
// in this session, or the step that its settled person has asked for, so that a reload
// resumes.
func (p *Pipeline) CurrentIntent() http.Handler { return p.serve(p.currentIntent) }

func (p *Pipeline) currentIntent(w http.ResponseWriter, r *http.Request) error {
	s, err := p.signedIn(w, r)
	if err != nil {
		return err
	}
	body := map[string]any{"next": nil}
	if current := cmp.Or(s.open(), s.Intent); current != nil {
		body["next"] = current.Envelope()
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
	Status   string         `json:"status"`
	NextStep map[string]any `json:"next_step"`
	Errors   []string       `json:"errors"`
	Next     *Envelope      `json:"next"`
	// cookie is set with the answer; nil for none.
	cookie *http.Cookie
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
	if open := s.open(); open == nil || open.Kind() != k.name || open.Ends() {
		return &fault.Fault{Code: fault.IntentNotCurrent}
	}
	if err := k.available(p); err != nil {
		return err
	}
	fields, err := k.form(r)
	if err != nil {
		return err
	}
	body, err := k.answer(p, r, s, fields)
	if err != nil {
		return err
	}
	if body.cookie != nil {
		http.SetCookie(w, body.cookie)
	}
	fault.WriteJSON(w, http.StatusOK, body)
	return nil
}
