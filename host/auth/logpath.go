package auth

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// LogPath returns the path of a request as a log may have it: encoded, so that it
// is one line, without machine tokens, and without the token of a reset link, also where
// a mail program has changed the path.
func LogPath(r *http.Request) string {
	if holdsResetToken(r.URL.Path) {
		return "/password/reset/***"
	}
	return withoutEncodedTokens(r.URL.EscapedPath())
}

// machineToken matches a machine token, and the beginning of one that was cut short.
var machineToken = regexp.MustCompile(tokenPrefix + "[0-9A-Za-z]{20,}")

// WithoutTokens returns a text without the machine tokens in it.
func WithoutTokens(text string) string {
	if !strings.Contains(text, tokenPrefix) {
		return text
	}
	return machineToken.ReplaceAllLiteralString(text, tokenPrefix+"***")
}

// withoutEncodedTokens returns an encoded path without machine tokens. A path that hides one
// by being encoded up to three times is returned decoded as far as that, and encoded once.
func withoutEncodedTokens(path string) string {
	if !strings.Contains(path, "%") {
		return WithoutTokens(path)
	}
	path = WithoutTokens(path)
	plain := path
	for range 3 {
		next := decoded(plain)
		if next == plain {
			break
		}
		plain = next
		if clean := WithoutTokens(plain); clean != plain {
			return strings.ReplaceAll((&url.URL{Path: clean}).EscapedPath(), tokenPrefix+"%2A%2A%2A", tokenPrefix+"***")
		}
	}
	return path
}

// holdsResetToken reports whether something follows password and reset in a path,
// also when the path is encoded once or twice more, or has parameters, backslashes,
// dot segments or empty ones.
func holdsResetToken(path string) bool {
	if !strings.Contains(path, "%") && !strings.Contains(strings.ToLower(path), "reset") {
		return false
	}
	for range 2 {
		path = decoded(path)
	}
	var names []string
	for segment := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		name, _, _ := strings.Cut(segment, ";")
		switch name {
		case "", ".":
			continue
		case "..":
			names = names[:max(0, len(names)-1)]
			continue
		}
		if n := len(names); n >= 2 && names[n-2] == "password" && names[n-1] == "reset" {
			return true
		}
		names = append(names, strings.ToLower(name))
	}
	return false
}

// escape matches an encoded byte.
var escape = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// decoded returns a text decoded once. A percent sign that encodes nothing stays, and keeps no other from being decoded.
func decoded(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return escape.ReplaceAllStringFunc(text, func(e string) string {
		plain, _ := url.PathUnescape(e)
		return plain
	})
}
