package web

import (
	"net/http"
	"net/url"
	"strings"
)

// SentPath returns the path of a request as it was sent, byte for byte. Where
// something in front has changed the path, it is the changed one, encoded.
func SentPath(r *http.Request) string {
	raw, _, _ := strings.Cut(r.RequestURI, "?")
	if strings.HasPrefix(raw, "/") && !strings.Contains(raw, "#") {
		if path, err := url.PathUnescape(raw); err == nil && path == r.URL.Path {
			return raw
		}
	}
	return r.URL.EscapedPath()
}

// cutPrefix returns what follows prefix in an encoded path, and false when the path
// is not below prefix. An empty prefix changes nothing.
func cutPrefix(path, prefix string) (rest string, ok bool) {
	if prefix == "" {
		return path, false
	}
	// The path may encode the prefix as well: "/%64ash" is "/dash".
	at := 0
	for i := range len(prefix) {
		size := 1
		if at < len(path) && path[at] == '%' {
			size = 3
		}
		if at+size > len(path) {
			return "", false
		}
		c, err := url.PathUnescape(path[at : at+size])
		if err != nil || c != prefix[i:i+1] {
			return "", false
		}
		at += size
	}
	switch rest = path[at:]; {
	case rest == "":
		return "/", true
	case rest[0] != '/':
		return "", false
	}
	return rest, true
}

// restorePrefix makes addresses of the application those that browsers see: those
// of Location, and the paths of cookies. What begins with the prefix already comes
// from an application that heeds X-Forwarded-Prefix.
func (p *Proxy) restorePrefix(r *http.Request, h http.Header) {
	if location := h.Get("Location"); location != "" {
		h.Set("Location", p.outsideLocation(r, location))
	}
	for i, line := range h["Set-Cookie"] {
		h["Set-Cookie"][i] = p.outsideCookie(line)
	}
}

func (p *Proxy) outsideLocation(r *http.Request, location string) string {
	u, err := url.Parse(location)
	if err != nil || u.Opaque != "" {
		return location
	}
	rest := strings.TrimPrefix(location, u.Scheme+":")
	if u.Host != "" {
		_, site, _ := strings.Cut(p.site.Base(r), "://")
		if !strings.EqualFold(u.Host, site) && !strings.EqualFold(u.Host, p.o.Target.Host) {
			return location
		}
		rest = strings.TrimPrefix(rest, "//")
		if at := strings.IndexAny(rest, "/?#"); at >= 0 {
			rest = rest[at:]
		} else {
			rest = "/"
		}
		if rest[0] != '/' {
			rest = "/" + rest
		}
		return p.site.Base(r) + p.outside(rest)
	}
	return p.outside(rest)
}

// outside returns a rooted path of the application as browsers see it; any other
// text unchanged.
func (p *Proxy) outside(path string) string {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || isBelow(path, p.o.StripPrefix) {
		return path
	}
	base := strings.TrimSuffix(p.o.Target.EscapedPath(), "/")
	if base != "" && isBelow(path, base) {
		path = strings.TrimPrefix(path, base)
	}
	return p.o.StripPrefix + path
}

// isBelow reports whether a path, perhaps with query or fragment, is prefix or below
// it.
func isBelow(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "/?#"))
}

// outsideCookie corrects the path of a cookie. One with the prefix __Host- must keep
// the path "/", or browsers refuse it.
func (p *Proxy) outsideCookie(line string) string {
	if strings.HasPrefix(strings.ToLower(line), "__host-") {
		return line
	}
	attributes := strings.Split(line, ";")
	for i, attribute := range attributes[1:] {
		name, value, ok := strings.Cut(attribute, "=")
		value = strings.TrimSpace(value)
		if !ok || !strings.EqualFold(strings.TrimSpace(name), "path") {
			continue
		}
		if value == "/" {
			attributes[i+1] = name + "=" + p.o.StripPrefix
		} else {
			attributes[i+1] = name + "=" + p.outside(value)
		}
	}
	return strings.Join(attributes, ";")
}
