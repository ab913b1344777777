package auth

import (
	"net/http"
	"net/url"
	"strings"
)

// LogPath returns the path of a request as a log may have it: encoded, so that it
// is one line, and without the token of a reset link, also where a mail program
// has changed the path.
func LogPath(r *http.Request) string {
	if holdsResetToken(r.URL.Path) {
		return "/password/reset/***"
	}
	return r.URL.EscapedPath()
}

// holdsResetToken reports whether something follows password and reset in a path,
// also when the path is encoded once or twice more, or has parameters, backslashes,
// dot segments or empty ones.
func holdsResetToken(path string) bool {
	if !strings.Contains(path, "%") && !strings.Contains(strings.ToLower(path), "reset") {
		return false
	}
	for range 2 {
		if plain, err := url.PathUnescape(path); err == nil {
			path = plain
		}
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
