package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// A rogue is a provider that does what a test tells it, and behaves until then.
type rogue struct {
	*httptest.Server
	t   *testing.T
	now func() time.Time
	key *ecdsa.PrivateKey
	kid string

	// What a test changes: the documents before they are sent, how a token is signed, and
	// whole answers by path.
	discovery, claims, userinfo, tokens func(map[string]any)
	sign                                func(claims []byte) string
	answers                             map[string]http.HandlerFunc

	mu    sync.Mutex
	began url.Values // of the authorization request
	asked map[string]int
	basic bool // whether the header had the secret
}

const (
	clientID     = "vestibule"
	clientSecret = "a-secret-of-the-test"
	callback     = "http://127.0.0.1:8080/auth/identity/company/callback"
	theCode      = "the-code-of-the-test"
)

func newRogue(t *testing.T, now func() time.Time) *rogue {
	r := &rogue{t: t, now: now, asked: map[string]int{}, answers: map[string]http.HandlerFunc{}}
	r.rotate("first")
	r.sign = func(claims []byte) string { return r.signed(jose.ES256, r.key, claims) }
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// rotate replaces the key that signs and is published.
func (r *rogue) rotate(kid string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		r.t.Fatal(err)
	}
	r.key, r.kid = key, kid
}

// signed returns a compact JWS of the claims.
func (r *rogue) signed(alg jose.SignatureAlgorithm, key any, claims []byte) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, (&jose.SignerOptions{}).WithHeader("kid", r.kid))
	if err != nil {
		r.t.Error(err)
		return ""
	}
	jws, err := signer.Sign(claims)
	if err != nil {
		r.t.Error(err)
		return ""
	}
	text, err := jws.CompactSerialize()
	if err != nil {
		r.t.Error(err)
	}
	return text
}

// authorize plays the browser and the person: it remembers the request and returns the
// callback's parameters.
func (r *rogue) authorize(address string) map[string]string {
	u, err := url.Parse(address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.began = u.Query()
	return map[string]string{"code": theCode, "state": r.began.Get("state"), "iss": r.URL}
}

// count returns how often a path was asked.
func (r *rogue) count(path string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked[path]
}

func (r *rogue) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked[req.URL.Path]++
	if answer := r.answers[req.URL.Path]; answer != nil {
		answer(w, req)
		return
	}
	switch req.URL.Path {
	case "/.well-known/openid-configuration":
		r.send(w, r.discovery, map[string]any{
			"issuer": r.URL, "authorization_endpoint": r.URL + "/authorize?flow=1", "token_endpoint": r.URL + "/token",
			"jwks_uri": r.URL + "/keys", "userinfo_endpoint": r.URL + "/userinfo",
			"id_token_signing_alg_values_supported":          []string{"RS256", "ES256", "HS256", "none"},
			"authorization_response_iss_parameter_supported": true,
		})
	case "/keys":
		public := jose.JSONWebKey{Key: r.key.Public(), KeyID: r.kid, Use: "sig", Algorithm: "ES256"}
		r.send(w, nil, map[string]any{"keys": []any{public}})
	case "/token":
		r.token(w, req)
	case "/userinfo":
		if req.Header.Get("Authorization") != "Bearer the-access-token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.send(w, r.userinfo, map[string]any{"sub": "ada", "email": "ada@example.com", "email_verified": true, "name": "Ada Lovelace", "groups": []string{"staff"}})
	default:
		http.NotFound(w, req)
	}
}

// token answers a code as OpenID Connect Core 3.1.3 and RFC 7636 want it.
func (r *rogue) token(w http.ResponseWriter, req *http.Request) {
	id, secret, basic := req.BasicAuth()
	if !basic {
		id, secret = req.PostFormValue("client_id"), req.PostFormValue("client_secret")
	}
	r.basic = basic
	sum := sha256.Sum256([]byte(req.PostFormValue("code_verifier")))
	if id != clientID || secret != clientSecret || req.PostFormValue("code") != theCode || req.PostFormValue("redirect_uri") != callback ||
		r.began.Get("code_challenge_method") != "S256" || r.began.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error": "invalid_grant", "error_description": "` + theCode + ` of ` + clientSecret + `"}`))
		return
	}
	claims := map[string]any{
		"iss": r.URL, "sub": "ada", "aud": clientID, "nonce": r.began.Get("nonce"),
		"exp": r.now().Add(5 * time.Minute).Unix(), "iat": r.now().Unix(), "auth_time": r.now().Unix(),
		"email": "ada@example.com", "email_verified": true, "name": "Ada Lovelace", "groups": []string{"staff", "lovelace"},
	}
	if r.claims != nil {
		r.claims(claims)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		r.t.Error(err)
	}
	r.send(w, r.tokens, map[string]any{"access_token": "the-access-token", "token_type": "Bearer", "expires_in": 300, "id_token": r.sign(payload)})
}

func (r *rogue) send(w http.ResponseWriter, change func(map[string]any), document map[string]any) {
	if change != nil {
		change(document)
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(document); err != nil {
		r.t.Error(err)
	}
}

// unsigned returns a token with the algorithm "none".
func unsigned(claims []byte) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none"}`)) + "." + encode(claims) + "."
}

// atHash returns the claim at_hash of the access token that the rogue sends.
func atHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// long returns a text of so many bytes.
func long(n int) string { return strings.Repeat("x", n) }
