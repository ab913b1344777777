package auth

import (
	"context"
	"fmt"
	"net/http"
)

// A Way is how a principal came in.
type Way string

// The ways in. WayToken is that of programs, with a machine token. WayDevice is
// that of the one request in which a device token replaced a session that was
// over; the requests after it have the new session, WaySession.
const (
	WaySession Way = "session"
	WayDevice  Way = "device"
	WayToken   Way = "token"
)

// A Principal is who makes a request. The zero value is a guest.
type Principal struct {
	// UserID is the user's primary key as text; empty for a guest.
	UserID string
	// Way is how they came in; empty for a guest.
	Way Way
	// Settled reports whether the intent loop has ended. Tokens count as settled.
	Settled bool
	// Session is that of the browser, which a guest may have as well.
	Session Session

	users Users
	// user is the row where it was read already, without Columns where only the identity was, and token the token of the request;
	// else nil.
	user  *User
	token *Token
}

// SignedIn reports whether the principal is a user and not a guest.
func (p Principal) SignedIn() bool { return p.UserID != "" }

// Step is how far somebody has come. Tokens count as settled.
func (p Principal) Step() State {
	if p.SignedIn() && p.Settled {
		return StateSettled
	}
	return p.Session.State()
}

// CameBy identifies the session or token that they came in by, for as long as that
// lasts; it is empty for a guest.
func (p Principal) CameBy() string {
	switch {
	case p.token != nil:
		return "token " + string(p.token.Hash)
	case p.SignedIn():
		return "session " + string(p.Session.Key)
	}
	return ""
}

// ReadsOnly reports whether their credential is a token that was made without the right to write.
func (p Principal) ReadsOnly() bool { return p.token != nil && !p.token.Write }

// LogArgs appends what a line in the log says of the principal, nothing for a guest.
func (p Principal) LogArgs(args []any) []any {
	switch {
	case !p.SignedIn():
		return args
	case p.token != nil:
		return append(args, "user", p.UserID, "way", string(p.Way), "token", p.token.ID)
	}
	return append(args, "user", p.UserID, "way", string(p.Way), "session", p.Session.ID())
}

// User reads the row of who is signed in, with its columns. It is [ErrNotFound]
// for a guest, and where the application has deleted its user.
func (p Principal) User(ctx context.Context) (User, error) {
	if !p.SignedIn() {
		return User{}, ErrNotFound
	}
	if p.user != nil && p.user.Columns != nil {
		return *p.user, nil
	}
	return p.users.FindByID(ctx, p.UserID)
}

// Identity is User for a caller that needs id, name and email alone. The other columns may be missing.
func (p Principal) Identity(ctx context.Context) (User, error) {
	if p.SignedIn() && p.user != nil {
		return *p.user, nil
	}
	return p.User(ctx)
}

// An Authenticator tells who makes a request.
type Authenticator interface {
	// Authenticate returns who makes the request, and may set cookies on w. An error
	// means that it cannot be told: the request must then fail and must not be
	// answered as a guest's.
	Authenticate(w http.ResponseWriter, r *http.Request) (Principal, error)
}

var _ Authenticator = (*Pipeline)(nil)

// Authenticate tells who makes the request by its session cookie and, where that
// session is over, by its device cookie, for which a new session begins. With
// neither it is a guest, a Principal without a user, and no error.
func (p *Pipeline) Authenticate(w http.ResponseWriter, r *http.Request) (Principal, error) {
	s, err := p.load(r)
	if err != nil {
		return Principal{}, fmt.Errorf("authenticate by session: %w", err)
	}
	if s.SignedIn() {
		return p.principal(s, WaySession), nil
	}
	resumed, err := p.resumeSession(w, r, s)
	if err != nil {
		return Principal{}, fmt.Errorf("authenticate by device: %w", err)
	}
	if resumed.SignedIn() {
		return p.principal(resumed, WayDevice), nil
	}
	return Principal{Session: s}, nil
}

// load returns the session of a request, which is read once, and notes whose it is.
func (p *Pipeline) load(r *http.Request) (Session, error) {
	request := RequestOf(r.Context())
	read := request.session.Load()
	if read == nil {
		s, err := p.Sessions.Load(r)
		if err != nil {
			return s, err
		}
		s = p.withoutOver(s)
		read = &s
		request.session.Store(read)
	}
	request.note(p.principal(*read, WaySession))
	return *read, nil
}

// BySession tells who makes a request by the session cookie alone. It sets no cookie,
// for answers that do not reach the browser: without a session the principal is a
// guest, even when the browser has a device token.
func (p *Pipeline) BySession() Authenticator { return bySession{p} }

type bySession struct{ *Pipeline }

// Authenticate is that of [Pipeline.BySession].
func (p bySession) Authenticate(_ http.ResponseWriter, r *http.Request) (Principal, error) {
	s, err := p.load(r)
	if err != nil {
		return Principal{}, fmt.Errorf("authenticate by session: %w", err)
	}
	if s.SignedIn() {
		return p.principal(s, WaySession), nil
	}
	return Principal{Session: s}, nil
}

func (p *Pipeline) principal(s Session, way Way) Principal {
	return Principal{UserID: s.UserID, Way: way, Settled: s.Settled(), Session: s, users: p.Users, user: s.Owner}
}
