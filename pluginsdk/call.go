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
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/configblock"
)

// A Call is one call of a plugin, written down as JSON: what the flag -call of a
// plugin and the command "vestibule plugin call" read.
type Call struct {
	// Role is one of [Roles].
	Role string
	// Config is the config block; nil means that of config.hcl.
	Config json.RawMessage
	// User and Request are what the call is about; the form is in Request.
	User    User
	Request *Request
	// Event is what a listener is told; its user is User.
	Event Event
	// Begin is the call of an identity provider, unless Finish is not nil.
	Begin  BeginRequest
	Finish *FinishRequest
	// Changes are those that a validator judges. Their user is User, whose Locale is that of
	// Request.
	Changes []Change
}

// A callFile is a Call as JSON.
type callFile struct {
	Role    string          `json:"role"`
	Config  json.RawMessage `json:"config"`
	User    callUser        `json:"user"`
	Request callRequest     `json:"request"`
	Form    map[string]any  `json:"form"`
	Event   *callEvent      `json:"event"`
	Begin   *callBegin      `json:"begin"`
	Finish  *callFinish     `json:"finish"`
	Changes []callChange    `json:"changes"`
}

type callEvent struct {
	ID   string    `json:"id"`
	Kind string    `json:"kind"`
	At   time.Time `json:"at"`
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
	SessionID  string            `json:"session_id"`
	SignedInAt int64             `json:"signed_in_at"`
	SignedInBy string            `json:"signed_in_by"`
	Held       string            `json:"held"`
	Recovery   bool              `json:"recovery_only"`
	Asked      bool              `json:"asked"`
}

// Parse reads a call:
//
//	{"role":    "dispenser",
//	 "config":  {"directory": "partners.json"},
//	 "user":    {"id": 7, "name": "Ada", "email": "ada@example.com", "columns": {"partner_id": null}},
//	 "request": {"locale": "de", "intended": "/orders", "session": {"visits": 3}},
//	 "form":    {"org_name": "Analytical Engines"},
//	 "event":   {"id": "e1", "kind": "password_reset", "at": "2026-01-31T12:00:00Z"},
//	 "begin":   {"callback": "https://app.example.com/auth/identity/company/callback", "state": "s1", "fresh": true},
//	 "finish":  {"callback": "…", "parameters": {"state": "s1", "code": "c1"}, "private": "<base64>"},
//	 "changes": [{"set": "Orders", "kind": "update", "key": "5", "old": {"status": "open"}, "new": {"status": "paid"}}]}
//
// Every key may be left out; a call with a form and without a role is for the role
// that takes forms, one with an event for the listener, one with begin or finish for the
// identity provider, one with changes for the validator. Integers become int64. Unknown
// keys are an error, which names them.
func (c *Call) Parse(data []byte) error {
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
		return fmt.Errorf("read the call: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if d.More() {
		return errors.New("read the call: something follows the JSON object")
	}
	for _, role := range roles() {
		if f.Role == role.name || f.Role == "" && f.has(role) {
			call, err := f.call(role)
			if err == nil {
				*c = call
			}
			return err
		}
	}
	return fmt.Errorf("read the call: role is %q, not one of %s", f.Role, strings.Join(Roles(), ", "))
}

// has reports whether the call has what the role takes, and nothing of other roles.
func (f callFile) has(role role) bool {
	return role.takesForm == (f.Form != nil) && role.takesEvent == (f.Event != nil) &&
		role.takesIdentity == (f.Begin != nil || f.Finish != nil) && role.takesChanges == (f.Changes != nil)
}

func (f callFile) call(role role) (Call, error) {
	r := f.Request
	e := sampleEvent()
	if f.Event != nil {
		e = Event{ID: cmp.Or(f.Event.ID, e.ID), Kind: cmp.Or(f.Event.Kind, e.Kind), At: f.Event.At}
	}
	begin, finish := f.identity()
	changes, err := f.changes()
	if err != nil {
		return Call{}, err
	}
	return Call{
		Changes: changes,
		Event:   e,
		Begin:   begin,
		Finish:  finish,
		Role:    role.name,
		Config:  f.Config,
		User:    User{ID: fmt.Sprint(f.User.ID), Name: f.User.Name, Email: f.User.Email, Columns: Values{plainMap(f.User.Columns)}},
		Request: &Request{
			ID: r.ID, IntentID: r.IntentID, Method: r.Method, Path: cmp.Or(r.Path, role.path), Query: r.Query,
			Headers: r.Headers, RemoteAddr: r.RemoteAddr, Locale: r.Locale, Intended: r.Intended,
			Routes: r.Routes, Session: Values{plainMap(r.Session)}, Form: Values{plainMap(f.Form)},
			SessionID: r.SessionID, SignedInAt: fromUnix(r.SignedInAt), SignedInBy: r.SignedInBy, Held: r.Held, RecoveryOnly: r.Recovery,
			Asked: r.Asked,
		},
	}, nil
}

// Run makes the call of the functions that p has for the roles, and returns the
// answer as indented JSON.
func (c Call) Run(ctx context.Context, p Plugin) (json.RawMessage, error) {
	for _, role := range roles() {
		if role.name != c.Role || !role.has(p) {
			continue
		}
		answer, err := role.run(ctx, p, c)
		if err != nil {
			return nil, err
		}
		return indent(answer)
	}
	return nil, fmt.Errorf("the plugin does not have the role %q", c.Role)
}

// Over makes the call of a running plugin and drops the answer. Errors are those of
// [Client].
func (c Call) Over(ctx context.Context, client *Client) error {
	for _, role := range roles() {
		if role.name == c.Role {
			var p Plugin
			role.connect(&p, client)
			_, err := role.run(ctx, p, c)
			return err
		}
	}
	return fmt.Errorf("there is no role %q", c.Role)
}

// Samples returns calls of the role and for the user of c, as a host may send them,
// by what is special about each. A plugin that has the role must bear them all; one
// that has not must refuse them.
func (c Call) Samples() map[string]Call {
	all := map[string]Call{}
	for _, role := range roles() {
		if role.name != c.Role {
			continue
		}
		edits := role.samples()
		if edits["an ordinary call"] == nil {
			edits["an ordinary call"] = func(*Call) {}
		}
		for name, edit := range edits {
			req := &Request{
				ID: "sample", IntentID: "sample", Method: "POST", Path: role.path, RemoteAddr: "127.0.0.1",
				Locale: "en", Intended: "/orders?id=1", Headers: map[string]string{"accept-language": "en"},
				Routes:  map[string]string{"home": "/", "dashboard": "/dashboard", "login": "/login"},
				Session: ValuesOf(map[string]Value{"visits": int64(3)}),
			}
			call := Call{Role: c.Role, User: c.User, Request: req, Event: sampleEvent(), Begin: sampleBegin(), Changes: sampleChanges()}
			edit(&call)
			all[name] = call
		}
	}
	return all
}

// sampleEvent is an event as a host may tell it.
func sampleEvent() Event {
	return Event{ID: "sample", Kind: "password_reset", At: time.Date(2026, 1, 31, 12, 0, 0, int(250*time.Millisecond), time.UTC)}
}

func indent(v any) (json.RawMessage, error) {
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return out, nil
}

// effectsJSON is the part that the answers of roles have in common.
func effectsJSON(effects []Effect) []map[string]any {
	out := make([]map[string]any, 0, len(effects))
	for _, e := range effects {
		value := valueJSON(e.value)
		switch e.kind {
		case effectConsumeIntended:
			out = append(out, map[string]any{"consume_intended": true})
		case effectSetSession:
			out = append(out, map[string]any{"set_session": e.name, "value": value})
		case effectSetUser:
			one := map[string]any{"set_user": e.name, "value": value}
			if e.replaces {
				one["replacing"] = valueJSON(e.old)
			}
			out = append(out, one)
		case effectMail:
			out = append(out, map[string]any{"send_mail": e.name, "texts": e.texts})
		}
	}
	return out
}

func valueJSON(v Value) any {
	if b, ok := v.([]byte); ok {
		return map[string]string{"base64": base64.StdEncoding.EncodeToString(b)}
	}
	return v
}

func plainMap(m map[string]any) map[string]Value {
	if m == nil {
		return nil
	}
	out, _ := configblock.Plain(m).(map[string]any)
	return out
}
