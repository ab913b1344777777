package host_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// What it costs to tell an application who is signed in, beside BenchmarkGuard: by a
// proxied route, the same with an assertion, and by forward auth, where the proxy's
// own work is not counted. Signing is most of what an assertion costs.
func BenchmarkIdentity(b *testing.B) {
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") }))
	b.Cleanup(app.Close)
	to, err := url.Parse(app.URL)
	if err != nil {
		b.Fatal(err)
	}
	s := newSite(b, benchStore(b), func(o *host.Options) {
		o.Logger, o.Now = nil, nil
		o.Server.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} // that of httptest.NewRequest
		o.Routes = append(o.Routes,
			host.Route{Name: "app", Path: "/app", Proxy: to},
			host.Route{Name: "signed", Path: "/signed", Proxy: to, Assertion: true},
		)
	})
	handler := s.Config.Handler
	cookie := signIn(handler, adaEmail, adaPassword).Result().Cookies()[0]
	for _, tt := range []struct{ name, path string }{
		{"proxied", "/app"}, {"proxied-with-assertion", "/signed"}, {"verify", "/auth/verify"},
	} {
		b.Run(tt.name, func(b *testing.B) {
			r := httptest.NewRequest("GET", "http://localhost"+tt.path, nil)
			r.AddCookie(cookie)
			r.Header.Set("X-Forwarded-Method", "GET")
			r.Header.Set("X-Forwarded-Proto", "http")
			r.Header.Set("X-Forwarded-Host", "localhost")
			r.Header.Set("X-Forwarded-Uri", "/app/x")
			b.ReportAllocs()
			start := cpu(b)
			for b.Loop() {
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r.Clone(b.Context()))
				if w.Code != 200 {
					b.Fatal(w.Code, w.Body)
				}
			}
			b.ReportMetric(float64((cpu(b)-start).Nanoseconds())/float64(b.N)/1000, "cpu-us/op")
		})
	}
}
