package auth

import (
	"context"
	"sync/atomic"
	"time"
)

// A Request holds what the host knows of a request while it answers it. host/web puts it
// into the request's context once. It is safe for concurrent use.
type Request struct {
	// ID joins the answer and the log. A trusted proxy may give it, so that two requests
	// may have one.
	ID    string
	Trace Trace
	// Client is the client's address, and Network the part of it that counts as one client.
	Client, Network string

	spent, hashed atomic.Int64

	withIdentity, withUser atomic.Bool
	from                   atomic.Pointer[Principal]
	session                atomic.Pointer[Session]  // nil before it was read
	token                  atomic.Pointer[tokenUse] // nil before one was looked up
}

// A Trace is the trace that a request belongs to: its id, the request's own span, and the
// headers traceparent and tracestate of requests on its behalf.
type Trace struct{ ID, Span, Parent, State string }

type requestKey struct{}

// WithRequest returns the context of a request.
func WithRequest(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestOf returns the request of a context, and an empty one where it has none.
func RequestOf(ctx context.Context) *Request {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r
	}
	return &Request{}
}

// WithIdentity makes the session be read together with id, name and email of its user, because the answer needs them.
func (r *Request) WithIdentity() { r.withIdentity.Store(true) }

// WithUser makes the session be read together with all columns of its user but credentials, because the answer needs some of them.
func (r *Request) WithUser() { r.withUser.Store(true) }

// WantsUser reports whether the session is to be read together with its user, and whether with all columns.
func (r *Request) WantsUser() (user, columns bool) {
	columns = r.withUser.Load()
	return columns || r.withIdentity.Load(), columns
}

// CountsAs returns the key of who has a share of what clients share: the user, or for a
// guest, whose userID is empty, the network.
func (r *Request) CountsAs(userID string) string {
	if userID != "" {
		return "user:" + userID
	}
	return r.Network
}

// Principal returns who the request was last found to come from, a guest before.
func (r *Request) Principal() Principal {
	if who := r.from.Load(); who != nil {
		return *who
	}
	return Principal{}
}

// note notes who the request comes from.
func (r *Request) note(who Principal) {
	if !who.SignedIn() {
		r.from.Store(nil)
		return
	}
	r.from.Store(&who)
}

// Forget makes session and token be read again, because they may have ended meanwhile.
func (r *Request) Forget() {
	r.session.Store(nil)
	r.token.Store(nil)
}

// leastForTheDatabase remains for the database however long hashing took.
const leastForTheDatabase = time.Second

// Left returns what is left of the time that one call may wait for the database: the calls
// of a request share it, so that the request as a whole does not take longer. Hashing
// counts as well, but for a second.
func (r *Request) Left(wait time.Duration) time.Duration {
	left := wait - time.Duration(r.spent.Load())
	return min(left, max(left-time.Duration(r.hashed.Load()), leastForTheDatabase))
}

// Spend counts the time since a call of the database began.
func (r *Request) Spend(since time.Time) { r.spent.Add(int64(time.Since(since))) }

// SpendHashing counts the time since a password was to be hashed.
func (r *Request) SpendHashing(since time.Time) { r.hashed.Add(int64(time.Since(since))) }
