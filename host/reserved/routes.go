package reserved

import (
	"slices"
	"strings"
)

// RouteName reports whether a route name belongs to the host: every name below
// login, logout, password, auth, ui and odata, and the names under which access
// log and metrics show what else the host answers itself.
func RouteName(name string) bool {
	first, _, below := strings.Cut(name, ".")
	if below && slices.Contains([]string{"login", "logout", "password", "auth", "ui", "odata"}, first) {
		return true
	}
	return slices.Contains([]string{
		"login", "logout", "auth", "ui", "odata", "healthz", "readyz",
		"public", "not-found", "tidy", "ambiguous", // files of public_dir, and paths that no route has
	}, name)
}

// RoutePath reports whether the host itself answers at a path or below it.
func RoutePath(path string) bool {
	return slices.ContainsFunc([]string{
		"/login", "/logout", "/auth", "/password", "/odata", "/ui", "/healthz", "/readyz",
		"/.well-known/change-password",
	}, func(own string) bool { return path == own || strings.HasPrefix(path, own+"/") })
}
