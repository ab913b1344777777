package main

import (
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	// The system's own certificates win over these, which serve where it has none.
	_ "golang.org/x/crypto/x509roots/fallback"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

func main() { pluginsdk.Serve(newPlugin(time.Now)) }

func newPlugin(now func() time.Time) pluginsdk.Plugin {
	s := &signIn{now: now}
	return pluginsdk.Plugin{
		Name:             "oidc",
		Version:          pluginsdk.Version,
		Description:      "Signs people in by OpenID Connect.",
		IdentityProvider: s,
		Config:           &s.config,
		Configure:        s.configure,
	}
}

// A config is the plugin's config block.
type config struct {
	Issuer        string              `config:"issuer,required" doc:"The provider's issuer, exactly as its discovery document names it, such as https://accounts.google.com."`
	ClientID      string              `config:"client_id,required" doc:"The client that is registered at the provider."`
	ClientSecret  string              `config:"client_secret,required" doc:"The client's secret. Keep it out of the file: env(\"OIDC_CLIENT_SECRET\")."`
	Scopes        []string            `config:"scopes" default:"[\"openid\", \"email\", \"profile\"]" doc:"What the provider is asked for; openid is always one of them."`
	Domains       []string            `config:"domains" doc:"Only people whose verified address is in one of these domains may sign in."`
	Claims        map[string][]string `config:"claims" doc:"Only people who have one of the values of each claim may sign in, such as { groups = [\"staff\"] }."`
	Tenants       []string            `config:"tenants" doc:"The ids of the tenants whose people may sign in. Required for an issuer of many, such as …/organizations/v2.0 of Entra ID."`
	VerifiedClaim string              `config:"verified_claim" default:"email_verified" doc:"The claim that says whether the provider has verified the address; xms_edov for Entra ID."`
}

// Validate refuses what no provider can have, and rules that let nobody in.
func (c config) Validate() error {
	errs := []error{c.checkIssuer()}
	if !slices.Contains(c.Scopes, "openid") {
		errs = append(errs, pluginsdk.BadConfig("scopes", `without "openid" no provider says who somebody is: add it`))
	}
	if slices.ContainsFunc(append(slices.Clone(c.Scopes), c.VerifiedClaim), func(s string) bool { return s == "" || strings.ContainsAny(s, " \t\r\n") }) {
		errs = append(errs, pluginsdk.BadConfig("scopes", "a name is empty or has blanks: write each scope as a text of its own"))
	}
	for _, d := range c.Domains {
		if d == "" || strings.ContainsAny(d, "@* /") {
			errs = append(errs, pluginsdk.BadConfig("domains", "%q is no domain: write it like example.com", d))
		}
	}
	for name, values := range c.Claims {
		if name == "" || len(values) == 0 {
			errs = append(errs, pluginsdk.BadConfig("claims", "the claim %q has no values, and nobody could sign in: name some, or leave it out", name))
		}
	}
	for _, id := range c.Tenants {
		if id == "" || strings.Trim(strings.ToLower(id), "0123456789abcdef-") != "" {
			errs = append(errs, pluginsdk.BadConfig("tenants", "%q is no tenant's id: write it like 11111111-2222-3333-4444-555555555555", id))
		}
	}
	return errors.Join(errs...)
}

func (c config) checkIssuer() error {
	u, err := url.Parse(c.Issuer)
	switch {
	case err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(c.Issuer, "?#"):
		return pluginsdk.BadConfig("issuer", "it is no issuer: write it like https://login.example.com, without a query")
	case u.Scheme != "https" && !localHTTP(u):
		return pluginsdk.BadConfig("issuer", "it is not on https: anybody between here and there could sign in as everybody (http is for loopback alone)")
	case strings.Contains(c.Issuer, "{"):
		return pluginsdk.BadConfig("issuer", "it has a placeholder: write …/organizations/v2.0 for many tenants, with their ids in tenants")
	case len(c.Tenants) == 0 && ofManyTenants(u):
		return pluginsdk.BadConfig("tenants", "the issuer serves every organisation, and any of them can name any address: list the ids of the tenants whose people may sign in")
	}
	return nil
}

// ofManyTenants reports whether a URL is an issuer of Entra ID for all organisations. Those
// of others are known by their discovery document.
func ofManyTenants(u *url.URL) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	return strings.HasPrefix(u.Hostname(), "login.") && strings.Contains(u.Hostname(), "microsoftonline.") &&
		(first == "common" || first == "organizations")
}

// localHTTP reports whether a URL is on http and on this machine.
func localHTTP(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// A signIn is the plugin. It keeps nothing of a sign-in between Begin and Finish: another
// process may have begun it.
type signIn struct {
	config config
	now    func() time.Time
	known  *discovery
}

// configure asks nobody: the plugin is ready although the provider is down.
func (s *signIn) configure(context.Context, pluginsdk.Setup) error {
	s.known = newDiscovery(s.config, s.now)
	return nil
}
