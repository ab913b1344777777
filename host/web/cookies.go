package web

import (
	"net/http"
	"strings"
)

// ownCookie reports whether a cookie's name is one of Vestibule's, with or
// without the prefix that browsers demand on https. Some browsers compare
// prefixes without regard to case.
func ownCookie(name string) bool {
	name = strings.ToLower(name)
	name = strings.TrimPrefix(strings.TrimPrefix(name, "__host-"), "__secure-")
	return strings.HasPrefix(name, "vestibule_")
}

// stripCookies takes our pairs out of the Cookie lines: an application has no use
// for them, and its log might keep them. The other pairs stay byte for byte.
func stripCookies(h http.Header) {
	lines := h["Cookie"]
	if len(lines) == 0 {
		return
	}
	kept := make([]string, 0, len(lines))
	for _, line := range lines {
		if line = withoutOwn(line); line != "" {
			kept = append(kept, line)
		}
	}
	if h["Cookie"] = kept; len(kept) == 0 {
		h.Del("Cookie")
	}
}

func withoutOwn(line string) string {
	pairs := strings.Split(line, ";")
	kept := pairs[:0:0]
	for _, pair := range pairs {
		name, _, _ := strings.Cut(pair, "=")
		if !ownCookie(strings.TrimSpace(name)) {
			kept = append(kept, pair)
		}
	}
	if len(kept) == len(pairs) {
		return line
	}
	return strings.TrimSpace(strings.Join(kept, ";"))
}

// guardCookies drops cookies that an application tries to set under a name of
// Vestibule's. A cookie without a name is dropped as well: browsers send its
// value alone, which may be "vestibule_session=…".
func guardCookies(h http.Header) {
	lines := h["Set-Cookie"]
	kept := lines[:0:0]
	for _, line := range lines {
		pair, _, _ := strings.Cut(line, ";")
		name, _, _ := strings.Cut(strings.TrimLeft(pair, "= \t"), "=")
		if !ownCookie(strings.TrimSpace(name)) {
			kept = append(kept, line)
		}
	}
	if h["Set-Cookie"] = kept; len(kept) == 0 {
		h.Del("Set-Cookie")
	}
}
