package web_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"syscall"
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
		return web.NewMiddleware(web.NewSite(web.SiteOptions{}), nil, log, telemetry.New(), nil).Wrap(web.Route{Name: "none"}, none)
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

// BenchmarkGather is an answer of 57 kB over the loopback device, with the client's half. The baseline is a server that
// sends what net/http gives it.
func BenchmarkGather(b *testing.B) {
	block := bytes.Repeat([]byte("0123456789"), 5_700)
	handler := web.NewMiddleware(web.NewSite(web.SiteOptions{}), nil, hclog.NewNullLogger(), telemetry.New(), nil).
		Wrap(web.Route{Name: "block"}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(block)))
			_, _ = w.Write(block)
		}))
	for _, start := range []struct {
		name string
		call func(*httptest.Server)
	}{{"plain", (*httptest.Server).Start}, {"TLS", (*httptest.Server).StartTLS}} {
		for _, kind := range []string{"baseline", "gathered"} {
			b.Run(start.name+"/"+kind, func(b *testing.B) {
				server := httptest.NewUnstartedServer(handler)
				if kind == "gathered" {
					server.Listener = web.Gather(server.Config, server.Listener)
				}
				start.call(server)
				defer server.Close()
				before := processor(b)
				for b.Loop() {
					if err := read(server, "/", block); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(processor(b)-before)/float64(b.N)/2000, "cpu-µs/answer")
			})
		}
	}
}

// processor is the processor time of this process so far, in ns.
func processor(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
