package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/clock"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
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
	// Living returns those of the users who may have sessions. With it Alive is asked
	// whenever a session is loaded, and Living by [Store.Alive], so that a session ends
	// at once with what its user may; nil leaves both to the touch.
	Living func(ctx context.Context, userIDs []string) (map[string]bool, error)
	// Unrecorded is called with the error of visits that were to be recorded after their requests; nil ignores it.
	// Their sessions last no shorter than if the host had died.
	Unrecorded func(error)
	// Guests keeps what is remembered of guests; nil remembers nothing.
	Guests *Guests
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
	if o.Unrecorded == nil {
		o.Unrecorded = func(error) {}
	}
	if o.Guests == nil {
		o.Guests = NewGuests(nil, o.Secure, o.Now)
	}
	return o
}

// OwnedRows are session rows that can be read together with the rows of their users.
type OwnedRows interface {
	auth.SessionRows
	// FindOwned is FindSession with the session's user: all columns but credentials, or id, name and email alone, with no Columns.
	// The user is nil where there is none, and where reading it takes a statement of its own.
	FindOwned(ctx context.Context, hash []byte, columns bool) (auth.SessionRow, *auth.User, error)
}

// A Store keeps sessions on the server. It is safe for concurrent use.
type Store struct {
	backend auth.SessionRows
	o       Options
	// interval is how old the recorded visit of a session gets while its person comes.
	interval time.Duration
	visits   *visits
}

var _ auth.Sessions = (*Store)(nil)

// New returns a store over backend.
func New(backend auth.SessionRows, o Options) *Store {
	o = o.withDefaults()
	interval := min(5*time.Minute, o.Idle/20)
	return &Store{backend, o, interval, newVisits(backend, interval/10, o.Unrecorded)}
}

// Flush records the visits that wait in memory for others. Call it before the database is closed.
func (s *Store) Flush(ctx context.Context) error { return s.visits.flush(ctx) }

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

// Load returns the session of the request's cookie, with the intended URL of a guest. It
// returns an empty one, and no error, where there is none or its time is over. It writes
// nothing but the session's touch, at the latest when the last is older than five minutes or a
// twentieth of the idle limit, whichever is less.
func (s *Store) Load(r *http.Request) (auth.Session, error) {
	rec, owner, err := s.find(r)
	if err != nil {
		return auth.Session{}, err
	}
	out := auth.Session{Values: map[string]pluginsdk.Value{}}
	if rec != nil {
		if out, err = sessionOf(*rec); err != nil {
			return auth.Session{}, err
		}
		out.Owner = owner
	}
	if !out.SignedIn() {
		out.Intended = s.o.Guests.Page(r)
	}
	return out, nil
}

// find returns the record of the request's cookie, and the row of its user where the request wants it and the backend reads
// both at once; nil when there is none.
func (s *Store) find(r *http.Request) (*auth.SessionRow, *auth.User, error) {
	hash, ok := s.cookieHash(r)
	if !ok {
		return nil, nil, nil
	}
	rec, owner, err := s.read(r.Context(), hash)
	if errors.Is(err, auth.ErrSessionGone) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("load session: %w", err)
	}
	now := s.o.Now()
	if s.over(rec, now) {
		return nil, nil, nil
	}
	if due := s.due(rec, now); due != recorded || s.o.Living != nil {
		alive, err := s.visit(r.Context(), rec, owner, now, due)
		if err != nil || !alive {
			return nil, nil, err
		}
	}
	return &rec, owner, nil
}

// read reads the row of a session.
func (s *Store) read(ctx context.Context, hash []byte) (rec auth.SessionRow, owner *auth.User, err error) {
	if user, columns := auth.RequestOf(ctx).WantsUser(); user {
		if both, ok := s.backend.(OwnedRows); ok {
			return both.FindOwned(ctx, hash, columns)
		}
	}
	rec, err = s.backend.FindSession(ctx, hash)
	return rec, nil, err
}

// over reports whether a record's time is over.
func (s *Store) over(rec auth.SessionRow, now time.Time) bool {
	return !now.Before(rec.Expires) || now.Sub(rec.Seen) >= s.o.Idle
}

// A dueness is when a visit has to be recorded.
type dueness int

const (
	// recorded: the last one counts, in the database or in memory.
	recorded dueness = iota
	// dueSoon: together with others, within a tenth of the interval.
	dueSoon
	// dueNow: before the request goes on.
	dueNow
)

// due returns when a visit has to be recorded: at once when the last is older than the interval, or lies ahead.
func (s *Store) due(rec auth.SessionRow, now time.Time) dueness {
	age := now.Sub(rec.Seen)
	switch {
	case age >= s.interval, clock.Ahead(rec.Seen, now):
		return dueNow
	case age >= s.interval/5*4 && !s.visits.waits(rec.Hash):
		return dueSoon
	}
	return recorded
}

// Alive reports for each of the sessions with these keys whether it is still there
// and its time is not over. It writes nothing.
func (s *Store) Alive(ctx context.Context, hashes [][]byte) ([]bool, error) {
	found, err := s.backend.FindSessions(ctx, hashes)
	if err != nil {
		return nil, fmt.Errorf("find sessions: %w", err)
	}
	living, err := s.living(ctx, found)
	if err != nil {
		return nil, err
	}
	now := s.o.Now()
	lasts := map[string]bool{}
	for _, rec := range found {
		lasts[string(rec.Hash)] = !s.over(rec, now) && (living == nil || rec.UserID == "" || living[rec.UserID])
	}
	alive := make([]bool, len(hashes))
	for i, hash := range hashes {
		alive[i] = lasts[string(hash)]
	}
	return alive, nil
}

// List returns up to limit sessions of the user whose time is not over, the last seen
// ones first, without Version, State, Format and Data. It writes nothing.
func (s *Store) List(ctx context.Context, userID string, limit int) ([]auth.SessionRow, error) {
	now := s.o.Now()
	list, err := s.backend.UserSessions(ctx, userID, now, now.Add(-s.o.Idle), limit)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return list, nil
}

// living returns those of the users of sessions who may have them; nil where nobody is
// asked.
func (s *Store) living(ctx context.Context, found []auth.SessionRow) (map[string]bool, error) {
	if s.o.Living == nil {
		return nil, nil
	}
	var ids []string
	for _, rec := range found {
		if rec.UserID != "" {
			ids = append(ids, rec.UserID)
		}
	}
	slices.Sort(ids)
	living, err := s.o.Living(ctx, slices.Compact(ids))
	if err != nil {
		return nil, fmt.Errorf("find the sessions' users: %w", err)
	}
	return living, nil
}

// visit ends the session of a user who may have none, and records the visit of others
// where it is due.
func (s *Store) visit(ctx context.Context, rec auth.SessionRow, owner *auth.User, now time.Time, due dueness) (alive bool, err error) {
	alive = true
	switch {
	case rec.UserID == "" || s.o.Alive == nil:
	case owner != nil:
		alive = owner.MaySignIn()
	default:
		if alive, err = s.o.Alive(ctx, rec.UserID); err != nil {
			return false, fmt.Errorf("find the session's user: %w", err)
		}
	}
	switch {
	case !alive:
		err = s.backend.DeleteSession(ctx, rec.Hash)
	case due == dueNow:
		err = s.visits.now(ctx, rec.Hash, now)
	case due == dueSoon:
		s.visits.later(rec.Hash, now)
	}
	if err != nil {
		return false, fmt.Errorf("touch session: %w", err)
	}
	return alive, nil
}

// KeepGuest returns the cookie that keeps a guest's intended URL.
func (s *Store) KeepGuest(page string) (*http.Cookie, error) { return s.o.Guests.Keep(page) }

// ForgetGuest returns the cookie that removes the guest's; nil where the request has none.
func (s *Store) ForgetGuest(r *http.Request) *http.Cookie { return s.o.Guests.Expired(r) }

// Renew stores next under a new random id in place of old, with what the application
// keeps in old, unless that was another person's. The caller sets the returned cookies
// once the transaction of ctx has committed.
func (s *Store) Renew(ctx context.Context, r *http.Request, old, next auth.Session) (auth.Session, []*http.Cookie, error) {
	next.Others = nil
	if old.UserID == "" || old.UserID == next.UserID {
		next.Others = old.Others
	}
	rec, err := recordOf(next)
	if err != nil {
		return next, nil, err
	}
	if _, err := s.End(ctx, old); err != nil {
		return next, nil, err
	}
	cookie, err := s.create(ctx, r, &rec)
	if err != nil {
		return next, nil, err
	}
	next.Key, next.Version = rec.Hash, rec.Version
	cookies := []*http.Cookie{cookie}
	if expired := s.ForgetGuest(r); expired != nil {
		cookies = append(cookies, expired)
	}
	return next, cookies, nil
}

// create stores rec under a new random id and returns the cookie with it.
func (s *Store) create(ctx context.Context, r *http.Request, rec *auth.SessionRow) (*http.Cookie, error) {
	id := make([]byte, 32)
	if _, err := rand.Read(id); err != nil {
		return nil, fmt.Errorf("make session id: %w", err)
	}
	sum := sha256.Sum256(id)
	now := s.o.Now()
	rec.Hash, rec.Version = sum[:], 1
	rec.Created, rec.Seen, rec.Expires = now, now, now.Add(s.o.Absolute)
	rec.UserAgent, rec.Address = words.Printable(r.UserAgent(), 255), words.Printable(s.o.Address(r), 64)
	if err := s.backend.CreateSession(ctx, *rec); err != nil {
		return nil, fmt.Errorf("start session: %w", err)
	}
	return s.cookie(base64.RawURLEncoding.EncodeToString(id), 0), nil
}

// Reload returns the session as it is stored now; an empty one when it is gone.
func (s *Store) Reload(ctx context.Context, old auth.Session) (auth.Session, error) {
	rec, err := s.backend.FindSession(ctx, old.Key)
	if errors.Is(err, auth.ErrSessionGone) {
		return auth.Session{}, nil
	}
	if err != nil {
		return auth.Session{}, fmt.Errorf("read session again: %w", err)
	}
	return sessionOf(rec)
}

// Update writes next over the row that it was loaded from, if that still has its version;
// otherwise it fails with auth.ErrSessionGone. It never inserts.
func (s *Store) Update(ctx context.Context, next auth.Session) error {
	rec, err := recordOf(next)
	if err != nil {
		return err
	}
	if err := s.backend.UpdateSession(ctx, rec); err != nil {
		return fmt.Errorf("save session: %w", err)
	}
	return nil
}

// End deletes the session's row and returns the cookie that removes the browser's.
func (s *Store) End(ctx context.Context, old auth.Session) (*http.Cookie, error) {
	if old.Key != nil {
		if err := s.backend.DeleteSession(ctx, old.Key); err != nil {
			return nil, fmt.Errorf("end session: %w", err)
		}
	}
	return s.cookie("", -1), nil
}

// EndUser deletes all sessions of a user.
func (s *Store) EndUser(ctx context.Context, userID string) error {
	return s.backend.DeleteUserSessions(ctx, userID)
}

// EndDevice deletes all sessions of a device.
func (s *Store) EndDevice(ctx context.Context, selector []byte) error {
	return s.backend.DeleteDeviceSessions(ctx, selector)
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
