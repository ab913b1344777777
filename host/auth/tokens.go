package auth

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/internal/form"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
)

// Limits of tokens: how long one lasts that does not say, how many a user may have,
// and how long the name of a token or a passkey may be, in characters.
const (
	tokenLifetime  = 90 * 24 * time.Hour
	maxTokens      = 50
	maxName        = 100
	tokenIDBytes   = 8
	listedTokens   = maxTokens
	shortestExpiry = time.Second
)

// A TokenRequest says what token is wanted.
type TokenRequest struct {
	// Name is what the token is called; required.
	Name string
	// Route is the one route that it opens; empty for the query endpoint. Without Write it
	// only reads there.
	Route string
	Write bool
	// Lifetime is how long it lasts, 90 days when zero, or [Rules].TokenLifetime where
	// that is less.
	Lifetime time.Duration
}

// AddToken makes a token for a user who may sign in and returns it with its text, which
// is not kept anywhere. The person is told by mail, in the language of locale and with
// the device that it was made with, empty where nobody knows. It joins the transaction of
// ctx. What is wrong with the request is a *fault.Fault with the fields name and
// expires_in.
func (p *Pipeline) AddToken(ctx context.Context, userID string, in TokenRequest, locale, device string) (Token, string, error) {
	lifetime, err := p.checkToken(in)
	if err != nil {
		return Token{}, "", err
	}
	user, err := p.Users.Lock(ctx, userID)
	if err != nil {
		return Token{}, "", err
	}
	if !user.MaySignIn() {
		return Token{}, "", ErrNotFound
	}
	text, now := mintToken(), p.Now()
	t := Token{
		ID: hex.EncodeToString(random(tokenIDBytes)), Hash: digest([]byte(text)), UserID: user.ID,
		Name: in.Name, Route: in.Route, Write: in.Write, Created: now, Expires: now.Add(lifetime),
	}
	err = p.Tokens.Create(ctx, t, maxTokens)
	if errors.Is(err, ErrTooMany) {
		return Token{}, "", invalidBecause("name", "too_many", "the user has %d tokens already: revoke one", maxTokens)
	}
	if err != nil {
		return Token{}, "", err
	}
	return t, text, p.Mailer.QueueNotice(ctx, noticeToken, user.ID, locale, device)
}

// checkToken returns how long the token that is asked for lasts, or what is wrong.
func (p *Pipeline) checkToken(in TokenRequest) (time.Duration, error) {
	if err := checkName(in.Name, "a token"); err != nil {
		return 0, err
	}
	switch {
	case in.Lifetime == 0:
		return min(tokenLifetime, p.TokenLifetime), nil
	case in.Lifetime < shortestExpiry:
		return 0, invalidBecause("expires_in", "invalid", "a lifetime of %s is less than a second", in.Lifetime)
	case in.Lifetime > p.TokenLifetime:
		return 0, invalidBecause("expires_in", "too_long", "a lifetime of %s is more than auth.tokens.max_lifetime, which is %s", in.Lifetime, p.TokenLifetime)
	}
	return in.Lifetime, nil
}

// checkName returns what is wrong with the name that a person gives to what, such as "a token"; nil for nothing.
func checkName(name, what string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return invalidBecause("name", "required", "%s needs a name, by which it is known in lists", what)
	case utf8.RuneCountInString(name) > maxName:
		return invalidBecause("name", "too_long", "the name has more than %d characters", maxName)
	case name != words.Printable(name, len(name)) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) }):
		return invalidBecause("name", "invalid", "the name has characters that cannot be shown")
	}
	return nil
}

func invalidBecause(field, code, cause string, args ...any) *fault.Fault {
	f := fault.Invalid(field, code)
	f.Cause = fmt.Errorf(cause, args...)
	return f
}

// OwnTokens answers GET and POST /auth/tokens: a settled person sees the tokens that
// stand for them, and makes one.
func (p *Pipeline) OwnTokens() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		who, err := p.settled(w, r)
		if err != nil {
			return err
		}
		if r.Method == http.MethodPost {
			return p.addOwnToken(w, r, who)
		}
		list, err := p.Tokens.List(r.Context(), who.UserID, listedTokens)
		if err != nil {
			return err
		}
		shown := make([]shownToken, len(list))
		for i, t := range list {
			shown[i] = showToken(t)
		}
		fault.WriteJSON(w, http.StatusOK, map[string]any{"tokens": shown})
		return nil
	})
}

// settled returns who is signed in, by session or device, and done with every step.
func (p *Pipeline) settled(w http.ResponseWriter, r *http.Request) (Principal, error) {
	who, err := p.Authenticate(w, r)
	switch {
	case err != nil:
		return who, err
	case !who.SignedIn():
		return who, &fault.Fault{Code: fault.Unauthenticated}
	case !who.Settled:
		f := &fault.Fault{Code: fault.Unsettled}
		if who.Session.Intent != nil {
			f.Next = who.Session.Intent.Envelope()
		}
		return who, f
	}
	return who, nil
}

// shownToken is a token as it is shown, without what would open anything.
type shownToken struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Route    *string    `json:"route"`
	Created  time.Time  `json:"created"`
	Expires  time.Time  `json:"expires"`
	LastUsed *time.Time `json:"last_used"`
	// Token is the text of a new token, which is shown once.
	Token string `json:"token,omitempty"`
}

func showToken(t Token) shownToken {
	out := shownToken{ID: t.ID, Name: t.Name, Created: t.Created.UTC().Truncate(time.Second), Expires: t.Expires.UTC().Truncate(time.Second)}
	if t.Route != "" {
		out.Route = &t.Route
	}
	if !t.Used.IsZero() {
		used := t.Used.UTC()
		out.LastUsed = &used
	}
	return out
}

func (p *Pipeline) addOwnToken(w http.ResponseWriter, r *http.Request, who Principal) error {
	if !p.recent(who.Session) {
		return &fault.Fault{Code: fault.ConfirmationRequired}
	}
	in, err := readTokenRequest(r)
	if err != nil {
		return err
	}
	// Whoever makes and revokes them without end would fill the audit table.
	if err := p.takeAttempt(r, Counter{Kind: countTokenAdd, Login: who.UserID}, p.ClientAttempts, "name"); err != nil {
		return err
	}
	var t Token
	var text string
	err = p.changeCredential(r, who, credentialChange{event: "token_add", apply: func(ctx context.Context, user User) (string, error) {
		var err error
		t, text, err = p.AddToken(ctx, user.ID, in, p.Site.Locale(r), browserName(r.UserAgent()))
		return t.Name + " (" + t.ID + ")", err
	}})
	if err != nil {
		return err
	}
	shown := showToken(t)
	shown.Token = text
	fault.WriteJSON(w, http.StatusCreated, shown)
	return nil
}

// ownOperator names a person who does to their own tokens what operators do.
func ownOperator(userID string) string { return "user " + userID }

func readTokenRequest(r *http.Request) (TokenRequest, error) {
	f, err := form.Read(r)
	if err != nil {
		return TokenRequest{}, err
	}
	var in TokenRequest
	if err := f.Texts(form.Field{Name: "name", Into: &in.Name}); err != nil {
		return TokenRequest{}, err
	}
	var text string
	switch v := f.Values["expires_in"].(type) {
	case nil:
		return in, nil
	case json.Number:
		text = v.String()
	case string:
		if f.JSON {
			return in, form.WrongType("expires_in", "an integer", v)
		}
		text = v
	default:
		return in, form.WrongType("expires_in", "an integer", v)
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 1 {
		return in, invalidBecause("expires_in", "invalid", "%q is no number of seconds from 1 on", words.Cut(text, maxName))
	}
	const longest = int64(1<<63-1) / int64(time.Second)
	in.Lifetime = time.Duration(min(seconds, longest)) * time.Second
	return in, nil
}

// RevokeToken answers DELETE /auth/tokens/{id}: it ends a token of the person's own.
func (p *Pipeline) RevokeToken() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		who, err := p.settled(w, r)
		if err != nil {
			return err
		}
		id := r.PathValue("id")
		err = p.Tx.InTx(r.Context(), func(ctx context.Context) error {
			if err := p.Tokens.Delete(ctx, id, who.UserID); err != nil {
				return err
			}
			return p.Record(ctx, ownOperator(who.UserID), "token_revoke", id)
		})
		if errors.Is(err, ErrNotFound) {
			return &fault.Fault{Code: fault.NotFound, Cause: err}
		}
		if err != nil {
			return err
		}
		p.audit(r, "token_revoke", "user", who.UserID, "token", id)
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
}
