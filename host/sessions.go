package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/sessions"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/session"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// The names under which sign-in keeps its values in the stored session. Plugins'
// values stand under pluginPrefix; all others are the application's.
const (
	intendedKey  = "auth.intended"
	intentKey    = "auth.intent"  // an auth.OpenIntent in JSON, while the loop has not ended
	targetKey    = "auth.target"  // the target of the redirect that ended the loop, which is read at every request
	unaskedKey   = "auth.unasked" // true for a device's session that no dispenser was asked about
	provedKey    = "auth.proved"  // when the password was given, in seconds since 1970
	proofKey     = "auth.proof"
	pluginPrefix = "plugin."
)

// enabled reports whether a user is there and not disabled, and may therefore have
// sessions.
func enabled(users auth.Users) func(context.Context, string) (bool, error) {
	return func(ctx context.Context, id string) (bool, error) {
		user, err := users.FindByID(ctx, id)
		if errors.Is(err, auth.ErrNotFound) {
			return false, nil
		}
		return !user.Disabled, err
	}
}

// signInSessions lets the pipeline work on gorilla sessions.
type signInSessions struct {
	guests  *session.Guests
	store   *session.Store
	backend session.Backend
}

// Load reads the request's session, once per request, and the intended URL of a
// guest from its cookie.
func (a signInSessions) Load(r *http.Request) (auth.Session, error) {
	if !a.store.Asked(r) { // there is nothing that would be loaded twice
		return auth.Session{Values: map[string]pluginsdk.Value{}, Intended: a.guests.Page(r)}, nil
	}
	s, err := a.store.Get(r, a.store.Name())
	if err != nil {
		return auth.Session{}, err
	}
	out := fromStored(s)
	if !out.SignedIn() {
		out.Intended = a.guests.Page(r)
	}
	return out, nil
}

// KeepGuest returns the cookie that keeps a guest's intended URL.
func (a signInSessions) KeepGuest(page string) (*http.Cookie, error) { return a.guests.Keep(page) }

// Alive reports which sessions are still there.
func (a signInSessions) Alive(ctx context.Context, keys [][]byte) ([]bool, error) {
	return a.store.Alive(ctx, keys)
}

// fromStored returns what sign-in keeps in a stored session. A session whose intent
// this version cannot read, as after a return to an older one, counts as none: the
// person signs in again, and is not taken for settled.
func fromStored(s *sessions.Session) auth.Session {
	out := auth.Session{Values: map[string]pluginsdk.Value{}}
	if rec, ok := session.RecordOf(s); ok {
		out.Key, out.Version, out.UserID, out.Device = rec.Hash, rec.Version, rec.UserID, rec.Device
	}
	for k, v := range s.Values {
		name, ok := k.(string)
		if !ok {
			continue
		}
		if plugin, ok := strings.CutPrefix(name, pluginPrefix); ok {
			out.Values[plugin] = v
			continue
		}
		switch name {
		case intendedKey, intentKey, targetKey, unaskedKey, provedKey, proofKey:
		default:
			if out.Others == nil {
				out.Others = map[string]any{}
			}
			out.Others[name] = v
		}
	}
	out.Intended, _ = s.Values[intendedKey].(string)
	out.Unasked, _ = s.Values[unaskedKey].(bool)
	if at, ok := s.Values[provedKey].(int64); ok {
		out.Proved = time.Unix(at, 0)
	}
	proof, _ := s.Values[proofKey].(string)
	out.Proof = auth.Proof(proof)
	if target, ok := s.Values[targetKey].(string); ok {
		out.Intent = &auth.OpenIntent{Intent: pluginsdk.Redirect(target)}
	}
	if text, ok := s.Values[intentKey].(string); ok {
		out.Intent = new(auth.OpenIntent)
		if err := out.Intent.UnmarshalJSON([]byte(text)); err != nil {
			return auth.Session{}
		}
	}
	return out
}

// newStored makes a gorilla session with the values of s.
func (a signInSessions) newStored(s auth.Session) *sessions.Session {
	out := sessions.NewSession(a.store, a.store.Name())
	for name, v := range s.Others {
		out.Values[name] = v
	}
	for name, v := range s.Values {
		out.Values[pluginPrefix+name] = v
	}
	if s.Intended != "" {
		out.Values[intendedKey] = s.Intended
	}
	if !s.Proved.IsZero() {
		out.Values[provedKey], out.Values[proofKey] = s.Proved.Unix(), string(s.Proof)
	}
	switch {
	case s.Unasked:
		out.Values[unaskedKey] = true
	case s.Intent == nil:
	case s.Intent.Ends():
		out.Values[targetKey] = s.Intent.Target()
	default:
		text, _ := json.Marshal(s.Intent) // an intent of the catalogue cannot fail
		out.Values[intentKey] = string(text)
	}
	return out
}

// Renew starts a session under a new id in place of old, with what the
// application keeps in it, unless that was another person's.
func (a signInSessions) Renew(ctx context.Context, r *http.Request, old, next auth.Session) (auth.Session, []*http.Cookie, error) {
	next.Others = nil
	if old.UserID == "" || old.UserID == next.UserID {
		next.Others = old.Others
	}
	if old.Key != nil {
		if err := a.backend.DeleteSession(ctx, old.Key); err != nil {
			return next, nil, fmt.Errorf("end old session: %w", err)
		}
	}
	s := a.newStored(next)
	cookie, err := a.store.Renew(ctx, r, s, session.Record{UserID: next.UserID, Device: next.Device})
	if err != nil {
		return next, nil, err
	}
	rec, _ := session.RecordOf(s)
	next.Key, next.Version = rec.Hash, rec.Version
	cookies := []*http.Cookie{cookie}
	if expired := a.guests.Expired(r); expired != nil {
		cookies = append(cookies, expired)
	}
	return next, cookies, nil
}

// Reload returns the session as it is stored now.
func (a signInSessions) Reload(ctx context.Context, s auth.Session) (auth.Session, error) {
	rec, err := a.backend.FindSession(ctx, s.Key)
	if errors.Is(err, session.ErrGone) {
		return auth.Session{}, nil
	}
	if err != nil {
		return auth.Session{}, fmt.Errorf("read session again: %w", err)
	}
	stored, err := a.store.Restore(rec)
	if err != nil {
		return auth.Session{}, err
	}
	return fromStored(stored), nil
}

// Update writes s over the row that it was loaded from.
func (a signInSessions) Update(ctx context.Context, s auth.Session) error {
	rec := session.Record{Hash: s.Key, Version: s.Version, UserID: s.UserID, Device: s.Device}
	err := a.store.Update(ctx, a.newStored(s), rec)
	if errors.Is(err, session.ErrGone) {
		return auth.ErrSessionGone
	}
	return err
}

// End deletes the session.
func (a signInSessions) End(ctx context.Context, s auth.Session) (*http.Cookie, error) {
	if s.Key != nil {
		if err := a.backend.DeleteSession(ctx, s.Key); err != nil {
			return nil, fmt.Errorf("end session: %w", err)
		}
	}
	return a.store.Expired(), nil
}

// EndUser deletes all sessions of a user.
func (a signInSessions) EndUser(ctx context.Context, userID string) error {
	return a.backend.DeleteUserSessions(ctx, userID)
}

// EndDevice deletes all sessions of a device.
func (a signInSessions) EndDevice(ctx context.Context, selector []byte) error {
	return a.backend.DeleteDeviceSessions(ctx, selector)
}
