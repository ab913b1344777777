package assertion_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/vestibule-dev/vestibule/v2/host/assertion"
	"github.com/vestibule-dev/vestibule/v2/host/keyring"
)

// shelf keeps keys as the database does, whose own rules storetest holds.
type shelf struct {
	keys []keyring.Key
	err  error
}

func (s *shelf) CurrentKeys(_ context.Context, fresh keyring.Key, every, settled time.Duration) ([]keyring.Key, error) {
	if len(s.keys) == 0 || fresh.Created.Sub(s.keys[0].Created) >= every {
		s.keys = slices.Insert(s.keys, 0, fresh)
	}
	for i, key := range s.keys {
		if fresh.Created.Sub(key.Created) >= settled {
			s.keys = s.keys[:i+1]
			break
		}
	}
	return s.keys, s.err
}

// hosts are two that share keys and a clock.
type hosts struct {
	t    *testing.T
	now  time.Time
	keys shelf
	a, b *assertion.Ring
}

func newHosts(t *testing.T) *hosts {
	h := &hosts{t: t, now: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return h.now }
	h.a, h.b = assertion.NewRing(&h.keys, clock), assertion.NewRing(&h.keys, clock)
	h.refresh(h.a, h.b)
	return h
}

func (h *hosts) refresh(rings ...*assertion.Ring) {
	h.t.Helper()
	for _, r := range rings {
		if err := r.Refresh(h.t.Context()); err != nil {
			h.t.Fatal(err)
		}
	}
}

// signs returns the id of the key that a host signs with now.
func (h *hosts) signs(r *assertion.Ring) string {
	h.t.Helper()
	token, err := r.Sign([]byte(`{"sub":"7"}`))
	if err != nil {
		h.t.Fatal(err)
	}
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		h.t.Fatal(err)
	}
	if typ := parsed.Headers[0].ExtraHeaders[jose.HeaderType]; typ != "JWT" {
		h.t.Errorf("typ %v", typ)
	}
	// With what the other host publishes.
	var claims map[string]any
	if err := parsed.Claims(h.published(h.b), &claims); err != nil || claims["sub"] != "7" {
		h.t.Errorf("claims %v, %v", claims, err)
	}
	return parsed.Headers[0].KeyID
}

func (h *hosts) published(r *assertion.Ring) jose.JSONWebKeySet {
	h.t.Helper()
	data, err := r.Published()
	if err != nil {
		h.t.Fatal(err)
	}
	if strings.Contains(string(data), `"d"`) {
		h.t.Fatal("a private key is published")
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(data, &set); err != nil {
		h.t.Fatal(err)
	}
	for _, key := range set.Keys {
		if !key.Valid() || !key.IsPublic() || key.Algorithm != "ES256" || key.Use != "sig" || key.KeyID == "" {
			h.t.Errorf("published %+v", key)
		}
	}
	return set
}

func (h *hosts) ids(r *assertion.Ring) (ids []string) {
	for _, key := range h.published(r).Keys {
		ids = append(ids, key.KeyID)
	}
	return ids
}

// The first key signs at once, since nobody can have kept a set without it. Every
// other one is published for a day before it signs and for a day after it did.
func TestKeysArePublishedBeforeAndAfter(t *testing.T) {
	h := newHosts(t)
	start, first := h.now, h.signs(h.a)
	if h.signs(h.b) != first || len(h.ids(h.a)) != 1 {
		t.Fatalf("the first keys of hosts differ: %v", h.ids(h.a))
	}
	second := ""
	const month, day = 30 * 24 * time.Hour, 24 * time.Hour
	for _, step := range []struct {
		after     time.Duration
		published int
		second    bool // signs
	}{
		{month - time.Second, 1, false},
		{month, 2, false},
		{month + day - time.Second, 2, false},
		{month + day, 2, true},
		{month + 2*day - time.Second, 2, true},
		{month + 2*day, 1, true},
	} {
		h.now = start.Add(step.after)
		h.refresh(h.a)
		if step.published == 1 || second != "" {
			h.refresh(h.b)
		}
		ids := h.ids(h.a)
		if len(ids) != step.published {
			t.Fatalf("after %s: %d keys are published, want %d", step.after, len(ids), step.published)
		}
		if len(ids) == 2 {
			second = ids[0]
		}
		if got := h.signs(h.a); got != map[bool]string{false: first, true: second}[step.second] {
			t.Errorf("after %s: %s signs; the first is %s, the second %s", step.after, got, first, second)
		}
	}
	if len(h.keys.keys) != 1 {
		t.Errorf("%d private keys are kept, want 1", len(h.keys.keys))
	}
}

// A host that nobody refreshes goes by the clock all the same: it stops publishing
// a key that has rested, though it still knows it.
func TestRestedKeysAreNotPublished(t *testing.T) {
	h := newHosts(t)
	h.now = h.now.Add(30 * 24 * time.Hour)
	h.refresh(h.a)
	h.now = h.now.Add(48 * time.Hour)
	if ids := h.ids(h.a); len(ids) != 1 || ids[0] != h.keyID(0) {
		t.Errorf("published %v", ids)
	}
}

func (h *hosts) keyID(i int) string {
	one := &hosts{t: h.t, now: h.now, keys: shelf{keys: h.keys.keys[i : i+1]}}
	one.a = assertion.NewRing(&one.keys, func() time.Time { return h.now })
	one.refresh(one.a)
	return one.ids(one.a)[0]
}

// What fails leaves the last keys in use, and no secret in the error.
func TestRefreshFails(t *testing.T) {
	empty := assertion.NewRing(&shelf{}, nil)
	if _, err := empty.Sign(nil); !errors.Is(err, keyring.ErrNoKeys) {
		t.Errorf("signed without a key: %v", err)
	}
	if _, err := empty.Published(); !errors.Is(err, keyring.ErrNoKeys) {
		t.Errorf("published without a key: %v", err)
	}
	h := newHosts(t)
	first := h.signs(h.a)
	h.keys.err = errors.New("the database is away")
	if err := h.a.Refresh(t.Context()); err == nil {
		t.Error("no error")
	}
	h.keys = shelf{keys: []keyring.Key{{Created: h.now, Secret: []byte("not a number of P-256 at all, no")[:31]}}}
	err := h.a.Refresh(t.Context())
	if err == nil || !strings.Contains(err.Error(), "delete its row from vestibule_assertion_keys") || strings.Contains(err.Error(), "not a number") {
		t.Errorf("a damaged key: %v", err)
	}
	if h.signs(h.a) != first {
		t.Error("another key signs")
	}
}

// A number of a signature may have fewer bytes than others. A token has them all in 32 bytes each (RFC 7518 3.4).
func TestShortNumbersOfSignatures(t *testing.T) {
	h := newHosts(t)
	keys, short := h.published(h.a), 0
	for i := 0; i < 10_000 && short < 4; i++ {
		token, err := h.a.Sign([]byte(`{"jti":"` + strconv.Itoa(i) + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		signature, err := base64.RawURLEncoding.DecodeString(token[strings.LastIndexByte(token, '.')+1:])
		if err != nil || len(signature) != 64 {
			t.Fatalf("%s: the signature has %d bytes, %v", token, len(signature), err)
		}
		if signature[0] != 0 && signature[32] != 0 {
			continue
		}
		short++
		parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
		if err != nil {
			t.Fatal(err)
		}
		var claims jwt.Claims
		if err := parsed.Claims(keys, &claims); err != nil || claims.ID != strconv.Itoa(i) {
			t.Errorf("%s: %+v, %v", token, claims, err)
		}
	}
	if short == 0 {
		t.Error("no number is short")
	}
}
