package host_test

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// A reload of which one part fails changes none: neither app nor certificate, nor what
// waits for a restart.
func TestReloadIsAllOrNothing(t *testing.T) {
	own := httptest.NewUnstartedServer(http.NotFoundHandler())
	own.StartTLS()
	defer own.Close()
	good := func() (*tls.Certificate, error) { return &own.TLS.Certificates[0], nil }
	bad := func() (*tls.Certificate, error) { return nil, errors.New("half a file") }
	page := func(title string) fstest.MapFS {
		app := testApp()
		app["index.html"] = &fstest.MapFile{Data: []byte("<!doctype html><html lang=\"en\"><title>" + title + "</title></html>")}
		return app
	}
	missing := []host.Plugin{{Name: "p", Command: []string{"/nowhere/p"}, Roles: []string{"dispenser"}}}
	var o host.Options
	s := newSite(t, opener(t, raceEngines()["sqlite"](t).open)(), func(opts *host.Options) {
		opts.Server.LoadTLS, opts.UI.App = good, page("first")
		o = *opts
	})
	b := s.browser(t)
	for _, step := range []struct {
		name     string
		tls      func() (*tls.Certificate, error)
		app      fstest.MapFS
		plugins  []host.Plugin
		title    string
		failures []string
	}{
		{"a bad certificate", bad, page("second"), nil, "first", []string{"half a file"}},
		{"a bad app", good, fstest.MapFS{}, nil, "first", []string{"index.html"}},
		{"a bad plugin", good, page("second"), missing, "first", []string{"/nowhere/p"}},
		{"all of them", bad, fstest.MapFS{}, missing, "first", []string{"half a file", "index.html", "/nowhere/p"}},
		{"none", good, page("second"), nil, "second", nil},
	} {
		next := o
		next.Server.LoadTLS, next.UI.App, next.Plugins = step.tls, step.app, step.plugins
		next.RestartNeeded = map[string]bool{"odata.guard": true}
		err := s.host.Reload(t.Context(), next)
		if (err == nil) != (step.failures == nil) {
			t.Errorf("%s: %v", step.name, err)
		}
		for _, want := range step.failures {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not name %s", step.name, err, want)
			}
		}
		if got := b.get("/login").body; !strings.Contains(got, "<title>"+step.title+"</title>") {
			t.Errorf("%s: the page is %s", step.name, got)
		}
	}
}
