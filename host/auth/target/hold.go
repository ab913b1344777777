package target

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// maxPrefixes and maxPrefix bound what a held redirect opens beside its target, in
// paths and in bytes of one.
const (
	maxPrefixes = 16
	maxPrefix   = 2 << 10
)

// odata is the path of the query endpoint, and own are those of the sign-in, at or
// below which nobody can be held.
const odata = "/odata"

func own() []string { return []string{"/login", "/logout", "/auth"} }

// CheckHold reports why a redirect to target cannot hold anybody with these prefixes
// open: the target must be a page of the origin that is no page of the sign-in, and
// neither it nor a prefix may open more than it says.
func CheckHold(target, origin string, prefixes []string) error {
	if err := Check(target, []string{origin}); err != nil {
		return fmt.Errorf("a held redirect must stay on this origin: %w", err)
	}
	u, err := url.Parse(target)
	if err != nil {
		return errors.New("the target of a held redirect is no URL")
	}
	if err := checkPath(u.EscapedPath()); err != nil {
		return fmt.Errorf("the target of a held redirect %w", err)
	}
	for _, path := range append(own(), odata) {
		if within(u.Path, path) {
			return fmt.Errorf("the target of a held redirect is at or below %s, which is no page of the application: name another", path)
		}
	}
	if len(prefixes) > maxPrefixes {
		return fmt.Errorf("a held redirect has %d prefixes; %d are allowed: name a common one", len(prefixes), maxPrefixes)
	}
	for _, prefix := range prefixes {
		if err := checkPrefix(prefix); err != nil {
			return fmt.Errorf("the prefix %q of a held redirect %w", prefix, err)
		}
	}
	return nil
}

func checkPrefix(prefix string) error {
	if len(prefix) > maxPrefix {
		return fmt.Errorf("has over %d bytes", maxPrefix)
	}
	if strings.ContainsAny(prefix, "?#") {
		return errors.New("has a query or a fragment: name the path alone")
	}
	if err := checkPath(prefix); err != nil {
		return err
	}
	if path, _ := url.PathUnescape(prefix); within(path, odata) && !IsOData(prefix) {
		return errors.New("names a part of /odata/, from which a query reaches the rest: name /odata/ as a whole, or nothing of it")
	}
	return nil
}

// checkPath refuses an encoded path that is the whole site, or that servers read in
// more than one way.
func checkPath(encoded string) error {
	path, err := url.PathUnescape(encoded)
	switch {
	case err != nil:
		return errors.New("has a percent sign that encodes nothing")
	case strings.Trim(path, "/") == "":
		return errors.New("opens the whole site: name a path below /")
	case path[0] != '/':
		return errors.New("is not rooted: begin it with /")
	case strings.Contains(strings.ToLower(encoded), "%2f"), strings.ContainsAny(path, `\;%`), LocalPath(encoded) == "":
		return errors.New("has an encoded slash or percent sign, an empty segment, a backslash, a semicolon or a control character: name the plain path")
	case slices.ContainsFunc(strings.Split(path, "/"), func(s string) bool { return s == "." || s == ".." }):
		return errors.New("has dot segments: name the path that they lead to")
	}
	return nil
}

// IsOData reports whether a prefix names the query endpoint.
func IsOData(prefix string) bool { return strings.TrimSuffix(prefix, "/") == odata }

// Opened returns the decoded paths that a redirect to target opens to somebody whom it
// holds. The target and the prefixes have passed [CheckHold].
func Opened(target string, prefixes []string) []string {
	var open []string
	if u, err := url.Parse(target); err == nil {
		open = append(open, u.Path)
	}
	for _, prefix := range prefixes {
		if path, err := url.PathUnescape(prefix); err == nil {
			open = append(open, path)
		}
	}
	return open
}

// Within reports whether a decoded path is one of others or below it. Paths compare by
// case, at the boundaries of segments.
func Within(path string, others []string) bool {
	return slices.ContainsFunc(others, func(other string) bool { return within(path, other) })
}

// within reports whether a path is another one or below it.
func within(path, other string) bool {
	other = strings.TrimSuffix(other, "/")
	rest, ok := strings.CutPrefix(path, other)
	return ok && other != "" && (rest == "" || rest[0] == '/')
}
