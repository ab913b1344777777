package pluginsdk

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb"
)

// RoleIdentityProvider is the role of an [IdentityProvider].
const RoleIdentityProvider = "identity_provider"

// The limits of an identity provider's answers, in bytes.
const (
	maxProviderURL = 8 << 10
	maxPrivate     = 2 << 10
	maxSubject     = 255
	maxEmail       = 255
	maxName        = 255
	maxRefusal     = 256
)

// An IdentityProvider signs people in by an account elsewhere: the host sends the browser
// to the address that Begin returns, and gives Finish the parameters with which the
// provider sends it back. The host keeps the state, which binds the answer to one browser
// and one purpose; everything that the provider says is parsed and verified here. An error
// means that the provider could not be asked or answered nonsense: nobody is signed in, and
// the text reaches the operator's log alone. Both methods may be called from several
// goroutines at once, and the processes before and after a restart may share one sign-in.
type IdentityProvider interface {
	// Begin returns where the browser is sent. The host may repeat it.
	Begin(ctx context.Context, r BeginRequest) (Authorization, error)
	// Finish says who the person is. The host calls it at most once for each Begin.
	Finish(ctx context.Context, r FinishRequest) (IdentityResult, error)
}

// A BeginRequest is a sign-in that begins.
type BeginRequest struct {
	// ID joins log lines.
	ID string
	// Callback is the absolute URL to which the provider must send the browser back.
	Callback string
	// State must come back as the parameter "state". The host checks it.
	State string
	// Locale is the person's language in BCP 47, such as "en" or "de".
	Locale string
	// LoginHint is the address of the person who is expected; empty when unknown.
	LoginHint string
	// Fresh asks for a proof made now (OpenID Connect: prompt=login and max_age=0).
	// [Identity.AuthTime] must say when it was made.
	Fresh bool
}

// An Authorization is where the browser is sent.
type Authorization struct {
	// URL is the provider's address with the state in it: https, or http on loopback, at
	// most 8 KiB.
	URL string
	// Private holds the bytes of this Begin that Finish needs, such as a nonce and a PKCE
	// verifier, at most 2 KiB. The host seals it into a cookie.
	Private []byte
}

// A FinishRequest is the return of the browser from the provider.
type FinishRequest struct {
	// ID joins log lines.
	ID string
	// Callback is that of Begin.
	Callback string
	// Parameters are those of the callback's query, the state included.
	Parameters map[string]string
	// Private holds the bytes that Begin returned.
	Private []byte
	// Locale and Fresh are those of Begin.
	Locale string
	Fresh  bool
}

// An Identity is a person as a provider knows them.
type Identity struct {
	// Subject names the person at the provider for ever, and never another person: 1 to
	// 255 bytes. An address is no subject where it can be given to somebody else.
	Subject string
	// Email is empty where the provider gives none. EmailVerified reports whether the
	// provider itself has verified that it is the person's; a claim that is absent is false.
	Email         string
	EmailVerified bool
	// Name is for people; it may be empty.
	Name string
	// AuthTime is when the person last proved who they are; zero when the provider does
	// not say.
	AuthTime time.Time
}

// An IdentityResult is the answer of an [IdentityProvider]. Make one with [Identified] or [Refused]; the
// zero value is a refusal without a reason. It is a value: methods return copies and it may
// be shared between goroutines.
type IdentityResult struct {
	identity Identity
	found    bool
	reason   string
	effects  []Effect
}

// Identified returns the result for a person whom the provider has identified. The name
// loses control characters and ends after 255 bytes.
func Identified(i Identity) IdentityResult {
	i.Name = words.Printable(strings.NewReplacer("\u2028", " ", "\u2029", " ").Replace(i.Name), maxName)
	return IdentityResult{identity: i, found: true}
}

// Refused returns the refusal of a person by the provider or by the plugin's rules. The reason is
// one line for them in the call's locale, at most 256 bytes; empty for the host's own words.
func Refused(reason string) IdentityResult { return IdentityResult{reason: reason} }

// With returns a copy of the result that asks for effects of [SetUser], applied to the user
// whom the identity signs in, is linked to, or creates. Others break the contract.
func (f IdentityResult) With(effects ...Effect) IdentityResult {
	f.effects = append(slices.Clip(f.effects), effects...)
	return f
}

// Identity returns who the person is, and false if they are refused.
func (f IdentityResult) Identity() (Identity, bool) { return f.identity, f.found }

// Reason returns why the person is refused; it may be empty.
func (f IdentityResult) Reason() string { return f.reason }

// Effects returns the changes of the user's columns that are asked for, in order.
func (f IdentityResult) Effects() []Effect { return slices.Clone(f.effects) }

// identityRole returns the role's entry in the table of roles.
func identityRole() role {
	return role{
		name: RoleIdentityProvider, field: "IdentityProvider", takesIdentity: true,
		has:     func(p Plugin) bool { return p.IdentityProvider != nil },
		run:     runIdentity,
		connect: func(p *Plugin, c *Client) { p.IdentityProvider = c },
		samples: identitySamples,
	}
}

// runIdentity makes a call by hand.
func runIdentity(ctx context.Context, p Plugin, c Call) (any, error) {
	if c.Finish == nil {
		a, err := p.IdentityProvider.Begin(ctx, c.Begin)
		return struct {
			URL     string `json:"url"`
			Private []byte `json:"private,omitempty"`
		}{a.URL, a.Private}, err
	}
	f, err := p.IdentityProvider.Finish(ctx, *c.Finish)
	i, found := f.Identity()
	if !found {
		return struct {
			Refused string `json:"refused"`
		}{f.reason}, err
	}
	return struct {
		Subject       string           `json:"subject"`
		Email         string           `json:"email,omitempty"`
		EmailVerified bool             `json:"email_verified"`
		Name          string           `json:"name,omitempty"`
		AuthTime      time.Time        `json:"auth_time,omitzero"`
		Effects       []map[string]any `json:"effects"`
	}{i.Subject, i.Email, i.EmailVerified, i.Name, i.AuthTime, effectsJSON(f.effects)}, err
}

// sampleBegin is a sign-in as a host may begin it.
func sampleBegin() BeginRequest {
	return BeginRequest{
		ID: "sample", Callback: "https://app.example.com/auth/identity/company/callback",
		State: "c2FtcGxlLXN0YXRlLW9mLTMyLWJ5dGVzLXgtLS0tLS0", Locale: "en",
	}
}

// identitySamples are sign-ins as a host may begin them, and answers of a provider that
// tell nothing. A plugin may refuse those, or fail at them, and must bear them.
func identitySamples() map[string]func(*Call) {
	all := map[string]func(*Call){
		"somebody who is expected": func(c *Call) { c.Begin.LoginHint = "ada@example.com" },
		"a proof made now":         func(c *Call) { c.Begin.Fresh = true },
		"a callback on loopback":   func(c *Call) { c.Begin.Callback = "http://127.0.0.1:8080/auth/identity/company/callback" },
	}
	for name, parameters := range map[string]map[string]string{
		"a person who refused":              {"error": "access_denied", "error_description": "The user said no."},
		"a callback without parameters":     {},
		"a code that nobody gave":           {"code": strings.Repeat("x", 1<<10)},
		"a callback that looks like markup": {"code": `<script>alert("1")</script> %s ${x}`, "iss": "https://other.example.com"},
	} {
		all[name] = func(c *Call) {
			parameters["state"] = c.Begin.State
			c.Finish = &FinishRequest{ID: c.Begin.ID, Callback: c.Begin.Callback, Parameters: parameters, Private: []byte("{}"), Locale: "en"}
		}
	}
	for _, locale := range []string{"de", "pt-BR", ""} {
		all["the language "+fmt.Sprintf("%q", locale)] = func(c *Call) { c.Begin.Locale = locale }
	}
	return all
}

// A callBegin and a callFinish are calls by hand as JSON.
type callBegin struct {
	Callback  string `json:"callback"`
	State     string `json:"state"`
	Locale    string `json:"locale"`
	LoginHint string `json:"login_hint"`
	Fresh     bool   `json:"fresh"`
}

type callFinish struct {
	Callback   string            `json:"callback"`
	Parameters map[string]string `json:"parameters"`
	Private    []byte            `json:"private"`
	Locale     string            `json:"locale"`
	Fresh      bool              `json:"fresh"`
}

// identity returns what a call by hand asks an identity provider.
func (f callFile) identity() (BeginRequest, *FinishRequest) {
	begin := sampleBegin()
	if b := f.Begin; b != nil {
		begin = BeginRequest{
			ID: begin.ID, Callback: cmp.Or(b.Callback, begin.Callback), State: cmp.Or(b.State, begin.State),
			Locale: cmp.Or(b.Locale, begin.Locale), LoginHint: b.LoginHint, Fresh: b.Fresh,
		}
	}
	r := f.Finish
	if r == nil {
		return begin, nil
	}
	return begin, &FinishRequest{
		ID: begin.ID, Callback: cmp.Or(r.Callback, begin.Callback), Parameters: r.Parameters, Private: r.Private,
		Locale: cmp.Or(r.Locale, begin.Locale), Fresh: r.Fresh,
	}
}

// Begin asks the plugin where the browser is sent.
func (c *Client) Begin(ctx context.Context, r BeginRequest) (Authorization, error) {
	in := &pluginpb.BeginRequest{Id: r.ID, Callback: r.Callback, State: r.State, Locale: r.Locale, LoginHint: r.LoginHint, Fresh: r.Fresh}
	return callPlugin(ctx, c.rpc().Begin, in, func(a *pluginpb.BeginResponse) (Authorization, error) {
		out := Authorization{URL: a.GetUrl(), Private: a.GetPrivate()}
		return out, checkAuthorization(out)
	})
}

// Finish asks the plugin who the person is.
func (c *Client) Finish(ctx context.Context, r FinishRequest) (IdentityResult, error) {
	in := &pluginpb.FinishRequest{Id: r.ID, Callback: r.Callback, Parameters: r.Parameters, Private: r.Private, Locale: r.Locale, Fresh: r.Fresh}
	return callPlugin(ctx, c.rpc().Finish, in, fromIdentityResult)
}

// Begin answers a host's call with the author's identity provider.
func (s *server) Begin(ctx context.Context, in *pluginpb.BeginRequest) (*pluginpb.BeginResponse, error) {
	p := s.plugin.IdentityProvider
	if p == nil {
		return nil, lacksRole(RoleIdentityProvider)
	}
	r := BeginRequest{
		ID: in.GetId(), Callback: in.GetCallback(), State: in.GetState(), Locale: in.GetLocale(),
		LoginHint: in.GetLoginHint(), Fresh: in.GetFresh(),
	}
	return answerCall(s.call(ctx, "begin", r.ID, ""), func(ctx context.Context) (Authorization, error) {
		a, err := p.Begin(ctx, r)
		return a, cmp.Or(err, checkAuthorization(a))
	}, func(a Authorization) (*pluginpb.BeginResponse, error) {
		return &pluginpb.BeginResponse{Url: a.URL, Private: a.Private}, nil
	})
}

// Finish answers a host's call with the author's identity provider.
func (s *server) Finish(ctx context.Context, in *pluginpb.FinishRequest) (*pluginpb.FinishResponse, error) {
	p := s.plugin.IdentityProvider
	if p == nil {
		return nil, lacksRole(RoleIdentityProvider)
	}
	r := FinishRequest{
		ID: in.GetId(), Callback: in.GetCallback(), Parameters: in.GetParameters(), Private: in.GetPrivate(),
		Locale: in.GetLocale(), Fresh: in.GetFresh(),
	}
	return answerCall(s.call(ctx, "finish", r.ID, ""), func(ctx context.Context) (IdentityResult, error) {
		f, err := p.Finish(ctx, r)
		return f, cmp.Or(err, checkIdentityResult(f))
	}, toIdentityResult)
}

// checkAuthorization returns an error with [ErrContract] if no browser may be sent there.
func checkAuthorization(a Authorization) error {
	u, err := url.Parse(a.URL)
	switch {
	case err != nil || len(a.URL) > maxProviderURL || !oneLine(a.URL):
		return fmt.Errorf("%w: the provider's address is no URL of at most %d bytes", ErrContract, maxProviderURL)
	case u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		return fmt.Errorf("%w: the provider's address is not on https, nor on http on loopback", ErrContract)
	case len(a.Private) > maxPrivate:
		return fmt.Errorf("%w: the private bytes are %d; %d are allowed", ErrContract, len(a.Private), maxPrivate)
	}
	return nil
}

func loopback(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

// checkIdentityResult returns an error with [ErrContract] if no host takes the result.
func checkIdentityResult(f IdentityResult) error {
	i := f.identity
	switch {
	case !f.found && (len(f.reason) > maxRefusal || !oneLine(f.reason)):
		return fmt.Errorf("%w: the reason of a refusal is not one line of at most %d bytes", ErrContract, maxRefusal)
	case !f.found && len(f.effects) > 0:
		return fmt.Errorf("%w: a refusal has effects", ErrContract)
	case f.found && (i.Subject == "" || len(i.Subject) > maxSubject || !oneLine(i.Subject)):
		return fmt.Errorf("%w: the subject is not 1 to %d printable bytes", ErrContract, maxSubject)
	case len(i.Email) > maxEmail || !oneLine(i.Email):
		return fmt.Errorf("%w: the address is not one line of at most %d bytes", ErrContract, maxEmail)
	}
	for _, e := range f.effects {
		if e.kind != effectSetUser || e.replaces {
			return fmt.Errorf("%w: an identity provider sees no session and no columns: only SetUser can be its effect", ErrContract)
		}
	}
	return nil
}

func toIdentityResult(f IdentityResult) (*pluginpb.FinishResponse, error) {
	effects, err := toEffects(f.effects)
	if err != nil || !f.found {
		return &pluginpb.FinishResponse{Refused: f.reason}, err
	}
	i := f.identity
	return &pluginpb.FinishResponse{Effects: effects, Identity: &pluginpb.Identity{
		Subject: i.Subject, Email: i.Email, EmailVerified: i.EmailVerified, Name: i.Name, AuthTime: toUnix(i.AuthTime),
	}}, nil
}

func fromIdentityResult(r *pluginpb.FinishResponse) (IdentityResult, error) {
	effects, err := fromEffects(r.GetEffects())
	if err != nil {
		return IdentityResult{}, err
	}
	f := Refused(r.GetRefused()).With(effects...)
	if i := r.GetIdentity(); i != nil {
		if r.GetRefused() != "" {
			return IdentityResult{}, fmt.Errorf("%w: the answer has an identity and the reason of a refusal", ErrContract)
		}
		f = Identified(Identity{
			Subject: i.GetSubject(), Email: i.GetEmail(), EmailVerified: i.GetEmailVerified(),
			Name: i.GetName(), AuthTime: fromUnix(i.GetAuthTime()),
		}).With(effects...)
	}
	return f, checkIdentityResult(f)
}
