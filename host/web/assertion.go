package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
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
	c := claims{
		Issuer: a.site.Base(r), Audience: audience, Subject: user.ID, Email: user.Email, Name: user.Name, Step: string(who.Step()),
		Issued: now.Unix(), NotBefore: now.Add(-assertionSkew).Unix(), Expires: now.Add(assertionLifetime).Unix(),
		ID: rand.Text(), Session: who.Session.ID(),
	}
	if !who.Session.Proved.IsZero() {
		proved := who.Session.Proved.Unix()
		c.Proved = &proved
	}
	switch {
	case who.Way == auth.WayToken:
		c.Methods = []string{string(auth.WayToken)}
	case who.Session.Proof != "":
		c.Methods = who.Session.Proof.Methods()
	}
	for _, column := range columns {
		if value, ok := claimValue(user, column); ok && !reserved.Credential(column) && !reserved.Claim(column) {
			if c.columns == nil {
				c.columns = map[string]any{}
			}
			c.columns[column] = value
		}
	}
	payload, err := c.encode()
	if err != nil {
		return "", fmt.Errorf("encode an assertion: %w", err)
	}
	return a.ring.Sign(payload)
}

// claims are what an assertion says (RFC 7519 4.1, RFC 8176 and OpenID Connect Core 2). No column has the name of one of them.
type claims struct {
	Issuer    string   `json:"iss"`
	Audience  string   `json:"aud"`
	Subject   string   `json:"sub"`
	Email     string   `json:"email"`
	Name      string   `json:"name"`
	Step      string   `json:"step"`
	Issued    int64    `json:"iat"`
	NotBefore int64    `json:"nbf"`
	Expires   int64    `json:"exp"`
	ID        string   `json:"jti"`
	Session   string   `json:"sid,omitempty"`
	Proved    *int64   `json:"auth_time,omitempty"`
	Methods   []string `json:"amr,omitempty"`
	columns   map[string]any
}

// encode returns one JSON object of the claims and the columns.
func (c *claims) encode() ([]byte, error) {
	fixed, err := json.Marshal(c)
	if err != nil || len(c.columns) == 0 {
		return fixed, err
	}
	columns, err := json.Marshal(c.columns)
	if err != nil {
		return nil, err
	}
	return append(append(fixed[:len(fixed)-1], ','), columns[1:]...), nil
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
