package session

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/gorilla/sessions"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

var _ sessions.Store = (*Store)(nil)

// Get returns the request's session as gorilla/sessions has it, for a program that keeps
// values of its own in it; it is loaded once per request. The name that is passed is
// ignored: a store has one cookie, and a request one session.
func (s *Store) Get(r *http.Request, _ string) (*sessions.Session, error) {
	return sessions.GetRegistry(r).Get(s, s.o.Name)
}

// New loads the session as [Store.Load] does, with all values by their stored names.
func (s *Store) New(r *http.Request, _ string) (*sessions.Session, error) {
	out := sessions.NewSession(s, s.o.Name)
	out.IsNew = true
	rec, _, err := s.find(r)
	if rec == nil || err != nil {
		return out, err
	}
	values, err := decode(rec.Data)
	if err != nil {
		return out, fmt.Errorf("load session: %w", err)
	}
	for name, v := range values {
		out.Values[name] = v
	}
	out.IsNew, out.ID = false, rowID(*rec)
	return out, nil
}

// Save writes the session's values. A session without a row gets one, and its cookie,
// only when it has values. Save fails with auth.ErrSessionGone where the row was deleted
// or changed since it was loaded, and writes nothing. A negative Options.MaxAge deletes
// the row.
func (s *Store) Save(r *http.Request, w http.ResponseWriter, sess *sessions.Session) error {
	if sess.ID == "" && len(sess.Values) == 0 {
		return nil
	}
	encoded, _, _ := strings.Cut(sess.ID, ".")
	key, err := hex.DecodeString(encoded)
	if err != nil {
		return fmt.Errorf("save session: the id %q is not of this store", sess.ID)
	}
	ctx, rec := r.Context(), auth.SessionRow{}
	if sess.Options != nil && sess.Options.MaxAge < 0 {
		cookie, err := s.End(ctx, auth.Session{Key: key})
		if err == nil {
			http.SetCookie(w, cookie)
		}
		return err
	}
	if sess.ID != "" {
		if rec, err = s.backend.FindSession(ctx, key); err == nil && rowID(rec) != sess.ID {
			err = auth.ErrSessionGone
		}
		if err != nil {
			return fmt.Errorf("save session: %w", err)
		}
	}
	values := make(map[string]any, len(sess.Values))
	for k, v := range sess.Values {
		name, ok := k.(string)
		if !ok {
			return fmt.Errorf("session key %v is a %T, want a string", k, k)
		}
		values[name] = v
	}
	if rec.Data, err = encode(values); err != nil {
		return err
	}
	if sess.ID == "" {
		cookie, err := s.create(ctx, r, &rec)
		if err != nil {
			return err
		}
		http.SetCookie(w, cookie)
	} else {
		if err := s.backend.UpdateSession(ctx, rec); err != nil {
			return fmt.Errorf("save session: %w", err)
		}
		rec.Version++
	}
	sess.IsNew, sess.ID = false, rowID(rec)
	return nil
}

// rowID names a row and its version: what was loaded is written over no other.
func rowID(rec auth.SessionRow) string {
	return hex.EncodeToString(rec.Hash) + "." + strconv.FormatInt(rec.Version, 10)
}
