package main

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// leeway is how far the clocks of a provider and of this machine may differ.
const leeway = time.Minute

// Finish exchanges the code of a callback, verifies the token, and says who the person is.
func (s *signIn) Finish(ctx context.Context, r pluginsdk.FinishRequest) (pluginsdk.IdentityResult, error) {
	say := textsFor(r.Locale)
	if code := r.Parameters["error"]; code != "" {
		return refusal(code, say)
	}
	var k kept
	if err := json.Unmarshal(r.Private, &k); err != nil || k.Nonce == "" || k.Verifier == "" {
		return pluginsdk.IdentityResult{}, errors.New("the private bytes of this sign-in are not what Begin returned")
	}
	ctx, cancel := inTime(ctx)
	defer cancel()
	p, err := s.known.provider(ctx)
	if err != nil {
		return pluginsdk.IdentityResult{}, err
	}
	ctx = oidc.ClientContext(ctx, s.known.client)
	token, err := p.exchange(ctx, r, k)
	if err != nil {
		return pluginsdk.IdentityResult{}, err
	}
	who, err := p.verify(ctx, token, k)
	if err != nil {
		return pluginsdk.IdentityResult{}, err
	}
	if iss := r.Parameters["iss"]; iss != "" && strings.Contains(p.Issuer, tenantMark) && iss != who.token.Issuer {
		return pluginsdk.IdentityResult{}, errors.New("the callback names the issuer of another tenant than the token")
	}
	if err := s.fillIn(ctx, p, who, token); err != nil {
		return pluginsdk.IdentityResult{}, err
	}
	return s.judge(ctx, p, who, r.Fresh, time.Unix(k.Began, 0), say)
}

// refusal is the answer to a callback with an error code (RFC 6749, 4.1.2.1, and OpenID
// Connect Core 3.1.2.6). It needs no issuer: nobody is signed in.
func refusal(code string, say texts) (pluginsdk.IdentityResult, error) {
	switch code {
	case "access_denied":
		return pluginsdk.Refused(say.denied), nil
	case "login_required", "interaction_required", "consent_required", "account_selection_required":
		return pluginsdk.Refused(say.again), nil
	}
	return pluginsdk.IdentityResult{}, fmt.Errorf("the provider answered the sign-in with %s", codeOf(code))
}

// codeOf returns an error code as it may be logged: a browser sends any text.
func codeOf(code string) string {
	if code == "" || len(code) > 64 || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "an error"
	}
	return "the error " + code
}

// exchange returns the tokens for the code of a callback.
func (p *provider) exchange(ctx context.Context, r pluginsdk.FinishRequest, k kept) (*oauth2.Token, error) {
	iss, named := r.Parameters["iss"]
	switch {
	case p.NamesIssuer && !named:
		return nil, errors.New("the callback does not name its issuer, which discovery promises")
	case named && !p.issues(iss):
		return nil, errors.New("the callback names another issuer")
	case r.Parameters["code"] == "":
		return nil, errors.New("the callback has no code")
	}
	oauth := p.oauth
	oauth.RedirectURL = r.Callback
	token, err := oauth.Exchange(ctx, r.Parameters["code"], oauth2.VerifierOption(k.Verifier))
	var answer *oauth2.RetrieveError
	if errors.As(err, &answer) { // its text holds what the provider wrote
		return nil, fmt.Errorf("the provider answered the code with %d and %s", answer.Response.StatusCode, codeOf(answer.ErrorCode))
	}
	if err != nil {
		return nil, failed("exchange the code", err)
	}
	return token, nil
}

// A person holds a provider's token and its claims.
type person struct {
	token  *oidc.IDToken
	claims claims
}

// verify checks the ID token. go-oidc holds signature, issuer, audience and expiry against
// what is expected; the rest is up to its callers (OpenID Connect Core 3.1.3.7).
func (p *provider) verify(ctx context.Context, tokens *oauth2.Token, k kept) (*person, error) {
	raw, ok := tokens.Extra("id_token").(string)
	if !ok {
		return nil, errors.New("the provider answered the code without an ID token")
	}
	token, err := p.verifier.Verify(ctx, raw)
	if err != nil {
		return nil, failed("verify the ID token", err)
	}
	who := &person{token: token}
	if err := token.Claims(&who.claims); err != nil {
		return nil, failed("read the ID token", err)
	}
	azp, has := who.claims["azp"]
	switch {
	case who.claims.text("sub") != token.Subject || who.claims.text("iss") != token.Issuer: // go-oidc takes names in any case
		return nil, errors.New("the ID token names a person twice, or its issuer")
	case subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(k.Nonce)) != 1:
		return nil, errors.New("the ID token has the nonce of another sign-in")
	case len(token.Audience) > 1 && !has:
		return nil, errors.New("the ID token has several audiences and does not say for which client it is (azp)")
	case has && azp != p.oauth.ClientID:
		return nil, errors.New("the ID token is for another client (azp)")
	case token.AccessTokenHash != "" && token.VerifyAccessToken(tokens.AccessToken) != nil:
		return nil, errors.New("the ID token belongs to another access token (at_hash)")
	case token.Subject == "" || len(token.Subject) > 255 || oneLine(token.Subject, 255) != token.Subject:
		return nil, errors.New("the ID token has no subject that can be kept")
	}
	return who, nil
}

// fillIn adds claims that the token lacks and that are wanted from the userinfo endpoint.
func (s *signIn) fillIn(ctx context.Context, p *provider, who *person, token *oauth2.Token) error {
	wanted := s.config.wanted()
	if p.UserInfoURL == "" || who.claims.has(wanted...) {
		return nil
	}
	more, err := p.userInfo(ctx, token)
	if err != nil {
		return failed("ask for the person's claims", err)
	}
	if more.text("sub") != who.token.Subject {
		return errors.New("the claims are of another person than the ID token (sub)")
	}
	// An address and what is said of it come from one place.
	verified := s.config.VerifiedClaim
	switch {
	case !who.claims.has("email"):
		delete(who.claims, verified)
		wanted = append(wanted, verified)
	case more.text("email") != who.claims.text("email"):
		delete(more, verified)
	}
	who.claims.fillIn(more, wanted)
	return nil
}

// userInfo returns the claims that the userinfo endpoint answers. go-oidc would decode them as
// well, and fail at an email_verified that is 1 or null.
func (p *provider) userInfo(ctx context.Context, token *oauth2.Token) (claims, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.UserInfoURL, nil)
	if err != nil {
		return nil, err
	}
	token.SetAuthHeader(r)
	resp, err := p.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var found claims
	err = json.NewDecoder(resp.Body).Decode(&found)
	return found, err
}
