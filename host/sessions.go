package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gorilla/sessions"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/session"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// The names under which sign-in keeps its values in the stored session. Plugins'
// values stand under pluginPrefix.
const (
	intendedKey  = "auth.intended"
	intentKey    = "auth.intent" // an auth.OpenIntent in JSON
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
	store   *session.Store
	backend session.Backend
}

// Load reads the request's session, once per request.
func (a signInSessions) Load(r *http.Request) (auth.Session, error) {
	s, err := a.store.Get(r, a.store.Name())
	if err != nil {
		return auth.Session{}, err
	}
	return fromStored(s), nil
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
		}
	}
	out.Intended, _ = s.Values[intendedKey].(string)
	if text, ok := s.Values[intentKey].(string); ok {
		out.Intent = new(auth.OpenIntent)
		if err := json.Unmarshal([]byte(text), out.Intent); err != nil {
			return auth.Session{}
		}
	}
	return out
}

// toValues writes sign-in's values over those in values and leaves the
// application's alone.
func toValues(s auth.Session, values map[any]any) {
	for k := range values {
		if name, ok := k.(string); ok && strings.HasPrefix(name, pluginPrefix) {
			delete(values, k)
		}
	}
	for name, v := range s.Values {
		values[pluginPrefix+name] = v
	}
	delete(values, intendedKey)
	if s.Intended != "" {
		values[intendedKey] = s.Intended
	}
	delete(values, intentKey)
	if s.Intent != nil {
		text, _ := json.Marshal(s.Intent) // an intent of the catalogue cannot fail
		values[intentKey] = string(text)
	}
}

// Renew starts a session under a new id in place of old, with what the
// application keeps in it, unless that was another person's.
func (a signInSessions) Renew(ctx context.Context, r *http.Request, old, next auth.Session) (auth.Session, *http.Cookie, error) {
	s := sessions.NewSession(a.store, a.store.Name())
	own := old.UserID == "" || old.UserID == next.UserID
	if loaded, err := a.store.Get(r, a.store.Name()); err == nil && old.Key != nil && own {
		for k, v := range loaded.Values {
			if name, ok := k.(string); ok {
				s.Values[name] = v
			}
		}
	}
	toValues(next, s.Values)
	if old.Key != nil {
		if err := a.backend.DeleteSession(ctx, old.Key); err != nil {
			return next, nil, fmt.Errorf("end old session: %w", err)
		}
	}
	cookie, err := a.store.Renew(ctx, r, s, session.Record{UserID: next.UserID, Device: next.Device})
	if err != nil {
		return next, nil, err
	}
	rec, _ := session.RecordOf(s)
	next.Key, next.Version = rec.Hash, rec.Version
	return next, cookie, nil
}

// Update writes s over the row that it was loaded from.
func (a signInSessions) Update(ctx context.Context, s auth.Session) error {
	rec, err := a.backend.FindSession(ctx, s.Key)
	if err == nil {
		stored, derr := a.store.Restore(rec)
		if derr != nil {
			return derr
		}
		toValues(s, stored.Values)
		rec.Version, rec.UserID, rec.Device = s.Version, s.UserID, s.Device
		err = a.store.Update(ctx, stored, rec)
	}
	if errors.Is(err, session.ErrNotFound) {
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
