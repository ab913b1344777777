package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// BenchmarkMiddleware is what the middleware adds to a handler that does nothing, without a log and with one in either
// form. The baseline is the handler.
func BenchmarkMiddleware(b *testing.B) {
	none := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	wrap := func(log hclog.Logger) http.Handler {
		return web.NewMiddleware(web.NewSite(web.SiteOptions{}), nil, log, telemetry.New(), noLimits(), nil).Wrap(web.Route{Name: "none"}, none)
	}
	for _, c := range []struct {
		name    string
		handler http.Handler
	}{
		{"baseline", none},
		{"log=none", wrap(hclog.NewNullLogger())},
		{"log=text", wrap(hclog.New(&hclog.LoggerOptions{Output: io.Discard}))},
		{"log=json", wrap(hclog.New(&hclog.LoggerOptions{Output: io.Discard, JSONFormat: true}))},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/odata/Products", nil)
			w := httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				clear(w.Header())
				c.handler.ServeHTTP(w, r)
			}
		})
	}
}
