package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// providerNamed returns the provider of a name, or 404 where there is none.
func (p *Pipeline) providerNamed(name string) (identity.Provider, error) {
	i := slices.IndexFunc(p.Identities, func(one identity.Provider) bool { return one.Name == name })
	if i < 0 || p.Linked == nil || p.Secrets == nil {
		return identity.Provider{}, &fault.Fault{Code: fault.NotFound}
	}
	return p.Identities[i], nil
}

// identitySecret is the name of the key that seals states and pending links.
const identitySecret = "identities"

func (p *Pipeline) identityKey(ctx context.Context) ([]byte, error) {
	key, err := p.Secrets.Secret(ctx, identitySecret, random(32))
	if err != nil {
		return nil, fmt.Errorf("read the key of identities: %w", err)
	}
	return key, nil
}

func (p *Pipeline) states(ctx context.Context) (identity.States, error) {
	key, err := p.identityKey(ctx)
	if err != nil {
		return identity.States{}, err
	}
	return identity.NewStates(key)
}

// ownCookie returns a cookie of the sign-in that comes back with a redirect from elsewhere. One without a value ends it.
func (p *Pipeline) ownCookie(name, value string, lifetime time.Duration) *http.Cookie {
	if p.Secure {
		name = "__Host-" + name
	}
	c := &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: int(lifetime.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: p.Secure}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

// stateCookie keeps the states of a browser; see [identity.States].
func (p *Pipeline) stateCookie(value string) *http.Cookie {
	return p.ownCookie("vestibule_identity", value, identity.Lifetime)
}

// kept returns the value of a cookie that the request has, empty for none.
func kept(r *http.Request, like *http.Cookie) string {
	if c, err := r.Cookie(like.Name); err == nil {
		return c.Value
	}
	return ""
}

// An outing is a browser that is sent to a provider.
type outing struct {
	purpose identity.Purpose
	hint    string // the address of the person who is expected
	toPage  bool   // whether the callback redirects to the sign-in page
	invited identity.Invited
}

// sentElsewhere reports whether a page of another site has sent the browser here. Browsers that do not say so are not.
func sentElsewhere(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "cross-site" || site == "same-site"
}

// sendOut asks for the address of the provider, and keeps the state in a cookie. It counts failures for the client.
func (p *Pipeline) sendOut(w http.ResponseWriter, r *http.Request, to identity.Provider, s Session, o outing) (string, error) {
	client := Counter{Kind: "client", Client: RequestOf(r.Context()).Network}
	if err := p.takeAttempt(r, client, p.ClientAttempts, "identity"); err != nil {
		return "", err
	}
	defer p.refundAttempt(r, client) // to begin is no failure
	states, err := p.states(r.Context())
	if err != nil {
		return "", err
	}
	provider := p.Provider(to.Name)
	if provider == nil {
		return "", identityFault(to.Name, pluginsdk.ErrUnavailable)
	}
	state, text := identity.NewState()
	begun := p.Now()
	a, err := provider.Begin(r.Context(), pluginsdk.BeginRequest{
		ID: RequestOf(r.Context()).ID, Callback: p.Site.Base(r) + identity.Path(to.Name) + "/callback", State: text,
		Locale: p.Site.Locale(r), LoginHint: o.hint, Fresh: o.purpose == identity.Confirm,
	})
	if err == nil && (len(a.Private) > identity.MaxPrivate || !strings.HasPrefix(a.URL, "http")) {
		err = fmt.Errorf("%w: the address of the provider, or its %d private bytes, cannot be used", pluginsdk.ErrContract, len(a.Private))
	}
	if err != nil {
		return "", identityFault(to.Name, err)
	}
	pending := identity.Pending{Purpose: o.purpose, State: state, Private: a.Private, ToPage: o.toPage, Elsewhere: sentElsewhere(r), Language: chosenLanguage(r), Invited: o.invited, Begun: begun}
	cookie := p.stateCookie("")
	http.SetCookie(w, p.stateCookie(states.Keep(kept(r, cookie), pending, boundToSession(to, s))))
	return a.URL, nil
}

// boundToSession returns where the state of a session opens.
func boundToSession(from identity.Provider, s Session) identity.Binding {
	return identity.Binding{Name: from.Name, Session: s.Key, UserID: s.UserID}
}

// identityFault returns the fault of a provider that gave no answer: 503 if its plugin is down or late, 502 if the plugin
// itself, or its answer, is at fault.
func identityFault(name string, err error) error {
	err = fmt.Errorf("the identity provider %q: %w", name, err)
	chosen, ok := errors.AsType[interface {
		error
		Answered() bool
	}](err)
	if errors.Is(err, pluginsdk.ErrUnavailable) && (!ok || !chosen.Answered()) {
		return &fault.Fault{Code: fault.IdentityUnavailable, RetryAfter: retryAfter, Cause: err}
	}
	return &fault.Fault{Code: fault.IdentityContract, Cause: err}
}

// BeginIdentity answers GET /auth/identity/{name}: it sends the browser to the provider. DELETE gives up the identity that
// the next sign-in of the browser would link.
func (p *Pipeline) BeginIdentity() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		to, err := p.providerNamed(r.PathValue("name"))
		if err != nil {
			return err
		}
		if r.Method == http.MethodDelete {
			http.SetCookie(w, p.linkCookie(""))
			noContent(w)
			return nil
		}
		if err := onlyGet(w, r); err != nil {
			return err
		}
		if sentElsewhere(r) && r.Header.Get("Sec-Fetch-Dest") != "document" {
			return &fault.Fault{Code: fault.CrossOrigin, Cause: errors.New("an image or a frame of another site begins no sign-in")}
		}
		s, err := p.load(r)
		if err != nil {
			return err
		}
		query := r.URL.Query()
		address, err := p.sendOut(w, r, to, s, outing{purpose: identity.SignIn, toPage: query.Get("return") == "login"})
		if err != nil {
			return beginsAgain(err, signInPage)
		}
		if err := p.KeepIntended(w, r, s, query.Get("redirect")); err != nil {
			return err
		}
		leave(w, address)
		return nil
	})
}

// onlyGet refuses HEAD, which must not use a state up.
func onlyGet(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodGet {
		return nil
	}
	w.Header().Set("Allow", http.MethodGet)
	return &fault.Fault{Code: fault.MethodNotAllowed}
}

// chosenLanguage returns the language that a query asks for, empty for none and for what is no language.
func chosenLanguage(r *http.Request) string {
	lang := r.URL.Query().Get("lang")
	if len(lang) > identity.MaxLanguage || strings.ContainsFunc(lang, func(c rune) bool { return c != '-' && !isAlphanumeric(c) }) {
		return ""
	}
	return lang
}

func isAlphanumeric(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// leave redirects a browser. Neither it nor a cache keeps the address from which it leaves.
func leave(w http.ResponseWriter, address string) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	// Not http.Redirect: its body would repeat the state.
	h.Set("Location", address)
	w.WriteHeader(http.StatusFound)
}

// beginsAgain returns a fault with the page where the person begins anew, because a callback cannot be repeated.
func beginsAgain(err error, at string) error {
	f := *fault.As(outage(err))
	f.Again = at
	return &f
}

// Limits of what a provider adds to the callback.
const (
	maxParameters = 32
	maxQuery      = 16 << 10
)

// callbackParameters returns the query of a callback. A name that is there twice has no meaning.
func callbackParameters(r *http.Request) (map[string]string, error) {
	malformed := func(what string) error {
		return &fault.Fault{Code: fault.Malformed, Cause: fmt.Errorf("the query of the callback %s", what)}
	}
	if len(r.URL.RawQuery) > maxQuery {
		return nil, malformed(fmt.Sprintf("has over %d bytes", maxQuery))
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, malformed("cannot be read: " + err.Error())
	}
	if len(values) > maxParameters {
		return nil, malformed(fmt.Sprintf("has over %d parameters", maxParameters))
	}
	out := make(map[string]string, len(values))
	for name, list := range values {
		if len(list) != 1 || !utf8.ValidString(name) || !utf8.ValidString(list[0]) {
			return nil, malformed("has a parameter twice, or one that is no text")
		}
		out[name] = list[0]
	}
	return out, nil
}

// identitiesOf returns the identities with which a user can sign in: those of providers that are configured.
func (p *Pipeline) identitiesOf(ctx context.Context, user User) ([]identity.Identity, error) {
	if len(p.Identities) == 0 || p.Linked == nil {
		return nil, nil
	}
	all, err := p.Linked.List(ctx, user.ID, maxListed)
	return slices.DeleteFunc(all, func(i identity.Identity) bool {
		known := slices.ContainsFunc(p.Identities, func(one identity.Provider) bool { return one.Name == i.Name })
		return !known || olderThan(user, i.Created)
	}), err
}

// identityOwner returns the identity of a subject with its user, or ErrNotFound for one that nobody has. It is nobody's
// as well if its user is gone, or if the application has given the id of that user to somebody else.
func (p *Pipeline) identityOwner(ctx context.Context, name, subject string) (User, error) {
	found, err := p.Linked.Find(ctx, name, subject)
	if err != nil {
		return User{}, err
	}
	user, err := p.Users.FindByID(ctx, found.UserID)
	if err == nil && olderThan(user, found.Created) {
		err = ErrNotFound
	}
	return user, err
}
