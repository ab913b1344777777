package assertion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// A key is replaced after keyLifetime. It is published for keyNotice before it signs,
// and for keyRest after its successor has begun to: whoever keeps the published keys
// for less than a day always has the one that is needed.
const (
	keyLifetime = 30 * 24 * time.Hour
	keyNotice   = 24 * time.Hour
	keyRest     = 24 * time.Hour
)

// ErrNoKeys is returned before the first [Ring.Refresh].
var ErrNoKeys = errors.New("the keys of assertions were not read yet")

// A Ring signs assertions with the keys of all hosts. It is safe for concurrent use.
type Ring struct {
	keys  Keys
	now   func() time.Time
	pairs atomic.Pointer[[]pair] // the newest first
}

// NewRing returns a ring. now is the clock; nil means time.Now.
func NewRing(keys Keys, now func() time.Time) *Ring {
	if now == nil {
		now = time.Now
	}
	return &Ring{keys: keys, now: now}
}

// Refresh reads the keys, and adds one every 30 days. Call it before the first
// request, and then every few minutes. Where it fails the last ones stay in use.
func (r *Ring) Refresh(ctx context.Context) error {
	fresh, err := newKey(r.now())
	if err != nil {
		return err
	}
	keys, err := r.keys.CurrentKeys(ctx, fresh, keyLifetime, keyNotice+keyRest)
	if err != nil {
		return fmt.Errorf("refresh the keys of assertions: %w", err)
	}
	pairs := make([]pair, len(keys))
	for i, key := range keys {
		if pairs[i], err = key.pair(); err != nil {
			return err
		}
	}
	r.pairs.Store(&pairs)
	return nil
}

// signing returns the place of the pair that signs: the newest of which everybody
// has had notice. Where none is that old, as on the first start, it is the oldest:
// nobody can have kept an earlier set of keys then.
func signing(pairs []pair, now time.Time) int {
	for i, p := range pairs {
		if now.Sub(p.created) >= keyNotice {
			return i
		}
	}
	return len(pairs) - 1
}

// Sign returns the claims as a signed token in the compact form (RFC 7515 7.1).
func (r *Ring) Sign(claims map[string]any) (string, error) {
	pairs := r.pairs.Load()
	if pairs == nil || len(*pairs) == 0 {
		return "", ErrNoKeys
	}
	signer := (*pairs)[signing(*pairs, r.now())].signer
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("encode an assertion: %w", err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign an assertion: %w", err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		return "", fmt.Errorf("write an assertion: %w", err)
	}
	return token, nil
}

// Published returns the set of public keys (RFC 7517 5): the one that signs, those
// that will, and the one that did until a day ago.
func (r *Ring) Published() ([]byte, error) {
	pairs := r.pairs.Load()
	if pairs == nil || len(*pairs) == 0 {
		return nil, ErrNoKeys
	}
	var set jose.JSONWebKeySet
	for _, p := range *pairs {
		set.Keys = append(set.Keys, p.public)
		if r.now().Sub(p.created) >= keyNotice+keyRest {
			break // those before it have rested
		}
	}
	return json.Marshal(set)
}
