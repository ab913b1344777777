package pluginsdk

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb"
)

// RoleOrgSetup is the role of an [OrgSetupHandler].
const RoleOrgSetup = "org_setup"

// An OrgSetupHandler receives the organisation form, which the host has already
// validated. Handle may be called from several goroutines at once. The host
// never repeats a call by itself, but a person may submit the same step again:
// [Request.IntentID] is the same then. An error means that the form could not
// be judged: the answer is 503 and the loop stays where it is.
type OrgSetupHandler interface {
	Handle(ctx context.Context, user User, req *Request) (Result, error)
}

// OrgSetupFunc lets an ordinary function be an [OrgSetupHandler].
type OrgSetupFunc func(ctx context.Context, user User, req *Request) (Result, error)

// Handle calls f.
func (f OrgSetupFunc) Handle(ctx context.Context, user User, req *Request) (Result, error) {
	return f(ctx, user, req)
}

// An OrgForm is the organisation form as the host has validated it. Fill one
// with [Request.Bind].
type OrgForm struct {
	// LegalForm is 1 or 2.
	LegalForm int `form:"legal_form"`
	// OrgName has up to 255 characters.
	OrgName string `form:"org_name"`
	// CompanySize is solo, small, growing, mid_market or enterprise.
	CompanySize string `form:"company_size"`
	// Function is developer, tech_lead, architect, executive or other.
	Function string `form:"function"`
	// BillingEmail is optional, empty when absent.
	BillingEmail string `form:"billing_email"`
	// MarketingConsent is true when the person agreed.
	MarketingConsent bool `form:"marketing_consent"`
}

// The statuses of a result. Only satisfied advances the loop.
const (
	statusSatisfied      = "satisfied"
	statusNeedsMoreInput = "needs_more_input"
	statusError          = "error"
)

// A Result is what an [OrgSetupHandler] answers. Make one with [Satisfied],
// [NeedsMoreInput] or [Failed]; the zero value breaks the contract. A Result is
// a value: methods return copies and it may be shared between goroutines.
type Result struct {
	status   string
	nextStep map[string]any
	errors   []string
	effects  []Effect
}

// Satisfied says that the step is complete. The host then asks the dispenser
// again, which sees the effects already laid over the user.
func Satisfied() Result { return Result{status: statusSatisfied} }

// NeedsMoreInput keeps the person on the step. payload reaches the front end as
// it is, as JSON; by convention {"fields": {"<field>": ["<code or text>"]},
// "message": "…"}, which is shown at the fields. It must be encodable as JSON.
func NeedsMoreInput(payload map[string]any) Result {
	return Result{status: statusNeedsMoreInput, nextStep: payload}
}

// Failed keeps the person on the step and shows the messages above the form. A
// message is one of the front end's codes or a text in the request's locale.
func Failed(messages ...string) Result {
	return Result{status: statusError, errors: slices.Clone(messages)}
}

// With returns a copy of the result that asks for effects. The host applies
// them only when the status is that of [Satisfied].
func (r Result) With(effects ...Effect) Result {
	r.effects = append(slices.Clip(r.effects), effects...)
	return r
}

// Status returns the judgement; it is empty for the zero Result.
func (r Result) Status() string { return r.status }

// IsSatisfied reports whether the result is one of [Satisfied].
func (r Result) IsSatisfied() bool { return r.status == statusSatisfied }

// WantsInput reports whether the result is one of [NeedsMoreInput].
func (r Result) WantsInput() bool { return r.status == statusNeedsMoreInput }

// IsFailed reports whether the result is one of [Failed].
func (r Result) IsFailed() bool { return r.status == statusError }

// NextStep returns the payload of [NeedsMoreInput], nil otherwise. The map is
// shared, not copied.
func (r Result) NextStep() map[string]any { return r.nextStep }

// Errors returns the messages of [Failed], nil otherwise.
func (r Result) Errors() []string { return slices.Clone(r.errors) }

// Effects returns what the handler asks the host to change, in order.
func (r Result) Effects() []Effect { return slices.Clone(r.effects) }

// orgSetupRole is what the rest of the SDK knows of the role.
func orgSetupRole() role {
	return role{
		name: RoleOrgSetup, field: "OrgSetup", path: "/auth/intents/org-setup", takesForm: true,
		has: func(p Plugin) bool { return p.OrgSetup != nil },
		run: func(ctx context.Context, p Plugin, c Call) (any, error) {
			r, err := p.OrgSetup.Handle(ctx, c.User, c.Request)
			return struct {
				Status   string           `json:"status"`
				NextStep map[string]any   `json:"next_step,omitempty"`
				Errors   []string         `json:"errors,omitempty"`
				Effects  []map[string]any `json:"effects"`
			}{r.status, r.nextStep, r.errors, effectsJSON(r.effects)}, err
		},
		connect: func(p *Plugin, c *Client) { p.OrgSetup = c },
		samples: func() map[string]func(*Call) { return onRequest(orgForms()) },
	}
}

// orgForms are organisation forms as a host may send them, and languages.
func orgForms() map[string]func(*Request) {
	form := func(name, size string, billing Value) func(*Request) {
		return func(r *Request) {
			r.Form = ValuesOf(map[string]Value{
				"legal_form": int64(2), "org_name": name, "company_size": size, "function": "developer",
				"billing_email": billing, "marketing_consent": false,
			})
		}
	}
	later := form("x", "solo", nil)
	all := map[string]func(*Request){
		"an ordinary call":                  form("Analytical Engines", "small", nil),
		"an enterprise without an address":  form("Analytical Engines", "enterprise", nil),
		"an enterprise with an address":     form("Analytical Engines", "enterprise", "bills@example.com"),
		"a name of 255 characters":          form(strings.Repeat("ü", 255), "solo", nil),
		"a name in another script":          form("株式会社 👩‍🚀", "growing", "ünï@example.com"),
		"a name that looks like markup":     form(`<script>alert("1")</script> %s ${x}`, "mid_market", "a@example.com"),
		"a form with a field of the future": func(r *Request) { later(r); r.Form.all["later"] = 1.5 },
	}
	for _, locale := range []string{"de", "pt-BR", ""} {
		ordinary := form("Analytical Engines", "small", nil)
		all["the language "+strconv.Quote(locale)] = func(r *Request) { ordinary(r); r.Locale = locale }
	}
	return all
}

// Handle asks the plugin to judge the form in req.
func (c *Client) Handle(ctx context.Context, user User, req *Request) (Result, error) {
	u, r, err := toSubject(user, req)
	if err != nil {
		return Result{}, err
	}
	in := &pluginpb.HandleRequest{User: u, Request: r}
	if req != nil {
		if in.Form, err = toValues(req.Form.all); err != nil {
			return Result{}, fmt.Errorf("%w: form field %w", ErrUnavailable, err)
		}
	}
	return callPlugin(withTrace(ctx, req), c.rpc().Handle, in, fromResult)
}

// Handle answers a host's call with the author's handler.
func (s *server) Handle(ctx context.Context, in *pluginpb.HandleRequest) (*pluginpb.HandleResponse, error) {
	h := s.plugin.OrgSetup
	if h == nil {
		return nil, lacksRole(RoleOrgSetup)
	}
	req := fromRequest(in.GetRequest(), in.GetForm())
	return answerCall(s.callFor(ctx, "handle", req), func(ctx context.Context) (Result, error) {
		result, err := h.Handle(ctx, fromUser(in.GetUser()), req)
		return result, cmp.Or(err, checkSession(req, result.effects), checkMails(result.effects))
	}, toResult)
}

func toResult(r Result) (*pluginpb.HandleResponse, error) {
	effects, err := toEffects(r.effects)
	if err != nil {
		return nil, err
	}
	out := &pluginpb.HandleResponse{Status: r.status, Errors: r.errors, Effects: effects}
	for _, text := range r.errors {
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("a text is not valid UTF-8")
		}
	}
	if r.nextStep != nil {
		if out.NextStep, err = json.Marshal(r.nextStep); err != nil {
			return nil, fmt.Errorf("the payload of NeedsMoreInput: %w", err)
		}
	}
	return out, nil
}

func fromResult(r *pluginpb.HandleResponse) (Result, error) {
	effects, err := fromEffects(r.GetEffects())
	if err != nil {
		return Result{}, err
	}
	switch status := r.GetStatus(); status {
	case statusSatisfied:
		return Satisfied().With(effects...), nil
	case statusError:
		return Failed(r.GetErrors()...).With(effects...), nil
	case statusNeedsMoreInput:
		payload, err := fromPayload(r.GetNextStep())
		if err != nil {
			return Result{}, err
		}
		return NeedsMoreInput(payload).With(effects...), nil
	case "":
		return Result{}, fmt.Errorf("%w: it returned no result", ErrContract)
	default:
		return Result{}, fmt.Errorf("%w: it returned a result of unknown status %q", ErrContract, words.Cut(status, 64))
	}
}

// fromPayload keeps numbers as they were written, so that the payload reaches
// the front end as it is.
func fromPayload(data []byte) (map[string]any, error) {
	payload := map[string]any{}
	if len(data) == 0 {
		return payload, nil
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%w: its next_step is not valid UTF-8", ErrContract)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&payload); err != nil || d.More() || payload == nil {
		return nil, fmt.Errorf("%w: its next_step is not a JSON object", ErrContract)
	}
	return payload, nil
}
