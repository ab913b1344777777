package reserved

import (
	"slices"
	"strings"
)

// RouteName reports whether a route name belongs to the host: the names of its
// endpoints, and every name below login, password, auth, ui and odata.
func RouteName(name string) bool {
	first, _, below := strings.Cut(name, ".")
	if below && slices.Contains([]string{"login", "logout", "password", "auth", "ui", "odata"}, first) {
		return true
	}
	return slices.Contains([]string{"login", "logout", "auth", "ui", "odata", "healthz", "readyz"}, name)
}

// RoutePath reports whether the host itself answers at a path or below it.
func RoutePath(path string) bool {
	return slices.ContainsFunc([]string{
		"/login", "/logout", "/auth", "/password", "/odata", "/ui", "/healthz", "/readyz",
	}, func(own string) bool { return path == own || strings.HasPrefix(path, own+"/") })
}
