package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		if a.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(a.Body)
			if err != nil {
				t.Fatal(err)
			}
			from = unpacked
		}
		text, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, tt := range []struct{ name, accept, coding, vary string }{
		{"app.js", "br, gzip", "gzip", "Accept-Encoding"},
		{"app.js", "br, gzip", "gzip", "Accept-Encoding"}, // as it was kept
		{"app.js", "gzip;q=0", "", "Accept-Encoding"},
		{"app.js", "", "", "Accept-Encoding"},
		{"small.js", "gzip", "", ""},
		{"picture.png", "gzip", "", ""},
	} {
		a := get(tt.name, "Accept-Encoding", tt.accept)
		want, _ := os.ReadFile(filepath.Join(dir, tt.name))
		if got := body(a); got != string(want) || a.Header.Get("Content-Encoding") != tt.coding || a.Header.Get("Vary") != tt.vary {
			t.Errorf("%s to %q: %d bytes, %v", tt.name, tt.accept, len(got), a.Header)
		}
	}

	plain, packed := get("app.js").Header.Get("Etag"), get("app.js", "Accept-Encoding", "gzip").Header.Get("Etag")
	if plain == packed || plain == "" || packed == "" {
		t.Errorf("the tags are %s and %s", plain, packed)
	}
	for _, tag := range []string{plain, packed} {
		accept := map[string]string{plain: "", packed: "gzip"}[tag]
		if a := get("app.js", "If-None-Match", tag, "Accept-Encoding", accept); a.StatusCode != http.StatusNotModified || a.Header.Get("Etag") != tag {
			t.Errorf("with %s: %s %v", tag, a.Status, a.Header)
		}
	}
	if a := get("app.js", "Range", "bytes=0-6", "Accept-Encoding", "gzip"); a.StatusCode != http.StatusPartialContent || body(a) != "console" {
		t.Errorf("a range: %s %v", a.Status, a.Header)
	}
	if a := get("app.js", "Range", "bytes=0-6", "If-Range", packed, "Accept-Encoding", "gzip"); a.StatusCode != http.StatusOK || body(a) != script {
		t.Errorf("a range of the compressed file: %s %v", a.Status, a.Header)
	}

	write("app.js", script+"// changed")
	if err := os.Chtimes(filepath.Join(dir, "app.js"), time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if a := get("app.js", "If-None-Match", packed, "Accept-Encoding", "gzip"); a.StatusCode != http.StatusOK || body(a) != script+"// changed" {
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
		for _, accept := range []string{"", "gzip"} {
			a := get("app.js", "If-None-Match", packed, "Accept-Encoding", accept)
			tag := a.Header.Get("Etag")
			if before := tags[text+accept]; body(a) != script+text || before != "" && before != tag {
				t.Errorf("replaced by %s to %q: %s %v, the tag was %s", text, accept, a.Status, a.Header, before)
			}
			tags[text+accept] = tag
		}
	}
	if tags["// changed"] == tags["// renewed"] || tags["// changedgzip"] == tags["// renewedgzip"] {
		t.Errorf("the tags are %v", tags)
	}
}
