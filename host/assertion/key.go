package assertion

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// A Key is a private key as it is stored.
type Key struct {
	Created time.Time
	// Secret is the private number of a key on P-256, 32 bytes (SEC 1 2.3.7).
	Secret []byte
}

// Keys keeps the keys that all hosts share. It is safe for concurrent use.
type Keys interface {
	// CurrentKeys returns the keys, the newest first. Where the newest is at least as
	// old as every when fresh was made, or there is none, fresh becomes the newest; of
	// several hosts that try one does. Keys that are older than one which is at least
	// as old as settled are deleted.
	CurrentKeys(ctx context.Context, fresh Key, every, settled time.Duration) ([]Key, error)
}

// newKey returns a random key.
func newKey(now time.Time) (Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Key{}, fmt.Errorf("make a key of assertions: %w", err)
	}
	secret, err := private.Bytes()
	if err != nil {
		return Key{}, fmt.Errorf("make a key of assertions: %w", err)
	}
	return Key{now, secret}, nil
}

// A pair is a key that is ready for use.
type pair struct {
	created time.Time
	signer  jose.Signer
	public  jose.JSONWebKey
}

// pair parses the stored key. Its id is the thumbprint of the public key (RFC 7638),
// so that every host calls it the same.
func (k Key) pair() (pair, error) {
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), k.Secret)
	if err != nil {
		// Without the cause, which is about the secret.
		return pair{}, fmt.Errorf("the key of assertions of %s is damaged: delete its row from vestibule_assertion_keys", k.Created.UTC().Format(time.RFC3339))
	}
	public := jose.JSONWebKey{Key: private.Public(), Algorithm: string(jose.ES256), Use: "sig"}
	thumbprint, err := public.Thumbprint(crypto.SHA256)
	if err != nil {
		return pair{}, fmt.Errorf("name a key of assertions: %w", err)
	}
	public.KeyID = base64.RawURLEncoding.EncodeToString(thumbprint)
	signer, err := jose.NewSigner(jose.SigningKey{
		Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: private, KeyID: public.KeyID},
	}, new(jose.SignerOptions).WithType("JWT"))
	if err != nil {
		return pair{}, fmt.Errorf("use a key of assertions: %w", err)
	}
	return pair{k.Created, signer, public}, nil
}
