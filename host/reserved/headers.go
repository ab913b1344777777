package reserved

import (
	"slices"
	"strings"
)

// Header reports whether a request header identifies a person to the host or to
// the application. No plugin ever sees one.
func Header(name string) bool {
	return slices.Contains([]string{
		"cookie", "set-cookie", "authorization", "proxy-authorization", "x-csrf-token", "x-xsrf-token",
	}, strings.ToLower(name))
}
