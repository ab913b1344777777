package host_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// An application that does not know its prefix, at the address / and below /base.
func TestStripPrefix(t *testing.T) {
	var app *url.URL
	app = upstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if to := q.Get("to"); to != "" {
			w.Header().Set("Location", strings.ReplaceAll(to, "$APP", app.String()))
			w.WriteHeader(http.StatusFound)
		}
		for _, line := range q["cookie"] {
			w.Header().Add("Set-Cookie", line)
		}
		fmt.Fprintf(w, "%s of %q", r.RequestURI, r.Header.Get("X-Forwarded-Prefix"))
	}))
	based := *app
	based.Path = "/base"
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Routes = append(o.Routes,
			host.Route{Name: "app", Path: "/app", Proxy: app, Guard: host.GuardNone, StripPrefix: true},
			host.Route{Name: "based", Path: "/based", Proxy: &based, Guard: host.GuardNone, StripPrefix: true},
		)
	})
	b := s.browser(t)
	for path, want := range map[string]string{
		"/app": `/ of "/app"`, "/app/": `/ of "/app"`, "/app/x?a=1;b": `/x?a=1;b of "/app"`, "/app/a%2Fb": `/a%2Fb of "/app"`, "/%61pp/x": `/x of "/app"`, "/app//x": `//x of "/app"`,
		"/based": `/base/ of "/based"`, "/based/x": `/base/x of "/based"`,
	} {
		if a := b.get(path, "X-Forwarded-Prefix", "/evil"); a.body != want {
			t.Errorf("%s: %s, want %s", path, a.body, want)
		}
	}
	for to, want := range map[string]string{
		"/login?next=/x": "/app/login?next=/x", "/": "/app/", "/app/login": "/app/login", "/app": "/app", "/apple": "/app/apple", "login": "login", "?x=1": "?x=1", "../x": "../x",
		"https://elsewhere.example/x": "https://elsewhere.example/x", "//elsewhere.example/x": "//elsewhere.example/x", "mailto:a@b.c": "mailto:a@b.c",
		s.URL + "/x": s.URL + "/app/x", s.URL: s.URL + "/app/", "$APP/x?y#z": s.URL + "/app/x?y#z",
	} {
		if got := b.get("/app/go?to=" + url.QueryEscape(to)).Header.Get("Location"); got != want {
			t.Errorf("Location %s becomes %s, want %s", to, got, want)
		}
	}
	if got := b.get("/based/go?to=/base/x").Header.Get("Location"); got != "/based/x" {
		t.Errorf("Location below the base: %s", got)
	}
	for cookie, want := range map[string]string{
		"a=1; Path=/": "a=1; Path=/app", "a=1; path=/x; HttpOnly": "a=1; path=/app/x; HttpOnly", "a=1": "a=1", "a=1; Path=/app/x": "a=1; Path=/app/x",
		"__Host-a=1; Secure; Path=/": "__Host-a=1; Secure; Path=/", `p={"path":"/x"}; Path=/`: `p={"path":"/x"}; Path=/app`,
	} {
		if got := b.get("/app/set?cookie=" + url.QueryEscape(cookie)).Header.Get("Set-Cookie"); got != want {
			t.Errorf("Set-Cookie %s becomes %s, want %s", cookie, got, want)
		}
	}
}
