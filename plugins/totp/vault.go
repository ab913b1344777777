package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const (
	keySize = 32
	// sealedPrefix names the form of a sealed text: AES-256-GCM, a nonce of 12 bytes
	// before the ciphertext, base64url.
	sealedPrefix = "totp1."
)

// errSealed is the error of a text that no key opens for this user and purpose.
var errSealed = errors.New("it was sealed with another key, for another user, or is damaged: put the key of before into old_keys, " +
	"or set the column to null, which lets the person begin anew")

// A vault seals what is kept of people. It is safe for concurrent use.
type vault struct{ keys []cipher.AEAD }

// newVault makes a vault that seals with the first key and opens with all of them.
func newVault(keys []string) (*vault, error) {
	v := &vault{}
	for _, text := range keys {
		key, err := decodeKey(text)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		v.keys = append(v.keys, aead)
	}
	return v, nil
}

// seal seals a value for one user and one purpose.
func (v *vault) seal(user, purpose string, value any) (string, error) {
	plain, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	nonce := make([]byte, v.keys[0].NonceSize())
	_, _ = rand.Read(nonce) // never fails
	sealed := v.keys[0].Seal(nonce, nonce, plain, bound(user, purpose))
	return sealedPrefix + base64.RawURLEncoding.EncodeToString(sealed), nil
}

// open opens what seal made for the same user and purpose.
func (v *vault) open(user, purpose, text string, into any) error {
	encoded, ok := strings.CutPrefix(text, sealedPrefix)
	sealed, err := base64.RawURLEncoding.DecodeString(encoded)
	if !ok || err != nil {
		return errSealed
	}
	for _, key := range v.keys {
		if len(sealed) < key.NonceSize() {
			break
		}
		plain, err := key.Open(nil, sealed[:key.NonceSize()], sealed[key.NonceSize():], bound(user, purpose))
		if err == nil {
			return json.Unmarshal(plain, into)
		}
	}
	return errSealed
}

// bound is what a sealed text is bound to, so that it opens for nobody else.
func bound(user, purpose string) []byte {
	return fmt.Appendf(nil, "vestibule totp %s %s", purpose, user)
}
