package pluginsdk

import (
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/configblock"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb"
)

// toValue converts what Go programs hold into a wire value. Narrower integers
// are widened and times become RFC 3339 text in UTC, for the convenience of authors;
// other types than those of [Value] are an error.
func toValue(v any) (*pluginpb.Value, error) {
	switch v := widen(v).(type) {
	case int64:
		return &pluginpb.Value{Kind: &pluginpb.Value_IntValue{IntValue: v}}, nil
	case nil:
		return &pluginpb.Value{}, nil
	case bool:
		return &pluginpb.Value{Kind: &pluginpb.Value_BoolValue{BoolValue: v}}, nil
	case string:
		if !utf8.ValidString(v) {
			return nil, fmt.Errorf("a text is not valid UTF-8")
		}
		return &pluginpb.Value{Kind: &pluginpb.Value_StringValue{StringValue: v}}, nil
	case []byte:
		return &pluginpb.Value{Kind: &pluginpb.Value_BytesValue{BytesValue: v}}, nil
	case float64:
		return &pluginpb.Value{Kind: &pluginpb.Value_FloatValue{FloatValue: v}}, nil
	}
	return nil, fmt.Errorf("a value of type %T, not nil, bool, int64, float64, string, []byte or time.Time", v)
}

func toInt(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case int32:
		return int64(v), true
	case int16:
		return int64(v), true
	case int8:
		return int64(v), true
	case uint8:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint32:
		return int64(v), true
	case uint:
		return int64(v), uint64(v) <= math.MaxInt64
	case uint64:
		return int64(v), v <= math.MaxInt64
	}
	return 0, false
}

func fromValue(v *pluginpb.Value) Value {
	switch k := v.GetKind().(type) {
	case *pluginpb.Value_BoolValue:
		return k.BoolValue
	case *pluginpb.Value_IntValue:
		return k.IntValue
	case *pluginpb.Value_FloatValue:
		return k.FloatValue
	case *pluginpb.Value_StringValue:
		return k.StringValue
	case *pluginpb.Value_BytesValue:
		return k.BytesValue
	}
	return nil
}

func toValues(m map[string]Value) (map[string]*pluginpb.Value, error) {
	if m == nil {
		return nil, nil
	}
	out := make(map[string]*pluginpb.Value, len(m))
	for name, v := range m {
		value, err := toValue(v)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		out[name] = value
	}
	return out, nil
}

func fromValues(m map[string]*pluginpb.Value) map[string]Value {
	if m == nil {
		return nil
	}
	out := make(map[string]Value, len(m))
	for name, v := range m {
		out[name] = fromValue(v)
	}
	return out
}

func toUser(u User) (*pluginpb.User, error) {
	columns, err := toValues(u.Columns.all)
	if err != nil {
		return nil, fmt.Errorf("user column %w", err)
	}
	return &pluginpb.User{Id: u.ID, Name: u.Name, Email: u.Email, Columns: columns, Locale: u.Locale}, nil
}

func fromUser(u *pluginpb.User) User {
	return User{ID: u.GetId(), Name: u.GetName(), Email: u.GetEmail(), Columns: Values{fromValues(u.GetColumns())}, Locale: u.GetLocale()}
}

func toRequest(r *Request) (*pluginpb.Request, error) {
	if r == nil {
		r = &Request{}
	}
	session, err := toValues(r.Session.all)
	if err != nil {
		return nil, fmt.Errorf("session value %w", err)
	}
	return &pluginpb.Request{
		Id:         r.ID,
		IntentId:   r.IntentID,
		Method:     r.Method,
		Path:       r.Path,
		Query:      r.Query,
		Headers:    r.Headers,
		RemoteAddr: r.RemoteAddr,
		Locale:     r.Locale,
		Intended:   r.Intended,
		Routes:     r.Routes,
		Session:    session,
		SessionId:  r.SessionID,
		SignedInAt: toUnix(r.SignedInAt),
		SignedInBy: r.SignedInBy,
		Held:       r.Held,

		RecoveryOnly: r.RecoveryOnly,
		Asked:        r.Asked,
	}, nil
}

func fromRequest(r *pluginpb.Request, form map[string]*pluginpb.Value) *Request {
	return &Request{
		ID:         r.GetId(),
		IntentID:   r.GetIntentId(),
		Method:     r.GetMethod(),
		Path:       r.GetPath(),
		Query:      r.GetQuery(),
		Headers:    r.GetHeaders(),
		RemoteAddr: r.GetRemoteAddr(),
		Locale:     r.GetLocale(),
		Intended:   r.GetIntended(),
		Routes:     r.GetRoutes(),
		Session:    Values{fromValues(r.GetSession())},
		SessionID:  r.GetSessionId(),
		SignedInAt: fromUnix(r.GetSignedInAt()),
		SignedInBy: r.GetSignedInBy(),
		Held:       r.GetHeld(),
		Form:       Values{fromValues(form)},

		RecoveryOnly: r.GetRecoveryOnly(),
		Asked:        r.GetAsked(),
	}
}

// toUnix and fromUnix take zero, the first second of 1970, for no time at all.
func toUnix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func fromUnix(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

func toEffects(effects []Effect) ([]*pluginpb.Effect, error) {
	out := make([]*pluginpb.Effect, 0, len(effects))
	for _, e := range effects {
		switch e.kind {
		case effectConsumeIntended:
			out = append(out, &pluginpb.Effect{Kind: &pluginpb.Effect_ConsumeIntended{ConsumeIntended: &pluginpb.ConsumeIntended{}}})
			continue
		case effectMail:
			out = append(out, &pluginpb.Effect{Kind: &pluginpb.Effect_SendMail{SendMail: &pluginpb.Mail{Name: e.name, Texts: e.texts}}})
			continue
		}
		value, err := toChange(e.value)
		if err != nil {
			return nil, fmt.Errorf("the effect on %q: %w", e.name, err)
		}
		if e.replaces {
			replaced, err := toReplacement(e, value)
			if err != nil {
				return nil, err
			}
			out = append(out, replaced)
			continue
		}
		set := &pluginpb.Assignment{Name: e.name, Value: value}
		switch e.kind {
		case effectSetSession:
			out = append(out, &pluginpb.Effect{Kind: &pluginpb.Effect_SetSession{SetSession: set}})
		case effectSetUser:
			out = append(out, &pluginpb.Effect{Kind: &pluginpb.Effect_SetUser{SetUser: set}})
		default:
			return nil, fmt.Errorf("an effect that no constructor made")
		}
	}
	return out, nil
}

// toChange converts a value of an effect, where a host refuses floats that are no number. A
// column of a user may hold one.
func toChange(v any) (*pluginpb.Value, error) {
	if f, ok := widen(v).(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil, fmt.Errorf("%v is not a number that can be sent", f)
	}
	return toValue(v)
}

func toReplacement(e Effect, value *pluginpb.Value) (*pluginpb.Effect, error) {
	if e.kind != effectSetUser {
		return nil, fmt.Errorf("the effect on %q replaces a value: only one of SetUser can", e.name)
	}
	old, err := toChange(e.old)
	if err != nil {
		return nil, fmt.Errorf("what the effect on %q replaces: %w", e.name, err)
	}
	return &pluginpb.Effect{Kind: &pluginpb.Effect_ReplaceUser{ReplaceUser: &pluginpb.Replacement{Name: e.name, Old: old, Value: value}}}, nil
}

func fromEffects(effects []*pluginpb.Effect) ([]Effect, error) {
	out := make([]Effect, 0, len(effects))
	for _, e := range effects {
		switch k := e.GetKind().(type) {
		case *pluginpb.Effect_ConsumeIntended:
			out = append(out, ConsumeIntended())
		case *pluginpb.Effect_SetSession:
			out = append(out, SetSession(k.SetSession.GetName(), fromValue(k.SetSession.GetValue())))
		case *pluginpb.Effect_SetUser:
			out = append(out, SetUser(k.SetUser.GetName(), fromValue(k.SetUser.GetValue())))
		case *pluginpb.Effect_ReplaceUser:
			set := k.ReplaceUser
			out = append(out, SetUser(set.GetName(), fromValue(set.GetValue())).Replacing(fromValue(set.GetOld())))
		case *pluginpb.Effect_SendMail:
			out = append(out, Mail(k.SendMail.GetName(), k.SendMail.GetTexts()))
		default:
			return nil, fmt.Errorf("%w: an effect of no known kind", ErrContract)
		}
	}
	return out, nil
}

func toDescription(d Description) *pluginpb.DescribeResponse {
	r := &pluginpb.DescribeResponse{
		Name: d.Name, Version: d.Version, Description: d.Description, Title: d.Title, Roles: d.Roles, Sdk: d.SDK,
		OffersStep: d.OffersStep,
	}
	for _, k := range d.Config {
		r.Config = append(r.Config, &pluginpb.ConfigKey{
			Path: k.Path, Type: k.Type, Required: k.Required, Default: k.Default, Description: k.Doc,
		})
	}
	return r
}

// fromDescription is where what a plugin says of itself enters the host: nothing in it can
// move a cursor, look like another line, or fill a screen.
func fromDescription(r *pluginpb.DescribeResponse) (Description, error) {
	d := Description{
		Name: words.Clean(r.GetName(), 64), Version: words.Clean(r.GetVersion(), 64),
		Description: words.Clean(r.GetDescription(), 300), Title: words.Clean(r.GetTitle(), 64), SDK: words.Clean(r.GetSdk(), 64),
		OffersStep: r.GetOffersStep(),
	}
	for _, role := range first(r.GetRoles(), 16) {
		d.Roles = append(d.Roles, words.Clean(role, 64))
	}
	for _, k := range first(r.GetConfig(), 200) {
		d.Config = append(d.Config, configblock.Key{
			Path: words.Clean(k.GetPath(), 200), Type: words.Clean(k.GetType(), 64), Required: k.GetRequired(),
			Default: words.Clean(k.GetDefault(), 300), Doc: words.Clean(k.GetDescription(), 500),
		})
	}
	return d, nil
}

// first returns at most n of a list that a plugin sent.
func first[T any](list []T, n int) []T { return list[:min(len(list), n)] }

func toSetup(s Setup) *pluginpb.ConfigureRequest {
	config := []byte(s.Config)
	if len(config) == 0 {
		config = []byte("{}")
	}
	return &pluginpb.ConfigureRequest{
		Name: s.Name, Config: config, Roles: s.Roles, UserRead: s.UserRead, UserWrite: s.UserWrite, Headers: s.Headers,
		PublicUrl: s.PublicURL, Mails: s.Mails,
	}
}

func fromSetup(in *pluginpb.ConfigureRequest) Setup {
	return Setup{
		Name: in.GetName(), Config: in.GetConfig(), Roles: in.GetRoles(),
		UserRead: in.GetUserRead(), UserWrite: in.GetUserWrite(), Headers: in.GetHeaders(),
		PublicURL: in.GetPublicUrl(), Mails: in.GetMails(),
	}
}

func toProblems(problems []configblock.Problem) *pluginpb.ConfigureResponse {
	r := &pluginpb.ConfigureResponse{}
	for _, p := range problems {
		r.Problems = append(r.Problems, &pluginpb.Problem{Path: p.Path, Message: p.Message})
	}
	return r
}

// fromProblems returns the mistakes in a config block as the error, and nothing.
func fromProblems(r *pluginpb.ConfigureResponse) (struct{}, error) {
	if len(r.GetProblems()) == 0 {
		return struct{}{}, nil
	}
	problems := &ConfigError{}
	for _, p := range first(r.GetProblems(), 100) {
		problems.Problems = append(problems.Problems, configblock.Problem{
			Path: words.Clean(p.GetPath(), 200), Message: words.Clean(p.GetMessage(), 500),
		})
	}
	return struct{}{}, problems
}
