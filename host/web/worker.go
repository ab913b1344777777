package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/web/internal/reading"
)

// narrowWorkers keeps service workers of the application on its route. A browser lets a
// worker control what lies below its script, or below Service-Worker-Allowed, compared as
// text: "/" covers the sign-in and all other applications, which share the origin.
//
// The header is narrowed and not taken out, since an application whose scripts are in a
// folder needs it for its own pages. For a route at "/", which has no part of the site to
// itself, it is taken out: a worker there controls what lies below its script.
//
// A script at the path of the route itself, without a slash behind it, lies beside the
// route: without the header its worker would control the folder around.
func (p *Proxy) narrowWorkers(r *http.Request, h http.Header) {
	const name = "Service-Worker-Allowed"
	own := strings.TrimSuffix(p.o.Path, "/") + "/"
	_, set := h[name]
	beside := r.Header.Get("Service-Worker") != "" && r.URL.Path+"/" == own
	if !set && !beside {
		return
	}
	if own == "/" {
		h.Del(name)
		return
	}
	encoded := (&url.URL{Path: own}).EscapedPath()
	scope := h.Get(name)
	if p.o.StripPrefix != "" {
		scope = p.outside(scope)
	}
	// Only a plain path is what it seems to be: browsers resolve dot segments, encoded
	// ones too, and take a backslash for a slash.
	if !strings.HasPrefix(scope, encoded) || !reading.Plain(scope[len(encoded)-1:]) || strings.ContainsAny(scope, "?# \t") {
		scope = encoded
	}
	h.Set(name, scope)
}
