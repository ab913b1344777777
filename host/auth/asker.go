package auth

import (
	"context"
	"sync"
	"sync/atomic"
)

// An Asker is who a request turned out to come from, for its line in the log. The zero
// value is a guest, or a request of which nobody looked who asks.
type Asker struct {
	UserID string
	Way    Way

	key   []byte // of the session
	token string // the id of the machine token
}

// session returns the id of the session as logs name it, empty without one.
func (a Asker) session() string { return Session{Key: a.key}.ID() }

// LogArgs appends what a line in the log says of the asker, nothing for a guest.
func (a Asker) LogArgs(args []any) []any {
	if a.UserID == "" {
		return args
	}
	args = append(args, "user", a.UserID, "way", string(a.Way))
	if a.token != "" {
		return append(args, "token", a.token)
	}
	return append(args, "session", a.session())
}

// An exchange is what the pipeline keeps with one request.
type exchange struct {
	patience Patience
	session  atomic.Pointer[Session] // nil before it was loaded

	mu    sync.Mutex
	asker Asker
}

type exchangeKey struct{}

// WithExchange returns the context of one request, for [PatienceOf] and [AskerOf].
func WithExchange(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, &exchange{})
}

// AskerOf returns who the request of ctx was last found to come from.
func AskerOf(ctx context.Context) Asker {
	e, _ := ctx.Value(exchangeKey{}).(*exchange)
	if e == nil {
		return Asker{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asker
}

// noteSession notes that a request came from the user of a session with this key; an empty
// user is a guest.
func noteSession(ctx context.Context, userID string, way Way, key []byte) {
	if userID == "" {
		note(ctx, Asker{})
		return
	}
	note(ctx, Asker{UserID: userID, Way: way, key: key})
}

func noteToken(ctx context.Context, t Token) {
	note(ctx, Asker{UserID: t.UserID, Way: WayToken, token: t.ID})
}

func note(ctx context.Context, a Asker) {
	e, _ := ctx.Value(exchangeKey{}).(*exchange)
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asker = a
}
