package main

import (
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coreos/go-oidc/v3/oidc"
)

// Whatever claims a provider sends, an identity fits the contract, and an address counts as
// verified only with the claim that is configured.
func FuzzClaims(f *testing.F) {
	for _, seed := range []string{
		`{"email": "ada@example.com", "email_verified": true, "name": "Ada", "auth_time": 1900000000, "groups": ["staff"]}`,
		`{"email": "a\u0000b", "email_verified": "true", "name": ["x"], "auth_time": -1}`,
		`{"email": "@example.com", "email_verified": 1, "auth_time": 1e300, "groups": {"staff": true}}`,
		`{"email": null, "email_verified": null, "name": "\ud800", "groups": "staff"}`, `null`, `{}`,
	} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, rules bool) {
		var c claims
		if json.Unmarshal([]byte(text), &c) != nil {
			return
		}
		s := &signIn{now: clock, config: config{VerifiedClaim: "email_verified"}}
		if rules {
			s.config.Domains, s.config.Claims = []string{"example.com"}, map[string][]string{"groups": {"staff"}}
		}
		result, err := s.judge(t.Context(), &provider{}, &person{token: &oidc.IDToken{Subject: "ada"}, claims: c}, false, time.Time{}, textsFor("en"))
		i, found := result.Identity()
		switch {
		case err != nil && found:
			t.Errorf("an error and an identity: %v, %+v", err, i)
		case !found:
		case len(i.Email) > maxText || len(i.Name) > maxText || !utf8.ValidString(i.Email+i.Name) || oneLine(i.Email+i.Name, 2*maxText) != i.Email+i.Name:
			t.Errorf("no host takes %+v", i)
		case i.EmailVerified && (i.Email == "" || !c.affirms("email_verified")):
			t.Errorf("an address that nobody has verified: %+v", i)
		case rules && (!s.config.hasDomain(i.Email) || !i.EmailVerified || !c.oneOf("groups", []string{"staff"})):
			t.Errorf("the rules let %+v in", i)
		}
	})
}
