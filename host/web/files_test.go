package web_test

import (
	"compress/gzip"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"

	"github.com/vestibule-dev/vestibule/v2/host/web"
)

func TestFilesAreCompressed(t *testing.T) {
	dir := t.TempDir()
	script := strings.Repeat("console.log('again');\n", 500)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("app.js", script)
	write("small.js", "1")
	write("picture.png", script)
	noise := make([]byte, 2<<10)
	rand.NewChaCha8([32]byte{}).Read(noise)
	write("noise.txt", string(noise))
	files := web.NewFiles(func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusNotFound)
	}).Dir(os.DirFS(dir), "/x/")
	get := func(name string, header ...string) *http.Response {
		r := httptest.NewRequest("GET", "/x/"+name, nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		files.ServeHTTP(w, r)
		return w.Result()
	}
	body := func(a *http.Response) string {
		t.Helper()
		from := io.Reader(a.Body)
		switch a.Header.Get("Content-Encoding") {
		case "gzip":
			unpacked, err := gzip.NewReader(a.Body)
			if err != nil {
				t.Fatal(err)
			}
			from = unpacked
		case "br":
			from = brotli.NewReader(a.Body)
		}
		text, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, tt := range []struct{ name, accept, coding, vary string }{
		{"app.js", "gzip, br", "br", "Accept-Encoding"},
		{"app.js", "gzip, br", "br", "Accept-Encoding"}, // as it was kept
		{"app.js", "gzip, deflate", "gzip", "Accept-Encoding"},
		{"app.js", "gzip, br;q=0.9", "gzip", "Accept-Encoding"},
		{"app.js", "gzip;q=0, br;q=0", "", "Accept-Encoding"},
		{"app.js", "identity, br;q=0.5", "", "Accept-Encoding"},
		{"app.js", "", "", "Accept-Encoding"},
		{"small.js", "gzip, br", "", "Accept-Encoding"},
		{"small.js", "br, identity;q=0", "br", "Accept-Encoding"},
		{"noise.txt", "gzip, br", "", "Accept-Encoding"}, // which becomes no smaller
		{"noise.txt", "gzip, *;q=0", "gzip", "Accept-Encoding"},
		{"picture.png", "gzip, br", "", ""},
	} {
		a := get(tt.name, "Accept-Encoding", tt.accept)
		want, _ := os.ReadFile(filepath.Join(dir, tt.name))
		if got := body(a); got != string(want) || a.Header.Get("Content-Encoding") != tt.coding || a.Header.Get("Vary") != tt.vary {
			t.Errorf("%s to %q: %d bytes, %v", tt.name, tt.accept, len(got), a.Header)
		}
	}

	accepts := []string{"", "gzip", "br"}
	var tag [3]string
	for i, accept := range accepts {
		tag[i] = get("app.js", "Accept-Encoding", accept).Header.Get("Etag")
		if tag[i] == "" || slices.Contains(tag[:i], tag[i]) {
			t.Errorf("the tags are %q", tag)
		}
	}
	for i, accept := range accepts {
		for j := range accepts {
			a := get("app.js", "If-None-Match", tag[j], "Accept-Encoding", accept)
			if (a.StatusCode == http.StatusNotModified) != (i == j) || a.Header.Get("Etag") != tag[i] {
				t.Errorf("to %q with the tag of %q: %s %v", accept, accepts[j], a.Status, a.Header)
			}
		}
	}
	packed := tag[2]
	for _, accept := range []string{"gzip, br", "br, identity;q=0"} {
		if a := get("app.js", "Range", "bytes=0-6", "Accept-Encoding", accept); a.StatusCode != http.StatusPartialContent || body(a) != "console" {
			t.Errorf("a range to %q: %s %v", accept, a.Status, a.Header)
		}
	}
	for _, unit := range []string{"pages=1", "items=0-6", "bytes"} { // as if there were none: RFC 9110, 14.2
		if a := get("app.js", "Range", unit, "Accept-Encoding", "br"); a.StatusCode != http.StatusOK || a.Header.Get("Content-Encoding") != "br" || body(a) != script {
			t.Errorf("a range of %s: %s %v", unit, a.Status, a.Header)
		}
	}
	if a := get("app.js", "Range", "bytes=90000-"); a.StatusCode != http.StatusRequestedRangeNotSatisfiable {
		t.Errorf("a range behind the end: %s", a.Status)
	}
	if a := get("app.js", "Range", "bytes=0-6", "If-Range", packed, "Accept-Encoding", "br"); a.StatusCode != http.StatusOK || body(a) != script {
		t.Errorf("a range of the compressed file: %s %v", a.Status, a.Header)
	}
	head := httptest.NewRequest("HEAD", "/x/app.js", nil)
	head.Header.Set("Accept-Encoding", "br")
	w := httptest.NewRecorder()
	files.ServeHTTP(w, head)
	if w.Body.Len() != 0 || w.Header().Get("Etag") != packed || w.Header().Get("Content-Encoding") != "br" || w.Header().Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("HEAD: %d bytes, %v", w.Body.Len(), w.Header())
	}

	write("app.js", script+"// changed")
	if err := os.Chtimes(filepath.Join(dir, "app.js"), time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if a := get("app.js", "If-None-Match", packed, "Accept-Encoding", "br"); a.StatusCode != http.StatusOK || body(a) != script+"// changed" {
		t.Errorf("after a change: %s", a.Status)
	}

	// A deployment may keep size and time. All hosts have one tag for one content.
	was, err := os.Stat(filepath.Join(dir, "app.js"))
	if err != nil {
		t.Fatal(err)
	}
	tags := map[string]string{}
	for _, text := range []string{"// changed", "// renewed", "// changed"} {
		write("next.js", script+text)
		if err := os.Chtimes(filepath.Join(dir, "next.js"), was.ModTime(), was.ModTime()); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "next.js"), filepath.Join(dir, "app.js")); err != nil {
			t.Fatal(err)
		}
		for _, accept := range accepts {
			a := get("app.js", "If-None-Match", packed, "Accept-Encoding", accept)
			tag := a.Header.Get("Etag")
			if before := tags[text+accept]; body(a) != script+text || before != "" && before != tag {
				t.Errorf("replaced by %s to %q: %s %v, the tag was %s", text, accept, a.Status, a.Header, before)
			}
			tags[text+accept] = tag
		}
	}
	if tags["// changed"] == tags["// renewed"] || tags["// changedgzip"] == tags["// renewedgzip"] || tags["// changedbr"] == tags["// renewedbr"] {
		t.Errorf("the tags are %v", tags)
	}
}
