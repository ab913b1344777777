// Package passkeytest is an authenticator of WebAuthn for tests, with the browser around it: it answers the options of a host as
// navigator.credentials does. Its fields make it lie. Browsers have authenticators of their own, which ui/uitest drives.
package passkeytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// An Authenticator makes passkeys and signs with them. It is not safe for concurrent use.
type Authenticator struct {
	// Origin is that of the page.
	Origin string
	// CrossOrigin reports whether the page is inside a page of another origin.
	CrossOrigin bool
	// Unverified leaves the person unverified: no PIN and no finger.
	Unverified bool
	// NoHandle leaves the user handle out of answers.
	NoHandle bool
	// BackupEligible and BackedUp are flags of its answers.
	BackupEligible, BackedUp bool
	// Count makes it count its signatures, which go on from Counter.
	Count   bool
	Counter uint32

	keys []key
}

type key struct {
	rpID       string
	handle, id []byte
	private    *ecdsa.PrivateKey
}

// The errors of a browser.
var (
	// ErrExcluded is returned where the authenticator has a passkey that the options exclude.
	ErrExcluded = errors.New("InvalidStateError: the authenticator has a passkey of this site already")
	// ErrNone is returned where the authenticator has no passkey for the options.
	ErrNone = errors.New("NotAllowedError: there is no passkey")
)

// New returns an authenticator without passkeys, for pages of an origin.
func New(origin string) *Authenticator { return &Authenticator{Origin: origin} }

// Copy returns an authenticator with the same passkeys, as a thief of the keys has it.
func (a *Authenticator) Copy() *Authenticator {
	other := *a
	other.keys = slices.Clone(a.keys)
	return &other
}

// options are what both kinds of options have.
type options struct {
	PublicKey struct {
		Challenge string `json:"challenge"`
		RPID      string `json:"rpId"`
		RP        struct {
			ID string `json:"id"`
		} `json:"rp"`
		User struct {
			ID string `json:"id"`
		} `json:"user"`
		Exclude []descriptor `json:"excludeCredentials"`
		Allow   []descriptor `json:"allowCredentials"`
	} `json:"publicKey"`
}

type descriptor struct {
	ID string `json:"id"`
}

// Create makes a passkey for options in JSON and returns the answer of navigator.credentials.create, as toJSON has it.
func (a *Authenticator) Create(text []byte) (json.RawMessage, error) {
	var o options
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("read the options: %w", err)
	}
	if slices.ContainsFunc(a.keys, func(k key) bool { return k.in(o.PublicKey.Exclude) }) {
		return nil, ErrExcluded
	}
	handle, err := base64.RawURLEncoding.DecodeString(o.PublicKey.User.ID)
	if err != nil {
		return nil, fmt.Errorf("read the user handle: %w", err)
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	made := key{rpID: o.PublicKey.RP.ID, handle: handle, id: make([]byte, 16), private: private}
	_, _ = rand.Read(made.id) // never fails
	a.keys = append(a.keys, made)
	return a.attest(made, o)
}

// Again answers options for a new passkey with the newest one that it has.
func (a *Authenticator) Again(text []byte) (json.RawMessage, error) {
	var o options
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("read the options: %w", err)
	}
	if len(a.keys) == 0 {
		return nil, ErrNone
	}
	return a.attest(a.keys[len(a.keys)-1], o)
}

// attest returns the answer for a new passkey, without an attestation.
func (a *Authenticator) attest(made key, o options) (json.RawMessage, error) {
	point, err := made.private.PublicKey.Bytes()
	if err != nil {
		return nil, fmt.Errorf("write the key: %w", err)
	}
	const attested = 0x40
	data := a.data(made.rpID, attested)
	data = append(data, make([]byte, 16)...) // no AAGUID
	data = binary.BigEndian.AppendUint16(data, uint16(len(made.id)))
	data = append(data, made.id...)
	data = slices.Concat(data, []byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20}, point[1:33], []byte{0x22, 0x58, 0x20}, point[33:])
	object := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59"), byte(len(data)>>8), byte(len(data)))
	return a.answer(made, map[string]any{
		"clientDataJSON":    encoded(a.client("webauthn.create", o.PublicKey.Challenge)),
		"attestationObject": encoded(append(object, data...)),
		"transports":        []string{"internal"},
	})
}

// Get signs the challenge of options in JSON and returns the answer of navigator.credentials.get, as toJSON has it. The
// newest passkey that fits answers.
func (a *Authenticator) Get(text []byte) (json.RawMessage, error) {
	var o options
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("read the options: %w", err)
	}
	for _, k := range slices.Backward(a.keys) {
		if k.rpID != o.PublicKey.RPID || len(o.PublicKey.Allow) > 0 && !k.in(o.PublicKey.Allow) {
			continue
		}
		if a.Count {
			a.Counter++
		}
		client, data := a.client("webauthn.get", o.PublicKey.Challenge), a.data(k.rpID, 0)
		hash := sha256.Sum256(client)
		signed := sha256.Sum256(append(slices.Clone(data), hash[:]...))
		signature, err := ecdsa.SignASN1(rand.Reader, k.private, signed[:])
		if err != nil {
			return nil, fmt.Errorf("sign: %w", err)
		}
		response := map[string]any{"clientDataJSON": encoded(client), "authenticatorData": encoded(data), "signature": encoded(signature)}
		if !a.NoHandle {
			response["userHandle"] = encoded(k.handle)
		}
		return a.answer(k, response)
	}
	return nil, ErrNone
}

// in reports whether a list names the passkey.
func (k key) in(list []descriptor) bool {
	return slices.ContainsFunc(list, func(d descriptor) bool { return d.ID == encoded(k.id) })
}

// client returns the client data (WebAuthn 5.8.1).
func (a *Authenticator) client(kind, challenge string) []byte {
	data, _ := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.Origin, "crossOrigin": a.CrossOrigin}) // cannot fail
	return data
}

// data returns the head of the authenticator data (WebAuthn 6.1).
func (a *Authenticator) data(rpID string, flags byte) []byte {
	flags |= 0x01 // somebody is there
	if !a.Unverified {
		flags |= 0x04
	}
	if a.BackupEligible {
		flags |= 0x08
	}
	if a.BackedUp {
		flags |= 0x10
	}
	hash := sha256.Sum256([]byte(rpID))
	return binary.BigEndian.AppendUint32(append(hash[:], flags), a.Counter)
}

func (a *Authenticator) answer(k key, response map[string]any) (json.RawMessage, error) {
	text, err := json.Marshal(map[string]any{
		"id": encoded(k.id), "rawId": encoded(k.id), "type": "public-key", "authenticatorAttachment": "platform",
		"clientExtensionResults": map[string]any{}, "response": response,
	})
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return text, nil
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
