package assertion

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/vestibule-dev/vestibule/v2/host/keyring"
)

// A key is replaced after keyLifetime. It is published for keyNotice before it signs,
// and for keyRest after its successor has begun to: whoever keeps the published keys
// for less than a day always has the one that is needed.
const (
	keyLifetime = 30 * 24 * time.Hour
	keyNotice   = 24 * time.Hour
	keyRest     = 24 * time.Hour
)

// A Ring signs assertions with the keys of all hosts. It is safe for concurrent use.
type Ring struct {
	keys *keyring.Ring[pair]
	now  func() time.Time
}

// NewRing returns a ring. now is the clock; nil means time.Now.
func NewRing(keys keyring.Keys, now func() time.Time) *Ring {
	if now == nil {
		now = time.Now
	}
	return &Ring{keyring.New(keys, keyring.Rules[pair]{
		Every: keyLifetime, Notice: keyNotice, Settled: keyNotice + keyRest, Make: newSecret, Open: openKey,
	}, now), now}
}

// Refresh reads the keys, and adds one every 30 days. Call it before the first
// request, and then every few minutes. Where it fails the last ones stay in use.
func (r *Ring) Refresh(ctx context.Context) error {
	if err := r.keys.Refresh(ctx); err != nil {
		return fmt.Errorf("refresh the keys of assertions: %w", err)
	}
	return nil
}

// Sign returns a payload, the JSON object of the claims, as a signed token in the compact form (RFC 7515 7.1).
func (r *Ring) Sign(payload []byte) (string, error) {
	key, err := r.keys.Signing()
	if err != nil {
		return "", err
	}
	token, err := key.sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign an assertion: %w", err)
	}
	return token, nil
}

// Published returns the set of public keys (RFC 7517 5): the one that signs, those
// that will, and the one that did until a day ago.
func (r *Ring) Published() ([]byte, error) {
	all := r.keys.All()
	if len(all) == 0 {
		return nil, keyring.ErrNoKeys
	}
	var set jose.JSONWebKeySet
	for _, k := range all {
		set.Keys = append(set.Keys, k.Key.public)
		if r.now().Sub(k.Created) >= keyNotice+keyRest {
			break // those before it have rested
		}
	}
	return json.Marshal(set)
}
