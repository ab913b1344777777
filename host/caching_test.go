package host_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
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

// Files are compressed; what has data of the person or of the request in it is not.
func TestOnlyFilesAreCompressed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "app.js"), []byte(strings.Repeat("again();", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Server.PublicDir = dir
		o.Routes = append(o.Routes, host.Route{Name: "inside", Path: "/inside", Dir: dir})
	})
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	for path, want := range map[string]string{"/app.js": "gzip", "/inside/app.js": "gzip", "/ui/auth/": "", "/auth/bootstrap": "", "/auth/intents/current": "", "/nothing": ""} {
		a := b.get(path, "Accept-Encoding", "gzip, deflate, br, zstd")
		if got := a.Header.Get("Content-Encoding"); got != want {
			t.Errorf("%s: %s, coding %q, want %q", path, a.Status, got, want)
		}
	}
	if a := b.get("/inside/app.js", "Accept-Encoding", "gzip"); a.Header.Get("Cache-Control") != "private, no-cache" || a.Header.Get("Etag") == "" {
		t.Errorf("a file behind a guard: %v", a.Header)
	}
}
