package host_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// An application may let caches keep its public pages. The one answer that
// brings a device its next session must not be kept for others.
func TestNoCacheKeepsANewSession(t *testing.T) {
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=3600")
	}))
	t.Cleanup(app.Close)
	target, err := url.Parse(app.URL)
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Routes = append(o.Routes, host.Route{Name: "open", Path: "/open", Proxy: target, Guard: host.GuardNone})
	})
	b := s.browser(t)
	b.login(adaEmail, adaPassword, true).want(t, 200, "")
	b.forget(sessionName)
	a := b.get("/open/page")
	if len(a.Cookies()) != 2 || a.Header.Get("Cache-Control") != "private, no-store" {
		t.Errorf("cookies %v, Cache-Control %q", a.Cookies(), a.Header.Get("Cache-Control"))
	}
	a = b.get("/open/page")
	if len(a.Cookies()) != 0 || a.Header.Get("Cache-Control") != "public, max-age=3600" {
		t.Errorf("afterwards: cookies %v, Cache-Control %q", a.Cookies(), a.Header.Get("Cache-Control"))
	}
}
