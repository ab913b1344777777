package main

import (
	"context"
	"encoding/json"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A kept holds what Finish needs of a Begin. The host seals it.
type kept struct {
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	// Began is when, in seconds since 1970.
	Began int64 `json:"began"`
}

// Begin returns the provider's address for a new sign-in.
func (s *signIn) Begin(ctx context.Context, r pluginsdk.BeginRequest) (pluginsdk.Authorization, error) {
	ctx, cancel := inTime(ctx)
	defer cancel()
	p, err := s.known.provider(ctx)
	if err != nil {
		return pluginsdk.Authorization{}, err
	}
	// Both are 32 random bytes.
	k := kept{Nonce: oauth2.GenerateVerifier(), Verifier: oauth2.GenerateVerifier(), Began: s.now().Unix()}
	options := []oauth2.AuthCodeOption{oidc.Nonce(k.Nonce), oauth2.S256ChallengeOption(k.Verifier)}
	set := func(name, value string) {
		if value != "" {
			options = append(options, oauth2.SetAuthURLParam(name, value))
		}
	}
	set("login_hint", r.LoginHint)
	set("ui_locales", r.Locale)
	if r.Fresh {
		set("prompt", "login")
		set("max_age", "0")
	}
	oauth := p.oauth
	oauth.RedirectURL = r.Callback
	private, err := json.Marshal(k)
	return pluginsdk.Authorization{URL: oauth.AuthCodeURL(r.State, options...), Private: private}, err
}
