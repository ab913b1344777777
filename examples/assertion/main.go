// Program assertion is an application behind a Vestibule route with assertion = true.
// It believes the signed assertion alone: whoever reaches it past the host gets 401.
//
//	go run ./examples/assertion -issuer http://127.0.0.1:8080 -audience app
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// A Verifier checks assertions. It is safe for concurrent use.
type Verifier struct {
	Issuer   string // server.public_url of the host
	Audience string // the route's name, or "verify" behind forward auth
	KeysURL  string // where the host is reached, with /auth/jwks.json

	mu   sync.Mutex
	keys jose.JSONWebKeySet
	read time.Time
}

// Claims are what an assertion says of a person. Add the columns that headers names.
type Claims struct {
	jwt.Claims
	Email string `json:"email"`
	Name  string `json:"name"`
	Step  string `json:"step"` // "settled" behind guard = "settled"
}

// Verify returns who makes the request.
func (v *Verifier) Verify(r *http.Request) (Claims, error) {
	var claims Claims
	token, err := jwt.ParseSigned(r.Header.Get("X-Vestibule-Assertion"), []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return claims, err
	}
	keys, err := v.published(r.Context(), token.Headers[0].KeyID)
	if err != nil {
		return claims, err
	}
	if err := token.Claims(keys, &claims); err != nil {
		return claims, err
	}
	expected := jwt.Expected{Issuer: v.Issuer, AnyAudience: jwt.Audience{v.Audience}, Time: time.Now()}
	return claims, claims.ValidateWithLeeway(expected, 10*time.Second)
}

// published returns the host's keys, read again after an hour or for a key that is
// not among them, but not more often than every ten seconds.
func (v *Verifier) published(ctx context.Context, id string) (jose.JSONWebKeySet, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	age := time.Since(v.read)
	if age < 10*time.Second || age < time.Hour && len(v.keys.Key(id)) > 0 {
		return v.keys, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.KeysURL, nil)
	if err != nil {
		return v.keys, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return v.keys, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return v.keys, errors.New("the host's keys: " + resp.Status)
	}
	var keys jose.JSONWebKeySet
	if err := json.NewDecoder(resp.Body).Decode(&keys); err != nil {
		return v.keys, err
	}
	v.keys, v.read = keys, time.Now()
	return v.keys, nil
}

func (v *Verifier) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	who, err := v.Verify(r)
	if err != nil {
		http.Error(w, "not by way of the host", http.StatusUnauthorized)
		return
	}
	_, _ = fmt.Fprintf(w, "%s is %s\n", who.Subject, who.Name)
}

func main() {
	address := flag.String("listen", "127.0.0.1:3000", "address")
	issuer := flag.String("issuer", "http://127.0.0.1:8080", "the host's public_url")
	audience := flag.String("audience", "app", "name of the route")
	flag.Parse()
	app := &Verifier{Issuer: *issuer, Audience: *audience, KeysURL: *issuer + "/auth/jwks.json"}
	server := http.Server{Addr: *address, Handler: app, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}
