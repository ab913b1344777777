package scalar

import (
	"bytes"
	"encoding/base64"
)

// FromBase64 reads base64url with or without padding (OData-JSON 7.1); false for what an answer would have in another way.
func FromBase64(text []byte) ([]byte, bool) {
	raw := bytes.TrimRight(text, "=")
	if n := len(text) - len(raw); n > 0 && (n > 2 || len(text)%4 != 0) || bytes.ContainsAny(raw, "\r\n") { // which the decoder skips
		return nil, false
	}
	out := make([]byte, base64.RawURLEncoding.DecodedLen(len(raw)))
	n, err := base64.RawURLEncoding.Strict().Decode(out, raw)
	return out[:n], err == nil
}
