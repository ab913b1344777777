package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/clock"
)

// Bearer returns who makes a request by the machine token in it, and leaves requests
// without one to the pipeline. It takes tokens that were made for the route, or with
// an empty route those for the query endpoint. A token wins over cookies; one that is
// no good fails the request with 401, or 429 after too many, and never makes it a
// guest's.
func (p *Pipeline) Bearer(route string) Authenticator {
	return p.bearerOr(route, p)
}

// BearerBySession is Bearer for answers that do not reach the browser: requests
// without a token are left to [Pipeline.BySession].
func (p *Pipeline) BearerBySession(route string) Authenticator {
	return p.bearerOr(route, p.BySession())
}

func (p *Pipeline) bearerOr(route string, next Authenticator) Authenticator {
	if p.Tokens == nil {
		return next
	}
	return bearer{p, route, next}
}

type bearer struct {
	*Pipeline
	route string
	next  Authenticator
}

// Authenticate sets no cookie and makes no session for a token.
func (b bearer) Authenticate(w http.ResponseWriter, r *http.Request) (Principal, error) {
	text, ours := tokenOf(r.Header)
	if !ours {
		return b.next.Authenticate(w, r)
	}
	use, err := b.tokenUse(r, text)
	if err != nil {
		return Principal{}, fmt.Errorf("authenticate by token: %w", err)
	}
	RequestOf(r.Context()).note(b.byToken(use)) // a guest where there is no such token
	if use.bad != nil {
		return Principal{}, b.refuseBad(r, use)
	}
	if err := b.elsewhere(r, use.token); err != nil {
		b.audit(r, "token_refused", "token", use.token.ID, "user", use.token.UserID, "cause", err.Error())
		return Principal{}, &fault.Fault{Code: fault.Unauthenticated, Cause: err}
	}
	b.touch(r, use.token)
	return b.byToken(use), nil
}

func (p *Pipeline) byToken(use tokenUse) Principal {
	return Principal{UserID: use.token.UserID, Way: WayToken, Settled: true, users: p.Users, user: &use.user, token: &use.token}
}

// elsewhere returns why a good token does not open what is asked for.
func (b bearer) elsewhere(r *http.Request, t Token) error {
	switch {
	case t.Route != b.route && t.Route == "":
		return fmt.Errorf("the token is for the query endpoint, and not for the route %q", b.route)
	case t.Route != b.route:
		return fmt.Errorf("the token is for the route %q alone", t.Route)
	case t.Route != "" && !t.Write && r.Method != http.MethodGet && r.Method != http.MethodHead:
		return fmt.Errorf("the token may read and not %s", r.Method)
	}
	return nil
}

// tokenUse holds the token with this text, and its user.
type tokenUse struct {
	text  string
	token Token
	user  User
	// bad is why it opens nothing; nil for a good one.
	bad error
	// ended tells that its user may not sign in, which ends it for good.
	ended bool
}

// tokenUse looks a token up, once for a request.
func (p *Pipeline) tokenUse(r *http.Request, text string) (use tokenUse, err error) {
	request := RequestOf(r.Context())
	if known := request.token.Load(); known != nil && known.text == text {
		return *known, nil
	}
	if !isToken(text) {
		return tokenUse{bad: errors.New("it is malformed, or its checksum is wrong")}, nil
	}
	if use, err = p.findToken(r.Context(), digest([]byte(text))); err == nil {
		use.text = text
		request.token.Store(&use)
	}
	return use, err
}

// findToken returns what the token with this hash stands for now.
func (p *Pipeline) findToken(ctx context.Context, hash []byte) (tokenUse, error) {
	t, err := p.Tokens.Find(ctx, hash)
	if errors.Is(err, ErrNotFound) {
		return tokenUse{bad: errors.New("there is no such token, or it was revoked")}, nil
	}
	if err != nil {
		return tokenUse{}, err
	}
	use := tokenUse{token: t}
	if !p.Now().Before(t.Expires) {
		use.bad = fmt.Errorf("it ended at %s", t.Expires.Format(time.RFC3339))
		return use, nil
	}
	use.user, err = p.Users.FindByID(ctx, t.UserID)
	switch {
	case errors.Is(err, ErrNotFound):
		use.bad, err = errors.New("its user is gone"), nil
	case err == nil && !use.user.MaySignIn():
		use.bad, use.ended = errors.New("its user is disabled, or not active"), true
	}
	return use, err
}

// refuseBad counts a token that is no good for the client, and returns the fault. A
// counter that cannot be reached lets nobody in.
func (p *Pipeline) refuseBad(r *http.Request, use tokenUse) error {
	p.audit(r, "token_refused", "token", use.token.ID, "user", use.token.UserID, "cause", use.bad.Error())
	if use.ended {
		p.endToken(r, use.token)
	}
	network := RequestOf(r.Context()).Network
	err := p.takeAttempt(r, Counter{Kind: "token", Client: network}, p.ClientAttempts, "token")
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	if err != nil {
		p.Logger.Warn("bad token not counted", "request_id", RequestOf(r.Context()).ID, "cause", err)
	}
	return &fault.Fault{Code: fault.Unauthenticated, Cause: use.bad}
}

// endToken deletes the token of a user who may not sign in, so that it does not come back
// with the user. It is refused in any case.
func (p *Pipeline) endToken(r *http.Request, t Token) {
	ctx, cancel := context.WithTimeout(r.Context(), touchWithin)
	defer cancel()
	if err := p.Tokens.Delete(ctx, t.ID, t.UserID); err != nil && !errors.Is(err, ErrNotFound) {
		p.Logger.Warn("token of a user who may not sign in not deleted", "request_id", RequestOf(r.Context()).ID, "token", t.ID, "cause", err)
	}
}

// touchWithin bounds what noting the last use may cost a request.
const touchWithin = time.Second

// touch notes the minute of the last use, once for each.
func (p *Pipeline) touch(r *http.Request, t Token) {
	minute := p.Now().Truncate(time.Minute)
	if !t.Used.Before(minute) && !clock.Ahead(t.Used, minute) {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), touchWithin)
	defer cancel()
	if err := p.Tokens.Touch(ctx, t.Hash, minute); err != nil {
		p.Logger.Warn("last use of a token not noted", "request_id", RequestOf(r.Context()).ID, "token", t.ID, "cause", err)
	}
}

// Counted returns the session whose user a request counts for, which is that of a
// token where there is a good one. What it read is kept with the request.
func (p *Pipeline) Counted(r *http.Request) (Session, error) {
	if text, ours := tokenOf(r.Header); ours && p.Tokens != nil {
		use, err := p.tokenUse(r, text)
		if err != nil {
			return Session{}, err
		}
		if use.bad == nil {
			RequestOf(r.Context()).note(p.byToken(use))
			return Session{UserID: use.user.ID}, nil
		}
	}
	return p.load(r)
}

// Alive reports for each of them whether what they came in by still lasts: the
// session, or the token. It writes nothing. Sessions are looked up together.
func (p *Pipeline) Alive(ctx context.Context, who []Principal) ([]bool, error) {
	alive := make([]bool, len(who))
	var keys [][]byte
	var at []int
	for i, one := range who {
		if one.token == nil {
			keys, at = append(keys, one.Session.Key), append(at, i)
			continue
		}
		use, err := p.findToken(ctx, one.token.Hash)
		if err != nil {
			return nil, err
		}
		alive[i] = use.bad == nil
	}
	sessions, err := p.Sessions.Alive(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i, lasts := range sessions {
		alive[at[i]] = lasts
	}
	return alive, nil
}

// tokenOf returns the credential of a request where it begins as our tokens do. Where
// it cannot be told which of several counts, none does, and it is empty.
func tokenOf(h http.Header) (text string, ours bool) {
	values := h["Authorization"]
	for _, v := range values {
		scheme, credential := credentialOf(v)
		if !strings.HasPrefix(credential, tokenPrefix) || scheme != "bearer" && scheme != "basic" {
			continue
		}
		text, ours = credential, true
	}
	if len(values) > 1 {
		text = ""
	}
	return text, ours
}

// WithoutToken takes our tokens out of the headers of a request to an application.
// Credentials of others stay.
func WithoutToken(h http.Header) {
	for _, v := range h["Authorization"] {
		if _, credential := credentialOf(v); strings.HasPrefix(credential, tokenPrefix) {
			h.Del("Authorization")
			return
		}
	}
}

// credentialOf returns the scheme in small letters and the credential of an
// Authorization header (RFC 9110 11.6.2), which of Basic is the password (RFC 7617).
func credentialOf(value string) (scheme, credential string) {
	value = strings.TrimSpace(value)
	if i := strings.IndexAny(value, " \t"); i >= 0 {
		value, credential = value[:i], strings.TrimSpace(value[i:])
	}
	scheme = strings.ToLower(value)
	if scheme != "basic" {
		return scheme, credential
	}
	// As lenient as applications are.
	text := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(credential, "="))
	pair, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return scheme, credential
	}
	_, password, _ := strings.Cut(string(pair), ":")
	return scheme, password
}
