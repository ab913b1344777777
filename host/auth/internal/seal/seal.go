package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"fmt"
)

// A Box encrypts with AES-256-GCM. It may be used by several goroutines.
type Box struct{ aead cipher.AEAD }

// New returns the box of a key of 32 bytes.
func New(key []byte) (Box, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return Box{}, fmt.Errorf("use a key of cookies: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return Box{}, fmt.Errorf("use a key of cookies: %w", err)
	}
	return Box{aead}, nil
}

// Seal returns the encrypted bytes as text for a cookie. They open only with the same bound bytes, which are not in the text.
func (b Box) Seal(plain, bound []byte) string {
	nonce := make([]byte, b.aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return base64.RawURLEncoding.EncodeToString(b.aead.Seal(nonce, nonce, plain, bound))
}

// Open returns the bytes of a sealed text. ok is false for a text that was not sealed with this key and the bound bytes.
func (b Box) Open(text string, bound []byte) (plain []byte, ok bool) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(sealed) < b.aead.NonceSize() {
		return nil, false
	}
	plain, err = b.aead.Open(nil, sealed[:b.aead.NonceSize()], sealed[b.aead.NonceSize():], bound)
	return plain, err == nil
}
