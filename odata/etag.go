package odata

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"sync/atomic"
)

// etagOf makes an entity tag of what an answer consists of or depends on. It is
// weak, because compression may change the bytes. The hash is a cryptographic one:
// who may write one value of an answer must not be able to hide from caches what
// others change in it.
func etagOf(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = h.Write(p) // a hash takes everything
		_, _ = h.Write([]byte{0})
	}
	return tag(h.Sum(nil))
}

func tag(sum []byte) string { return `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"` }

// tagger makes the entity tags of answers. With a key that clients do not know it takes
// less than half the time of SHA-256, which is a tenth of a page's, and finding two
// answers with one tag is as hard: the sum that GCM makes of data that it does not
// encrypt is a universal hash of it (NIST SP 800-38D, 6.4, GHASH) under a mask, which
// is here always the same. Encrypting that sum, which nobody sees, makes a
// pseudorandom function of a universal hash.
type tagger struct {
	key  func() []byte // nil where there is none
	last atomic.Pointer[keyed]
}

// keyed is what a key is made into.
type keyed struct {
	key  []byte
	hash cipher.AEAD
	mask cipher.Block
}

// keyBytes is how long a key is: the halves are those of two AES-128.
const keyBytes = 32

func (t *tagger) of(block []byte) string {
	var key []byte
	if t.key != nil {
		key = t.key()
	}
	if len(key) != keyBytes {
		return etagOf(block)
	}
	k := t.last.Load()
	if k == nil || !bytes.Equal(k.key, key) {
		if k = newKeyed(key); k == nil {
			return etagOf(block)
		}
		t.last.Store(k)
	}
	var nonce [12]byte
	var sum [aes.BlockSize]byte
	k.mask.Encrypt(sum[:], k.hash.Seal(sum[:0], nonce[:], nil, block))
	return tag(sum[:])
}

func newKeyed(key []byte) *keyed {
	first, err := aes.NewCipher(key[:keyBytes/2])
	if err != nil {
		return nil
	}
	hash, err := cipher.NewGCM(first)
	if err != nil {
		return nil
	}
	mask, err := aes.NewCipher(key[keyBytes/2:])
	if err != nil {
		return nil
	}
	return &keyed{bytes.Clone(key), hash, mask}
}
