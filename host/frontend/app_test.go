package frontend_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vestibule-dev/vestibule/v2/host/frontend"
	"github.com/vestibule-dev/vestibule/v2/ui"
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
		{"gzip, br;q=0.9", "a.js", "gzip", "gz"},
		{"identity, br;q=0.9", "a.js", "", "plain"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Encoding", tt.accept)
		get := func(name, value string) *httptest.ResponseRecorder {
			t.Helper()
			r.Header.Set(name, value)
			defer r.Header.Del(name)
			w := httptest.NewRecorder()
			if err := app.ServeFile(w, r, tt.file); err != nil {
				t.Fatal(err)
			}
			return w
		}
		w := get("X", "")
		if again := get("If-None-Match", w.Header().Get("Etag")); again.Code != 304 {
			t.Errorf("%s of %s, with its tag %q: %d", tt.accept, tt.file, w.Header().Get("Etag"), again.Code)
		}
		if again := get("If-None-Match", `"other"`); again.Code != 200 {
			t.Errorf("%s of %s, with another tag: %d", tt.accept, tt.file, again.Code)
		}
		if part := get("Range", "bytes=1-2"); part.Code != 206 || part.Body.String() != "la" || part.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s of %s, a range: %d %q %v", tt.accept, tt.file, part.Code, part.Body, part.Header())
		}
		if w.Body.String() != tt.body || w.Header().Get("Content-Encoding") != tt.coding || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s of %s: %q, coding %q, Vary %q", tt.accept, tt.file, w.Body, w.Header().Get("Content-Encoding"), w.Header().Get("Vary"))
		}
	}
}

// An app's author writes the marks as they like; what only looks like one stays.
func TestPageFillsTheMarks(t *testing.T) {
	for _, tt := range []struct{ name, page, want string }{
		{"as ours", `<html lang="en"><script type="application/json" id="bootstrap">{}</script>`, `<html lang="de"><script type="application/json" id="bootstrap">{"a":1}</script>`},
		{"id first", `<html class="x" lang='fr'><script id="bootstrap" type="application/json">{}</script>`, `<html class="x" lang="de"><script id="bootstrap" type="application/json">{"a":1}</script>`},
		{"no quotes, no data", "<html lang=en><script\n id=bootstrap type=application/json></script>", `<html lang="de"><script` + "\n" + ` id=bootstrap type=application/json>{"a":1}</script>`},
		{"blanks", `<SCRIPT ID = 'bootstrap'>  { } </SCRIPT>`, `<SCRIPT ID = 'bootstrap'>{"a":1}</SCRIPT>`},
		{"another id", `<script data-id="bootstrap">{}</script><script id="bootstrap2">{}</script>`, `<script data-id="bootstrap">{}</script><script id="bootstrap2">{}</script>`},
		{"data of its own", `<script id="bootstrap">{"b":2}</script>`, `<script id="bootstrap">{"b":2}</script>`},
		{"no words for the title", `<title>Mine</title>`, `<title>Mine</title>`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			app, err := frontend.Open(fstest.MapFS{"index.html": {Data: []byte(tt.page)}, "manifest.json": {Data: []byte(`{"core":"2"}`)}}, false, "2")
			if err != nil {
				t.Fatal(err)
			}
			got, err := app.Page("de", "Acme", map[string]int{"a": 1})
			if err != nil || string(got) != tt.want {
				t.Errorf("\n got %s (%v)\nwant %s", got, err, tt.want)
			}
		})
	}
	app, err := frontend.Open(ui.FS(), false, "2")
	if err != nil {
		t.Fatal(err)
	}
	if page, err := app.Page("de", "<b>", nil); err != nil || !strings.Contains(string(page), `<meta name="description" content="Anmelden · &lt;b&gt;">`) || !strings.Contains(string(page), "<title>Anmelden · &lt;b&gt;</title>") {
		t.Errorf("%s (%v)", page, err)
	}
}

// The directory of an app may be a developer's.
func TestNoDotFiles(t *testing.T) {
	files := fstest.MapFS{"index.html": {}, "manifest.json": {Data: []byte(`{"core":"2"}`)}}
	for _, name := range []string{".env", ".git/config", "js/.npmrc", "js/a.js"} {
		files[name] = &fstest.MapFile{Data: []byte("x")}
	}
	app, err := frontend.Open(files, true, "2")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{".env": "", ".git/config": "", "js/.npmrc": "", "js/a.js": "x"} {
		w := httptest.NewRecorder()
		if err := app.ServeFile(w, httptest.NewRequest("GET", "/ui/auth/"+name, nil), name); w.Body.String() != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", name, w.Body, err)
		}
	}
}
