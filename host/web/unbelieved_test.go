package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// A proxy that somebody forgot to trust is logged once, with the remedy; strangers on
// the net, who may send what they like, are not.
func TestUntrustedProxyIsLoggedOnce(t *testing.T) {
	ask := func(m *web.Middleware, remote string, header http.Header) {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/", nil)
		r.RemoteAddr, r.Header = remote, header
		m.Wrap(web.Route{}, http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
	}
	forwarded := http.Header{"X-Forwarded-For": {"203.0.113.9"}}
	for name, c := range map[string]struct {
		remote string
		header http.Header
		lines  int
	}{
		"private":                {"192.168.1.2:4000", forwarded, 1},
		"on this machine":        {"127.0.0.1:4000", forwarded, 1},
		"private, of IPv6":       {"[fd00::1]:4000", forwarded, 1},
		"trusted":                {"10.1.2.3:4000", forwarded, 0},
		"a stranger":             {"203.0.113.9:4000", forwarded, 0},
		"private without header": {"192.168.1.2:4000", http.Header{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			site := web.NewSite(web.SiteOptions{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
			m := web.NewMiddleware(site, nil, hclog.New(&hclog.LoggerOptions{Output: &log}), telemetry.New(), noLimits(), nil)
			for range 3 {
				ask(m, c.remote, c.header)
			}
			if n := strings.Count(log.String(), "name it in server.trusted_proxies: sender="+c.remote); n != c.lines {
				t.Errorf("%d lines, want %d:\n%s", n, c.lines, log.String())
			}
		})
	}
	t.Run("many", func(t *testing.T) {
		var log strings.Builder
		m := web.NewMiddleware(web.NewSite(web.SiteOptions{}), nil, hclog.New(&hclog.LoggerOptions{Output: &log}), telemetry.New(), noLimits(), nil)
		for i := range 100 {
			ask(m, fmt.Sprintf("10.0.0.%d:4000", i), forwarded)
		}
		if n := strings.Count(log.String(), "server.trusted_proxies"); n != 16 {
			t.Errorf("%d lines about 100 senders, want 16", n)
		}
	})
}
