package target

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTarget is the longest redirect target, 8 KiB.
const maxTarget = 8 << 10

// LocalPath returns target if it is a rooted path of the same origin, and ""
// otherwise: no scheme, host, "//", backslash or control character, neither
// encoded nor after decoding, since some browsers and proxies decode once more
// than others.
func LocalPath(target string) string {
	path := target
	for range 3 {
		if !plainPath(path) {
			return ""
		}
		decoded, err := url.PathUnescape(path)
		if err != nil || decoded == path {
			break // a lone percent sign, such as that of "%25" decoded once
		}
		path = decoded
	}
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" {
		return ""
	}
	return target
}

func plainPath(s string) bool {
	if s == "" || s[0] != '/' || len(s) > maxTarget || !utf8.ValidString(s) {
		return false
	}
	// Only the path must be free of "//": a query may well hold a URL.
	path, _, _ := strings.Cut(s, "?")
	path, _, _ = strings.Cut(path, "#")
	return !strings.Contains(path, "//") && !strings.ContainsFunc(s, func(c rune) bool {
		return c == '\\' || unicode.IsControl(c) || c == '\u2028' || c == '\u2029'
	})
}

// Check reports why an intent's redirect target is unusable: it must be a
// local path, or a URL whose origin is one of origins, which are compared as a
// browser does: without regard to case and default ports.
func Check(target string, origins []string) error {
	switch {
	case target == "":
		return errors.New("empty redirect target")
	case len(target) > maxTarget:
		return errors.New("redirect target over 8 KiB")
	case LocalPath(target) != "":
		return nil
	case !utf8.ValidString(target) || strings.ContainsFunc(target, func(c rune) bool {
		return unicode.IsControl(c) || c == '\\' || c == ' '
	}):
		return errors.New("redirect target with a control character, a blank or a backslash")
	}
	u, err := url.Parse(target)
	if err != nil {
		return errors.New("redirect target is no URL")
	}
	if u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Opaque != "" {
		return errors.New("redirect target is neither a rooted path nor an http URL")
	}
	if !slices.ContainsFunc(origins, func(allowed string) bool { return sameOrigin(allowed, u) }) {
		return errors.New("redirect target of an origin that auth.redirect_hosts does not list")
	}
	return nil
}

// sameOrigin tells whether u is of an origin, compared as [Origin] gives it.
func sameOrigin(origin string, u *url.URL) bool {
	o, err := url.Parse(origin)
	return err == nil && Origin(o) == Origin(u)
}

// Origin returns the scheme, host and port of u in the form that browsers send:
// lower case, without a default port.
func Origin(u *url.URL) string {
	host := strings.ToLower(u.Host)
	switch scheme := strings.ToLower(u.Scheme); scheme {
	case "https":
		return scheme + "://" + strings.TrimSuffix(host, ":443")
	case "http":
		return scheme + "://" + strings.TrimSuffix(host, ":80")
	default:
		return scheme + "://" + host
	}
}
