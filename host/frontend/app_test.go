package frontend_test

import (
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/vestibule-dev/vestibule/v2/host/frontend"
)

func TestServeFileChoosesTheCoding(t *testing.T) {
	app, err := frontend.Open(fstest.MapFS{
		"index.html":    {Data: []byte("<html>")},
		"manifest.json": {Data: []byte(`{"core":"2"}`)},
		"a.js":          {Data: []byte("plain")}, "a.js.br": {Data: []byte("br")}, "a.js.gz": {Data: []byte("gz")},
		"b.js": {Data: []byte("plain")}, "b.js.gz": {Data: []byte("gz")},
	}, false, "2")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ accept, file, coding, body string }{
		{"", "a.js", "", "plain"},
		{"gzip, br", "a.js", "br", "br"},
		{"br;q=0, gzip", "a.js", "gzip", "gz"},
		{"*", "a.js", "br", "br"},
		{"br", "b.js", "", "plain"},
		{"br, gzip", "b.js", "gzip", "gz"},
		{"gzip;q=0", "b.js", "", "plain"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Encoding", tt.accept)
		w := httptest.NewRecorder()
		if err := app.ServeFile(w, r, tt.file); err != nil {
			t.Fatal(err)
		}
		if w.Body.String() != tt.body || w.Header().Get("Content-Encoding") != tt.coding || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s of %s: %q, coding %q, Vary %q", tt.accept, tt.file, w.Body, w.Header().Get("Content-Encoding"), w.Header().Get("Vary"))
		}
	}
}
