package assertion

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/vestibule-dev/vestibule/v2/host/keyring"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
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
	private *ecdsa.PrivateKey
	public  jose.JSONWebKey
	// header is the encoded header of what the key signs.
	header string
}

// sign returns a payload as a signed token in the compact form (RFC 7515 7.1), with the signature of RFC 7518 3.4. The nonce of the
// signature is that of RFC 6979, which takes a quarter less time than a hedged one. Hedging is against faults of the machine
// in one of two signatures of the same text. Each payload is signed once: it has an id of its own.
func (p pair) sign(payload []byte) (string, error) {
	encoding := base64.RawURLEncoding
	token := make([]byte, 0, len(p.header)+encoding.EncodedLen(len(payload))+encoding.EncodedLen(signatureSize)+2)
	token = encoding.AppendEncode(append(append(token, p.header...), '.'), payload)
	digest := sha256.Sum256(token)
	der, err := p.private.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		return "", err
	}
	signature, err := fixedSize(der)
	if err != nil {
		return "", err
	}
	return string(encoding.AppendEncode(append(token, '.'), signature[:])), nil
}

// fixedSize returns the two numbers of a signature in ASN.1 one behind the other, as tokens have them.
func fixedSize(der []byte) (fixed [signatureSize]byte, err error) {
	var r, s []byte
	numbers := cryptobyte.String(der)
	if !numbers.ReadASN1(&numbers, asn1.SEQUENCE) || !numbers.ReadASN1Integer(&r) || !numbers.ReadASN1Integer(&s) || max(len(r), len(s)) > signatureSize/2 {
		return fixed, errors.New("the signature is no pair of numbers on P-256")
	}
	copy(fixed[signatureSize/2-len(r):], r)
	copy(fixed[signatureSize-len(s):], s)
	return fixed, nil
}

// signatureSize is that of two numbers on P-256, in bytes.
const signatureSize = 64

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
	header, err := json.Marshal(map[string]string{"alg": string(jose.ES256), "kid": public.KeyID, "typ": "JWT"})
	if err != nil {
		return pair{}, fmt.Errorf("use a key of assertions: %w", err)
	}
	return pair{private, public, base64.RawURLEncoding.EncodeToString(header)}, nil
}
