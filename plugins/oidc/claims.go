package main

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// maxText is how many bytes of an address the host takes.
const maxText = 255

// A claims is a JSON object about a person.
type claims map[string]any

func (c claims) has(names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return c[n] == nil })
}

func (c claims) text(name string) string {
	text, _ := c[name].(string)
	return text
}

// fillIn takes the named claims that are missing from more.
func (c claims) fillIn(more claims, names []string) {
	for _, name := range names {
		if v := more[name]; v != nil && c[name] == nil {
			c[name] = v
		}
	}
}

// affirms reports whether a claim is true. Some providers write it as text or as 1.
func (c claims) affirms(name string) bool {
	v := c[name]
	return v == true || v == "true" || v == float64(1) || v == "1"
}

// maxExact bounds the numbers that were decoded as they were written: further ones may be rounded.
const maxExact = 1 << 53

// oneOf reports whether a claim is, or lists, one of the values. No rounded number is one.
func (c claims) oneOf(name string, values []string) bool {
	list, ok := c[name].([]any)
	if !ok {
		list = []any{c[name]}
	}
	return slices.ContainsFunc(list, func(v any) bool {
		switch v := v.(type) {
		case string:
			return slices.Contains(values, v)
		case bool:
			return slices.Contains(values, strconv.FormatBool(v))
		case float64:
			return math.Abs(v) < maxExact && slices.Contains(values, strconv.FormatFloat(v, 'f', -1, 64))
		}
		return false
	})
}

// wanted are the claims that the config block makes use of.
func (c config) wanted() []string {
	names := slices.Sorted(maps.Keys(c.Claims))
	if slices.Contains(c.Scopes, "email") || len(c.Domains) > 0 {
		names = append(names, "email")
	}
	if slices.Contains(c.Scopes, "profile") {
		names = append(names, "name")
	}
	return names
}

// judge says who a person is, or refuses them by the rules of the config block.
func (s *signIn) judge(ctx context.Context, p *provider, who *person, fresh bool, began time.Time, say texts) (pluginsdk.IdentityResult, error) {
	subject, err := s.subject(p, who)
	if err != nil {
		return pluginsdk.IdentityResult{}, err
	}
	proved, err := s.authTime(who.claims)
	if err != nil {
		return pluginsdk.IdentityResult{}, err
	}
	email := who.claims.text("email")
	if len(email) > maxText || oneLine(email, maxText) != email {
		return pluginsdk.IdentityResult{}, errors.New("the address is no line of at most 255 bytes")
	}
	verified := email != "" && who.claims.affirms(s.config.VerifiedClaim)
	refuse := func(why, reason string) (pluginsdk.IdentityResult, error) {
		pluginsdk.Logger(ctx).Info("refused", "reason", why)
		return pluginsdk.Refused(reason), nil
	}
	switch {
	case subject == "":
		return refuse("the tenant is not in tenants", say.notYou)
	case !s.config.hasClaims(who.claims):
		return refuse("a claim has none of the values in claims", say.notYou)
	case len(s.config.Domains) > 0 && !verified:
		return refuse("the address is not verified, and domains is set", say.unverified)
	case len(s.config.Domains) > 0 && !s.config.hasDomain(email):
		return refuse("the address is in none of domains", say.notYou)
	case fresh && proved.IsZero():
		return refuse("the provider does not say when the person signed in there (auth_time)", say.noProof)
	case fresh && proved.Before(began.Add(-leeway)):
		return refuse("the provider did not ask the person again", say.oldProof)
	}
	return pluginsdk.Identified(pluginsdk.Identity{
		Subject: subject, Email: email, EmailVerified: verified,
		Name: who.claims.text("name"), AuthTime: proved,
	}), nil
}

// subject returns the name under which the host knows the person; empty where they are of
// a tenant that is not listed. Subjects are one for each issuer: those of many tenants get
// the tenant's id in front.
func (s *signIn) subject(p *provider, who *person) (string, error) {
	if len(s.config.Tenants) == 0 {
		return who.token.Subject, nil
	}
	tenant := who.claims.text("tid")
	if tenant == "" || who.token.Issuer != strings.Replace(p.Issuer, tenantMark, tenant, 1) {
		return "", errors.New("the ID token's issuer is not that of its tenant (tid)")
	}
	if !slices.ContainsFunc(s.config.Tenants, func(id string) bool { return strings.EqualFold(id, tenant) }) {
		return "", nil
	}
	return strings.ToLower(tenant) + "/" + who.token.Subject, nil
}

// authTime returns when the person last proved who they are; zero where it is not said.
func (s *signIn) authTime(c claims) (time.Time, error) {
	v, ok := c["auth_time"]
	if !ok || v == nil {
		return time.Time{}, nil
	}
	seconds, ok := v.(float64)
	if !ok || seconds <= 0 || seconds > math.MaxInt32*8 {
		return time.Time{}, errors.New("auth_time is no time")
	}
	at := time.Unix(int64(seconds), 0)
	if at.After(s.now().Add(leeway)) {
		return time.Time{}, errors.New("auth_time lies ahead")
	}
	return at, nil
}

func (c config) hasClaims(have claims) bool {
	for name, values := range c.Claims {
		if !have.oneOf(name, values) {
			return false
		}
	}
	return true
}

// hasDomain reports whether what follows the first @ of an address is one of the domains. Letters beyond ASCII must be the
// same, as they must be for the host.
func (c config) hasDomain(email string) bool {
	local, domain, _ := strings.Cut(email, "@")
	return local != "" && slices.ContainsFunc(c.Domains, func(d string) bool { return lowerASCII(d) == lowerASCII(domain) })
}

func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, text)
}
