package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/sessions"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/words"
)

// Options are the limits and the cookie of a [Store]. The zero value works.
type Options struct {
	// Name is the cookie's name, "vestibule_session" when empty. With Secure the
	// prefix "__Host-" comes before it.
	Name string
	// Secure is set when people reach the host over https.
	Secure bool
	// Idle and Absolute limit a session's life since its last visit and since its
	// beginning: 2 h and 24 h when zero.
	Idle, Absolute time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Address returns the client's address, to describe the session; nil leaves
	// it empty.
	Address func(*http.Request) string
	// Alive reports whether a user may still have sessions. It is asked whenever a
	// session is touched, since the application may delete its people without
	// telling; nil means yes.
	Alive func(ctx context.Context, userID string) (bool, error)
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = "vestibule_session"
	}
	if o.Secure {
		o.Name = "__Host-" + o.Name
	}
	if o.Idle <= 0 {
		o.Idle = 2 * time.Hour
	}
	if o.Absolute <= 0 {
		o.Absolute = 24 * time.Hour
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Address == nil {
		o.Address = func(*http.Request) string { return "" }
	}
	return o
}

// A Store keeps sessions on the server. It is a sessions.Store of
// gorilla/sessions and safe for concurrent use.
type Store struct {
	backend Backend
	o       Options
	known   known
}

var _ sessions.Store = (*Store)(nil)

// New returns a store over backend.
func New(backend Backend, o Options) *Store {
	return &Store{backend: backend, o: o.withDefaults()}
}

// Name returns the name of the cookie.
func (s *Store) Name() string { return s.o.Name }

// Idle returns the idle limit.
func (s *Store) Idle() time.Duration { return s.o.Idle }

// Asked reports whether the request has a cookie of this store. Without one its session
// is new and empty.
func (s *Store) Asked(r *http.Request) bool {
	_, err := r.Cookie(s.o.Name)
	return err == nil
}

// Get returns the request's session, loaded once per request. The name that is
// passed is ignored: a store has one cookie, and a request one session.
func (s *Store) Get(r *http.Request, _ string) (*sessions.Session, error) {
	return sessions.GetRegistry(r).Get(s, s.o.Name)
}

// New loads the session of the request's cookie. It returns an empty one, and no
// error, where there is none or its time is over. It writes nothing but the
// session's touch, when the last is older than a minute or a twentieth of the
// idle limit, whichever is less.
func (s *Store) New(r *http.Request, _ string) (*sessions.Session, error) {
	stored, err := s.load(r)
	if stored != nil && err == nil {
		return stored, nil
	}
	out := sessions.NewSession(s, s.o.Name)
	out.IsNew = true
	return out, err
}

// load returns the session of the request's cookie; nil when there is none.
func (s *Store) load(r *http.Request) (*sessions.Session, error) {
	hash, ok := s.cookieHash(r)
	if !ok {
		return nil, nil
	}
	rec, err := s.backend.FindSession(r.Context(), hash)
	if errors.Is(err, ErrGone) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("load session: %w", err)
	}
	now := s.o.Now()
	if s.over(rec, now) {
		return nil, nil
	}
	if s.due(rec, now) {
		alive, err := s.touch(r.Context(), rec, now)
		if err != nil || !alive {
			return nil, err
		}
		rec.Seen = now
	}
	return s.Restore(rec)
}

// over reports whether a record's time is over.
func (s *Store) over(rec Record, now time.Time) bool {
	return !now.Before(rec.Expires) || now.Sub(rec.Seen) >= s.o.Idle
}

// Alive reports for each of the sessions with these keys whether it is still there
// and its time is not over. It writes nothing.
func (s *Store) Alive(ctx context.Context, hashes [][]byte) ([]bool, error) {
	found, err := s.backend.FindSessions(ctx, hashes)
	if err != nil {
		return nil, fmt.Errorf("find sessions: %w", err)
	}
	now := s.o.Now()
	lasts := map[string]bool{}
	for _, rec := range found {
		lasts[string(rec.Hash)] = !s.over(rec, now)
	}
	alive := make([]bool, len(hashes))
	for i, hash := range hashes {
		alive[i] = lasts[string(hash)]
	}
	return alive, nil
}

// touch notes the visit, or ends the session of a user who may have none.
func (s *Store) touch(ctx context.Context, rec Record, now time.Time) (alive bool, err error) {
	alive = true
	if rec.UserID != "" && s.o.Alive != nil {
		if alive, err = s.o.Alive(ctx, rec.UserID); err != nil {
			return false, fmt.Errorf("find the session's user: %w", err)
		}
	}
	if !alive {
		err = s.backend.DeleteSession(ctx, rec.Hash)
	} else {
		err = s.backend.TouchSession(ctx, rec.Hash, now)
	}
	if err != nil {
		return false, fmt.Errorf("touch session: %w", err)
	}
	return alive, nil
}

// Restore returns the session that a record holds.
func (s *Store) Restore(rec Record) (*sessions.Session, error) {
	values, err := decode(rec.Data)
	if err != nil {
		return nil, fmt.Errorf("load session: %w", err)
	}
	out := sessions.NewSession(s, s.o.Name)
	out.Values = values
	setRecord(out, rec)
	return out, nil
}

// Expired returns the cookie that removes the browser's.
func (s *Store) Expired() *http.Cookie { return s.cookie("", -1) }

// Save writes the session's values. A session without a row gets one, and its
// cookie, only when it has values; one whose row was deleted meanwhile gives
// [ErrGone] and stays deleted. A negative Options.MaxAge deletes it.
func (s *Store) Save(r *http.Request, w http.ResponseWriter, sess *sessions.Session) error {
	rec, stored := RecordOf(sess)
	if sess.Options != nil && sess.Options.MaxAge < 0 {
		cookie, err := s.End(r.Context(), sess)
		if err != nil {
			return err
		}
		http.SetCookie(w, cookie)
		return nil
	}
	if stored {
		return s.Update(r.Context(), sess, rec)
	}
	if len(sess.Values) == 0 {
		return nil
	}
	cookie, err := s.Renew(r.Context(), r, sess, Record{})
	if err != nil {
		return err
	}
	http.SetCookie(w, cookie)
	return nil
}

// Update writes the values of sess and the user and the device of rec over the row
// that rec names, if it still has the version of rec; otherwise it fails with
// [ErrGone]. It never inserts.
func (s *Store) Update(ctx context.Context, sess *sessions.Session, rec Record) error {
	data, err := encode(ownValues(sess))
	if err != nil {
		return err
	}
	rec.Data = data
	if err := s.backend.UpdateSession(ctx, rec); err != nil {
		return fmt.Errorf("save session: %w", err)
	}
	rec.Version++
	setRecord(sess, rec)
	return nil
}

// Renew stores the session under a new random id, with the user and the device of
// rec, and deletes the row that it had. The caller sets the returned cookie once
// the transaction of ctx has committed.
func (s *Store) Renew(ctx context.Context, r *http.Request, sess *sessions.Session, rec Record) (*http.Cookie, error) {
	data, err := encode(ownValues(sess))
	if err != nil {
		return nil, err
	}
	if old, ok := RecordOf(sess); ok {
		if err := s.backend.DeleteSession(ctx, old.Hash); err != nil {
			return nil, fmt.Errorf("end old session: %w", err)
		}
	}
	id := make([]byte, 32)
	if _, err := rand.Read(id); err != nil {
		return nil, fmt.Errorf("make session id: %w", err)
	}
	sum := sha256.Sum256(id)
	now := s.o.Now()
	rec.Hash, rec.Version, rec.Data = sum[:], 1, data
	rec.Created, rec.Seen, rec.Expires = now, now, now.Add(s.o.Absolute)
	rec.UserAgent, rec.Address = words.Printable(r.UserAgent(), 255), words.Printable(s.o.Address(r), 64)
	if err := s.backend.CreateSession(ctx, rec); err != nil {
		return nil, fmt.Errorf("start session: %w", err)
	}
	setRecord(sess, rec)
	sess.IsNew = false
	return s.cookie(base64.RawURLEncoding.EncodeToString(id), 0), nil
}

// End deletes the session's row and returns the cookie that removes the
// browser's.
func (s *Store) End(ctx context.Context, sess *sessions.Session) (*http.Cookie, error) {
	if rec, ok := RecordOf(sess); ok {
		if err := s.backend.DeleteSession(ctx, rec.Hash); err != nil {
			return nil, fmt.Errorf("end session: %w", err)
		}
	}
	return s.Expired(), nil
}

// cookie has no lifetime of its own: it ends with the browser, and the row
// before that.
func (s *Store) cookie(value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: s.o.Name, Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.o.Secure,
	}
}

// cookieHash returns the key of the row that the request's cookie names.
func (s *Store) cookieHash(r *http.Request) ([]byte, bool) {
	c, err := r.Cookie(s.o.Name)
	if err != nil {
		return nil, false
	}
	return HashID(c.Value)
}

// HashID returns the key under which the session with this cookie value is
// stored, and false for a value that no session cookie can have.
func HashID(value string) ([]byte, bool) {
	if len(value) != base64.RawURLEncoding.EncodedLen(32) {
		return nil, false
	}
	id, err := base64.RawURLEncoding.Strict().DecodeString(value)
	if err != nil {
		return nil, false
	}
	sum := sha256.Sum256(id)
	return sum[:], true
}
