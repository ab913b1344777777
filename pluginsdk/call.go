package pluginsdk

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/configblock"
)

// A Call is one call of a plugin, written down as JSON: what the flag -call of a
// plugin and the command "vestibule plugin call" read.
type Call struct {
	// Role is RoleDispenser or RoleOrgSetup.
	Role string
	// Config is the config block; nil means that of config.hcl.
	Config json.RawMessage
	// User and Request are what the call is about; the form is in Request.
	User    User
	Request *Request
}

// A callFile is a Call as JSON.
type callFile struct {
	Role    string          `json:"role"`
	Config  json.RawMessage `json:"config"`
	User    callUser        `json:"user"`
	Request callRequest     `json:"request"`
	Form    map[string]any  `json:"form"`
}

type callUser struct {
	ID      any            `json:"id"`
	Name    string         `json:"name"`
	Email   string         `json:"email"`
	Columns map[string]any `json:"columns"`
}

type callRequest struct {
	ID         string            `json:"id"`
	IntentID   string            `json:"intent_id"`
	Method     string            `json:"method"`
	Path       string            `json:"path"`
	Query      string            `json:"query"`
	Headers    map[string]string `json:"headers"`
	RemoteAddr string            `json:"remote_addr"`
	Locale     string            `json:"locale"`
	Intended   string            `json:"intended"`
	Routes     map[string]string `json:"routes"`
	Session    map[string]any    `json:"session"`
}

// ParseCall reads a call:
//
//	{"role":    "dispenser",
//	 "config":  {"directory": "partners.json"},
//	 "user":    {"id": 7, "name": "Ada", "email": "ada@example.com", "columns": {"partner_id": null}},
//	 "request": {"locale": "de", "intended": "/orders", "session": {"visits": 3}},
//	 "form":    {"org_name": "Analytical Engines"}}
//
// Every key may be left out; a form without a role is for RoleOrgSetup. Integers
// become int64. Unknown keys are an error, which names them.
func ParseCall(data []byte) (Call, error) {
	f := callFile{
		User: callUser{ID: "1", Name: "Ada Lovelace", Email: "ada@example.com"},
		Request: callRequest{
			ID: "call", IntentID: "call", Method: "POST", RemoteAddr: "127.0.0.1", Locale: "en",
			Routes: map[string]string{"home": "/", "dashboard": "/dashboard", "login": "/login"},
		},
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return Call{}, fmt.Errorf("read the call: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if d.More() {
		return Call{}, errors.New("read the call: something follows the JSON object")
	}
	c := f.call()
	if c.Role != RoleDispenser && c.Role != RoleOrgSetup {
		return Call{}, fmt.Errorf("read the call: role is %q, not %q or %q", c.Role, RoleDispenser, RoleOrgSetup)
	}
	return c, nil
}

func (f callFile) call() Call {
	role, path := RoleDispenser, "/auth/login"
	if f.Form != nil || f.Role == RoleOrgSetup {
		role, path = RoleOrgSetup, "/auth/intents/org-setup"
	}
	r := f.Request
	return Call{
		Role:   cmp.Or(f.Role, role),
		Config: f.Config,
		User:   User{ID: fmt.Sprint(f.User.ID), Name: f.User.Name, Email: f.User.Email, Columns: plainMap(f.User.Columns)},
		Request: &Request{
			ID: r.ID, IntentID: r.IntentID, Method: r.Method, Path: cmp.Or(r.Path, path), Query: r.Query,
			Headers: r.Headers, RemoteAddr: r.RemoteAddr, Locale: r.Locale, Intended: r.Intended,
			Routes: r.Routes, Session: plainMap(r.Session), Form: plainMap(f.Form),
		},
	}
}

// Run makes the call and returns the answer as indented JSON. d or h may be nil
// when the other role is called.
func (c Call) Run(ctx context.Context, d Dispenser, h OrgSetupHandler) (json.RawMessage, error) {
	switch {
	case c.Role == RoleDispenser && d != nil:
		intent, err := d.Dispense(ctx, c.User, c.Request)
		if err != nil {
			return nil, err
		}
		return indent(intentAnswer{intent.kind, intent.target, intent.personName, effectsJSON(intent.effects)})
	case c.Role == RoleOrgSetup && h != nil:
		result, err := h.Handle(ctx, c.User, c.Request)
		if err != nil {
			return nil, err
		}
		return indent(resultAnswer{result.status, result.nextStep, result.errors, effectsJSON(result.effects)})
	}
	return nil, fmt.Errorf("the plugin does not have the role %q", c.Role)
}

func indent(v any) (json.RawMessage, error) {
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return out, nil
}

// The answers as JSON.
type (
	intentAnswer struct {
		Kind       Kind             `json:"kind"`
		Target     string           `json:"target,omitempty"`
		PersonName string           `json:"person_name,omitempty"`
		Effects    []map[string]any `json:"effects"`
	}
	resultAnswer struct {
		Status   Status           `json:"status"`
		NextStep map[string]any   `json:"next_step,omitempty"`
		Errors   []string         `json:"errors,omitempty"`
		Effects  []map[string]any `json:"effects"`
	}
)

func effectsJSON(effects []Effect) []map[string]any {
	out := make([]map[string]any, 0, len(effects))
	for _, e := range effects {
		value := e.value
		if b, ok := value.([]byte); ok {
			value = map[string]string{"base64": base64.StdEncoding.EncodeToString(b)}
		}
		switch e.kind {
		case EffectConsumeIntended:
			out = append(out, map[string]any{"consume_intended": true})
		case EffectSetSession:
			out = append(out, map[string]any{"set_session": e.name, "value": value})
		case EffectSetUser:
			out = append(out, map[string]any{"set_user": e.name, "value": value})
		}
	}
	return out
}

func plainMap(m map[string]any) map[string]Value {
	if m == nil {
		return nil
	}
	out, _ := configblock.Plain(m).(map[string]any)
	return out
}
