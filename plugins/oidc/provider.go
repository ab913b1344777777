package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/time/rate"
)

const (
	// discoveryLife is how long a discovery document counts. Keys are fetched anew with it,
	// so that those which the provider withdrew end then.
	discoveryLife = time.Hour
	// discoveryPause is how long a failure answers everybody before the next try.
	discoveryPause = 2 * time.Second
	// tenantMark is the placeholder of the tenant in an issuer of many.
	tenantMark = "{tenantid}"
)

// A discovery finds a provider when it is first needed.
type discovery struct {
	config  config
	now     func() time.Time
	client  *http.Client
	keys    *http.Client
	turn    chan struct{} // whoever has put something in may use the fields below
	current *provider
	err     error
	until   time.Time
}

func newDiscovery(c config, now func() time.Time) *discovery {
	// A token with an unknown key has the keys fetched, and a provider that rotates them
	// does so once in a while.
	limit := rate.NewLimiter(rate.Every(10*time.Second), 3)
	return &discovery{
		config: c, now: now, client: newClient(nil), turn: make(chan struct{}, 1),
		keys: newClient(func(t http.RoundTripper) http.RoundTripper { return limited{t, limit} }),
	}
}

// A provider holds a discovery document that was checked.
type provider struct {
	*oidc.Provider
	metadata
	client   *http.Client
	oauth    oauth2.Config
	verifier *oidc.IDTokenVerifier
}

// A metadata is the part of a discovery document that go-oidc leaves to its callers.
type metadata struct {
	Issuer      string   `json:"issuer"`
	AuthURL     string   `json:"authorization_endpoint"`
	TokenURL    string   `json:"token_endpoint"`
	KeysURL     string   `json:"jwks_uri"`
	UserInfoURL string   `json:"userinfo_endpoint"`
	Algorithms  []string `json:"id_token_signing_alg_values_supported"`
	AuthMethods []string `json:"token_endpoint_auth_methods_supported"`
	// NamesIssuer promises the callback's parameter iss (RFC 9207, 3).
	NamesIssuer bool `json:"authorization_response_iss_parameter_supported"`
}

// provider returns the provider, and asks for its discovery document where none is known.
// One caller asks and the others wait.
func (d *discovery) provider(ctx context.Context) (*provider, error) {
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return nil, errors.New("the provider takes too long to answer with its discovery document")
	}
	if d.now().Before(d.until) {
		return d.current, d.err
	}
	current, err := d.ask(ctx)
	if ctx.Err() != nil && err != nil {
		return nil, err // this call has ended, which says nothing of the next
	}
	life := discoveryLife
	if err != nil {
		life = discoveryPause
	}
	d.current, d.err, d.until = current, err, d.now().Add(life)
	return current, err
}

func (d *discovery) ask(ctx context.Context) (*provider, error) {
	ctx = oidc.ClientContext(ctx, d.client)
	many := len(d.config.Tenants) > 0
	if many {
		ctx = oidc.InsecureIssuerURLContext(ctx, d.config.Issuer) // checkIssuer compares
	}
	found, err := oidc.NewProvider(ctx, d.config.Issuer)
	var mismatch *oidc.IssuerMismatchError
	switch {
	case errors.As(err, &mismatch) && strings.Contains(mismatch.Discovered, tenantMark):
		return nil, errors.New("the issuer serves many tenants: list the ids of those whose people may sign in, in tenants")
	case errors.As(err, &mismatch):
		return nil, fmt.Errorf("the discovery document names another issuer, %q: write exactly that as issuer if it is the right one", oneLine(mismatch.Discovered, maxSaid))
	case err != nil:
		return nil, failed("read the discovery document", err)
	}
	p := &provider{Provider: found, client: d.client}
	if err := found.Claims(&p.metadata); err != nil {
		return nil, failed("read the discovery document", err)
	}
	if err := p.check(d.config); err != nil {
		return nil, fmt.Errorf("the discovery document: %w", err)
	}
	p.oauth = oauth2.Config{
		ClientID: d.config.ClientID, ClientSecret: d.config.ClientSecret, Scopes: d.config.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: p.AuthURL, TokenURL: p.TokenURL, AuthStyle: p.authStyle()},
	}
	// The keys are fetched for later calls, too: their context is no call's.
	p.verifier = found.VerifierContext(oidc.ClientContext(context.Background(), d.keys), &oidc.Config{
		ClientID: d.config.ClientID, SupportedSigningAlgs: p.algorithms(), SkipIssuerCheck: many, Now: d.now,
	})
	return p, nil
}

// check refuses addresses that anybody could listen to or answer for, and a document that
// does not fit the tenants of the config block.
func (p *provider) check(c config) error {
	issuer, err := url.Parse(c.Issuer)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"authorization_endpoint": p.AuthURL, "token_endpoint": p.TokenURL, "jwks_uri": p.KeysURL, "userinfo_endpoint": p.UserInfoURL,
	} {
		u, err := url.Parse(text)
		switch {
		case text == "" && name == "userinfo_endpoint":
		case err != nil || u.Host == "" || u.User != nil || u.Fragment != "":
			return fmt.Errorf("%s is no address", name)
		case u.Scheme != "https" && !(localHTTP(u) && localHTTP(issuer)):
			return fmt.Errorf("%s is not on https", name)
		}
	}
	if len(p.algorithms()) == 0 {
		return errors.New("none of the algorithms that sign tokens has a public key")
	}
	if p.authStyle() == oauth2.AuthStyleAutoDetect {
		return errors.New("no client may use its secret as client_secret_basic or client_secret_post")
	}
	if len(c.Tenants) == 0 {
		return nil
	}
	named, err := url.Parse(strings.Replace(p.Issuer, tenantMark, "any", 1))
	switch {
	case strings.Count(p.Issuer, tenantMark) != 1:
		return errors.New("the issuer serves one tenant: leave tenants out")
	case err != nil || named.Scheme != issuer.Scheme || named.Host != issuer.Host:
		return errors.New("the issuer of each tenant is on another host")
	}
	return nil
}

// algorithms are those of the provider that have a public key; RS256 where it names none
// (OpenID Connect Core 3.1.3.7).
func (m metadata) algorithms() []string {
	if m.Algorithms == nil {
		return []string{oidc.RS256}
	}
	public := []string{
		oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
	}
	return slices.DeleteFunc(slices.Clone(m.Algorithms), func(a string) bool { return !slices.Contains(public, a) })
}

// authStyle is how the secret is sent. Trying both ways would send it, and the code, twice.
func (m metadata) authStyle() oauth2.AuthStyle {
	switch {
	case m.AuthMethods == nil || slices.Contains(m.AuthMethods, "client_secret_basic"):
		return oauth2.AuthStyleInHeader
	case slices.Contains(m.AuthMethods, "client_secret_post"):
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleAutoDetect
}

// issues reports whether a callback may name the issuer. For many tenants the token decides
// which of them it is.
func (p *provider) issues(iss string) bool {
	before, after, many := strings.Cut(p.Issuer, tenantMark)
	return iss == p.Issuer || many && strings.HasPrefix(iss, before) && strings.HasSuffix(iss, after)
}
