package web

import (
	"context"
	"crypto/rand"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/assertion"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/keyring"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
)

// AssertionHeader is the request header that an assertion travels in.
const AssertionHeader = "X-Vestibule-Assertion"

// VerifyAudience is the audience of the assertions of /auth/verify; others are for the
// route of that name.
const VerifyAudience = reserved.VerifyAudience

// An assertion holds for assertionLifetime. It holds from a little before it was
// made, for applications whose clock is late.
const (
	assertionLifetime = time.Minute
	assertionSkew     = 5 * time.Second
)

// Assertions tell applications who makes a request in a way that they can verify
// without trusting the network. It is safe for concurrent use.
type Assertions struct {
	site *Site
	ring *assertion.Ring
	now  func() time.Time
}

// NewAssertions returns assertions that are signed with keys. now is the clock. Call
// Refresh before the first request.
func NewAssertions(site *Site, keys keyring.Keys, now func() time.Time) *Assertions {
	return &Assertions{site, assertion.NewRing(keys, now), now}
}

// Refresh reads the keys again, which is to be done every few minutes.
func (a *Assertions) Refresh(ctx context.Context) error { return a.ring.Refresh(ctx) }

// Publish answers with the public keys. An hour in a cache is less than a key is
// published before it signs.
func (a *Assertions) Publish(fail Fail) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys, err := a.ring.Published()
		if err != nil {
			fail(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/jwk-set+json") // RFC 7517 8.5.2
		w.Header().Set("Cache-Control", "public, max-age=3600")
		_, _ = w.Write(keys)
	})
}

// about returns the assertion about who makes the request for one audience, and ""
// for a guest. columns are those of users that are told, beside id, name and email.
func (a *Assertions) about(r *http.Request, audience string, who auth.Principal, user auth.User, columns []string) (string, error) {
	if !who.SignedIn() {
		return "", nil
	}
	now := a.now()
	claims := map[string]any{}
	for _, column := range columns {
		if value, ok := claimValue(user, column); ok && !reserved.Credential(column) && !reserved.Claim(column) {
			claims[column] = value
		}
	}
	claims["iss"], claims["aud"], claims["sub"] = a.site.Base(r), audience, user.ID
	claims["email"], claims["name"], claims["step"] = user.Email, user.Name, string(who.Step())
	claims["iat"], claims["nbf"], claims["exp"] = now.Unix(), now.Add(-assertionSkew).Unix(), now.Add(assertionLifetime).Unix()
	claims["jti"] = rand.Text()
	if id := who.Session.ID(); id != "" {
		claims["sid"] = id
	}
	if !who.Session.Proved.IsZero() {
		claims["auth_time"] = who.Session.Proved.Unix()
	}
	switch {
	case who.Way == auth.WayToken:
		claims["amr"] = []string{string(auth.WayToken)}
	case who.Session.Proof != "":
		claims["amr"] = who.Session.Proof.Methods()
	}
	return a.ring.Sign(claims)
}

// exactInteger is the greatest integer that every JSON parser reads exactly (RFC 8259
// 6, RFC 7493 2.2).
const exactInteger = 1<<53 - 1

// claimValue returns a column of the user as a claim; false when it is null or not
// there. What JSON has no exact number for is a text.
func claimValue(user auth.User, column string) (any, bool) {
	switch v := user.Columns[column].(type) {
	case bool:
		return v, true
	case int64:
		if v >= -exactInteger && v <= exactInteger {
			return v, true
		}
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v, true
		}
	}
	return columnText(user, column)
}

// claimColumns returns the columns that headers name, each once.
func claimColumns(headers map[string]string) []string {
	return slices.Compact(slices.Sorted(maps.Values(headers)))
}
