package web

import (
	"net/http"
	"net/url"

	"github.com/vestibule-dev/vestibule/v2/host/web/internal/reading"
)

// Tidy redirects from a path with dots or empty segments to the one that it
// means, so that no guard and no file is asked for by two names.
func Tidy(w http.ResponseWriter, r *http.Request) {
	u := url.URL{Path: reading.Clean(r.URL.Path), RawQuery: r.URL.RawQuery}
	http.Redirect(w, r, u.String(), http.StatusMovedPermanently)
}

// WithSlash redirects those who left out a path's final slash.
func WithSlash(w http.ResponseWriter, r *http.Request) {
	target := url.URL{Path: r.URL.Path + "/", RawQuery: r.URL.RawQuery}
	http.Redirect(w, r, target.String(), http.StatusPermanentRedirect)
}
