package odata

import (
	"crypto/sha256"
	"encoding/base64"
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
	return `W/"` + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12]) + `"`
}
