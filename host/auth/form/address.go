package form

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsAddress reports whether s is a plain mail address: one local part and one
// domain (RFC 5321 4.1.2), without display name, comments or quotes, which the
// parsers of different programs read differently.
func IsAddress(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	if !ok || local == "" || len(local) > 64 || domain == "" || len(domain) > 253 {
		return false
	}
	if len(s) > 320 || strings.ContainsFunc(s, unicode.IsControl) || !utf8.ValidString(s) || strings.ContainsAny(s, " \"(),:;<>[]\\") || strings.Contains(domain, "@") {
		return false
	}
	for _, part := range []string{local, domain} {
		if part[0] == '.' || part[len(part)-1] == '.' || strings.Contains(part, "..") {
			return false
		}
	}
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsAny(label, "!#$%&'*+/=?^_`{|}~") {
			return false
		}
	}
	return true
}
