package auth

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/form"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// orgSetupPayload is the payload of an org_setup's envelope.
type orgSetupPayload struct {
	PersonName string `json:"personName"`
}

// orgSetupKind asks for the details of the organisation, which the plugin with the
// role org_setup accepts or refuses.
func orgSetupKind() kind {
	return kind{
		name: pluginsdk.OrgSetup("").Kind(),
		accept: func(_ *Pipeline, _ *http.Request, _ Session, i pluginsdk.Intent, _ *step) (pluginsdk.Intent, error) {
			return pluginsdk.OrgSetup(i.PersonName()), nil
		},
		payload: func(i pluginsdk.Intent) any { return orgSetupPayload{i.PersonName()} },
		restore: func(data json.RawMessage) (pluginsdk.Intent, error) {
			var p orgSetupPayload
			err := json.Unmarshal(data, &p)
			return pluginsdk.OrgSetup(p.PersonName), err
		},
		path:      "org-setup",
		available: (*Pipeline).orgSetupAvailable,
		form:      readOrgSetup,
		answer:    (*Pipeline).answerOrgSetup,
	}
}

func (p *Pipeline) orgSetupAvailable() error {
	if p.OrgSetup() == nil {
		return orgSetupMissing()
	}
	return nil
}

func orgSetupMissing() error {
	return &fault.Fault{Code: fault.HandlerMissing, Cause: errors.New("an org_setup intent was dispensed, but no plugin has the role org_setup")}
}

// answerOrgSetup asks the handler and, when it is satisfied, the dispenser, which
// sees the handler's effects.
func (p *Pipeline) answerOrgSetup(r *http.Request, s Session, fields map[string]pluginsdk.Value) (satisfaction, error) {
	user, err := p.stillThere(r.Context(), s.UserID)
	if err != nil {
		return satisfaction{}, err
	}
	result, err := p.handleOrgSetup(r, user, s, fields)
	if err != nil {
		return satisfaction{}, err
	}
	body := satisfaction{Status: result.Status(), NextStep: result.NextStep(), Errors: result.Errors()}
	if !result.IsSatisfied() {
		return body, nil
	}
	a, err := p.ask(r, s, question{before: result.Effects()})
	if a.lost {
		// Another request has answered the step first, or ended the session.
		return body, &fault.Fault{Code: fault.IntentNotCurrent, Cause: ErrSessionGone}
	}
	if err != nil {
		return body, err
	}
	next := a.step.intent.Envelope()
	body.Next = &next
	p.Logger.Info("intent satisfied", "request_id", RequestOf(r.Context()).ID, "user", user.ID, "next", next.Kind)
	return body, nil
}

// handleOrgSetup asks the handler and refuses answers that the contract forbids.
func (p *Pipeline) handleOrgSetup(r *http.Request, user User, s Session, fields map[string]pluginsdk.Value) (pluginsdk.Result, error) {
	handler := p.OrgSetup()
	if handler == nil { // a reload took the role away since
		return pluginsdk.Result{}, orgSetupMissing()
	}
	req := p.request(r, s, s.open().ID)
	req.Form, req.Asked = pluginsdk.ValuesOf(fields), s.Settled()
	result, err := handler.Handle(r.Context(), pluginUser(user, nil), req)
	if errors.Is(err, pluginsdk.ErrContract) {
		return result, contractFault(err)
	}
	if err != nil {
		return result, &fault.Fault{Code: fault.HandlerUnavailable, RetryAfter: retryAfter, Cause: err}
	}
	switch {
	case result.IsSatisfied(), result.IsFailed():
	case result.WantsInput():
		if _, err := json.Marshal(result.NextStep()); err != nil {
			return result, contractFault(err)
		}
	default:
		return result, contractFault(errors.New("the handler returned no result"))
	}
	return result, nil
}

// readOrgSetup decodes and validates the organisation form, all fields at once,
// before any handler sees it.
func readOrgSetup(r *http.Request) (map[string]pluginsdk.Value, error) {
	f, err := form.Read(r)
	if err != nil {
		return nil, err
	}
	v := orgForm{Form: f, out: map[string]pluginsdk.Value{}}
	checks := []func() error{v.legalForm, v.orgName, v.companySize, v.function, v.billingEmail, v.consent}
	for _, check := range checks {
		if err := check(); err != nil {
			return nil, err
		}
	}
	if v.faults != nil {
		return nil, &fault.Fault{Fields: v.faults}
	}
	return v.out, nil
}

type orgForm struct {
	form.Form
	out    map[string]pluginsdk.Value
	faults []fault.Field
}

func (v *orgForm) fault(field, code string) {
	v.faults = append(v.faults, fault.Field{Field: field, Code: code})
}

func (v *orgForm) legalForm() error {
	text, err := v.number("legal_form")
	if err != nil {
		return err
	}
	switch text {
	case "":
		v.fault("legal_form", "required")
	case "1", "2":
		v.out["legal_form"] = int64(text[0] - '0')
	default:
		v.fault("legal_form", "invalid")
	}
	return nil
}

// number returns an integer field as text: a JSON number, or a form's digits.
func (v *orgForm) number(name string) (string, error) {
	switch x := v.Values[name].(type) {
	case nil:
		return "", nil
	case json.Number:
		return x.String(), nil
	case string:
		if !v.JSON {
			return strings.TrimSpace(x), nil
		}
	}
	return "", form.WrongType(name, "a number", v.Values[name])
}

func (v *orgForm) orgName() error {
	name, err := v.Text("org_name")
	name = strings.TrimSpace(name)
	switch {
	case err != nil:
		return err
	case name == "":
		v.fault("org_name", "required")
	case utf8.RuneCountInString(name) > 255:
		v.fault("org_name", "too_long")
	case hasControl(name):
		v.fault("org_name", "invalid")
	default:
		v.out["org_name"] = name
	}
	return nil
}

func (v *orgForm) companySize() error {
	return v.choice("company_size", "solo", "small", "growing", "mid_market", "enterprise")
}

func (v *orgForm) function() error {
	return v.choice("function", "developer", "tech_lead", "architect", "executive", "other")
}

func (v *orgForm) choice(name string, allowed ...string) error {
	value, err := v.Text(name)
	switch {
	case err != nil:
		return err
	case value == "":
		v.fault(name, "required")
	case !slices.Contains(allowed, value):
		v.fault(name, "invalid")
	default:
		v.out[name] = value
	}
	return nil
}

func (v *orgForm) billingEmail() error {
	email, err := v.Text("billing_email")
	email = strings.TrimSpace(email)
	switch {
	case err != nil:
		return err
	case email == "":
	case !reserved.IsAddress(email):
		v.fault("billing_email", "email")
	default:
		v.out["billing_email"] = email
	}
	return nil
}

func (v *orgForm) consent() error {
	yes, err := v.Flag("marketing_consent")
	v.out["marketing_consent"] = yes
	return err
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f })
}
