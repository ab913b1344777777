package assertion

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/vestibule-dev/vestibule/v2/host/keyring"
)

// newSecret returns the private number of a random key on P-256, 32 bytes (SEC 1 2.3.7).
func newSecret() ([]byte, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return private.Bytes()
}

// A pair is a key that is ready for use.
type pair struct {
	signer jose.Signer
	public jose.JSONWebKey
}

// openKey parses the stored key. Its id is the thumbprint of the public key (RFC 7638),
// so that every host calls it the same.
func openKey(k keyring.Key) (pair, error) {
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
	return pair{signer, public}, nil
}
