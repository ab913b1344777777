package host_test

import (
	"net/http/httptest"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// BenchmarkRoutePath is a request to an open route beside a guarded one below it, by the spelling of its path.
func BenchmarkRoutePath(b *testing.B) {
	h, err := host.New(host.Options{Store: benchStore(b), Routes: []host.Route{
		{Name: "home", Path: "/", Redirect: "/x", Guard: host.GuardNone},
		{Name: "front", Path: "/front", Dir: b.TempDir(), Guard: host.GuardNone},
		{Name: "admin", Path: "/front/admin", Redirect: "/x"},
	}})
	if err != nil {
		b.Fatal(err)
	}
	handler, err := h.Handler()
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, path string }{
		{"plain", "/front/assets/main-0a1b2c3d.js"}, {"capitals", "/front/assets/Main-0A1B2C3D.js"}, {"encoded", "/front/assets/a%20b.js"},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := httptest.NewRequest("GET", "http://localhost"+c.path, nil)
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r.Clone(b.Context()))
				if w.Code != 404 {
					b.Fatal(w.Code, w.Body)
				}
			}
		})
	}
}
