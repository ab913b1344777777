package odata

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// etagOf makes an entity tag of what an answer consists of or depends on. It is
// weak, because compression may change the bytes. The hash is a fast one: SHA-256
// took a tenth of a page's time, and whoever makes two answers collide hides a
// change of their own from caches, and nothing else.
func etagOf(parts ...[]byte) string {
	h := xxhash.New()
	for _, p := range parts {
		_, _ = h.Write(p) // a hash takes everything
		_, _ = h.Write([]byte{0})
	}
	return `W/"` + base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, h.Sum64())) + `"`
}
