package static_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/static"
)

var script = strings.Repeat("console.log('again');\n", 500)

// A folder holds files that are served.
type folder struct {
	t   *testing.T
	dir string
}

func newFolder(t *testing.T) folder { return folder{t, t.TempDir()} }

func (f folder) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f folder) date(name string, at time.Time) {
	f.t.Helper()
	if err := os.Chtimes(filepath.Join(f.dir, name), at, at); err != nil {
		f.t.Fatal(err)
	}
}

func (f folder) ask(method, name string, header ...string) (*http.Response, string) {
	f.t.Helper()
	r := httptest.NewRequest(method, "/", nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	if err := static.Serve(w, r, os.DirFS(f.dir), name, ""); err != nil {
		f.t.Fatal(err)
	}
	body := w.Body.String()
	if unpacked, err := gzip.NewReader(strings.NewReader(body)); err == nil && w.Code == 200 {
		text, err := io.ReadAll(unpacked)
		if err != nil {
			f.t.Fatal(err)
		}
		body = string(text)
	}
	return w.Result(), body
}

func (f folder) get(name string, header ...string) (*http.Response, string) {
	f.t.Helper()
	return f.ask("GET", name, header...)
}

func TestFilesAreCompressed(t *testing.T) {
	f := newFolder(t)
	f.write("app.js", script)
	f.write("small.js", "1")
	f.write("picture.png", script)
	noise := make([]byte, 2<<10)
	rand.NewChaCha8([32]byte{}).Read(noise)
	f.write("noise.txt", string(noise))
	f.write("large.css", strings.Repeat(" ", 16<<20+1))
	for _, tt := range []struct{ name, accept, coding, vary string }{
		{"app.js", "gzip, br", "gzip", "Accept-Encoding"},
		{"app.js", "gzip, deflate", "gzip", "Accept-Encoding"},
		{"app.js", "br", "", "Accept-Encoding"},
		{"app.js", "gzip;q=0, br;q=0", "", "Accept-Encoding"},
		{"app.js", "identity, gzip;q=0.5", "", "Accept-Encoding"},
		{"app.js", "", "", "Accept-Encoding"},
		{"app.js", "*;q=0", "", "Accept-Encoding"},
		{"app.js", "gzip;q=0, *", "", "Accept-Encoding"},
		{"app.js", "GZIP;Q=0.000, br;q=0, identity", "", "Accept-Encoding"},
		{"small.js", "gzip, br", "", "Accept-Encoding"},
		{"small.js", "gzip, identity;q=0", "gzip", "Accept-Encoding"},
		{"noise.txt", "gzip, *;q=0", "gzip", "Accept-Encoding"},
		{"large.css", "gzip", "", "Accept-Encoding"},
		{"picture.png", "gzip, br", "", ""},
	} {
		a, body := f.get(tt.name, "Accept-Encoding", tt.accept)
		want, _ := os.ReadFile(filepath.Join(f.dir, tt.name))
		if body != string(want) || a.Header.Get("Content-Encoding") != tt.coding || a.Header.Get("Vary") != tt.vary {
			t.Errorf("%s to %q: %d bytes, %v", tt.name, tt.accept, len(body), a.Header)
		}
	}
}

// Who packs files in advance decides how; a form that is older than the file is no form of it.
func TestFormsBesideAFile(t *testing.T) {
	f := newFolder(t)
	now := time.Now()
	for _, name := range []string{"app.js", "app.js.br", "app.js.gz", "old.js", "old.js.br", "picture.png", "picture.png.br", "small.css", "small.css.gz"} {
		f.write(name, name)
		f.date(name, now)
	}
	f.date("old.js.br", now.Add(-time.Second))
	for _, tt := range []struct{ name, accept, body, coding string }{
		{"app.js", "gzip, br", "app.js.br", "br"},
		{"app.js", "gzip, br;q=0.9", "app.js.gz", "gzip"},
		{"app.js", "br, identity;q=0", "app.js.br", "br"},
		{"app.js", "identity, br;q=0.9", "app.js", ""},
		{"app.js", "br;q=0, *", "app.js.gz", "gzip"},
		{"app.js", "br;q=0, gzip;q=0, *", "app.js", ""},
		{"app.js", "", "app.js", ""},
		{"old.js", "br", "old.js", ""},
		{"small.css", "br, gzip", "small.css.gz", "gzip"},
		{"picture.png", "br", "picture.png", ""},
	} {
		a, body := f.get(tt.name, "Accept-Encoding", tt.accept)
		if body != tt.body || a.Header.Get("Content-Encoding") != tt.coding {
			t.Errorf("%s to %q: %q %v", tt.name, tt.accept, body, a.Header)
		}
	}
	if a, _ := f.get("app.js", "Accept-Encoding", "br"); a.Header.Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("the form has %v", a.Header)
	}
}

func TestConditions(t *testing.T) {
	f := newFolder(t)
	f.write("app.js", script)
	f.write("app.js.br", "packed")
	accepts := []string{"", "gzip", "br"}
	var tag [3]string
	for i, accept := range accepts {
		a, _ := f.get("app.js", "Accept-Encoding", accept)
		tag[i] = a.Header.Get("Etag")
		if tag[i] == "" || slices.Contains(tag[:i], tag[i]) {
			t.Errorf("the tags are %q", tag)
		}
	}
	for i, accept := range accepts {
		for j := range accepts {
			a, body := f.get("app.js", "If-None-Match", tag[j], "Accept-Encoding", accept)
			if (a.StatusCode == 304) != (i == j) || a.StatusCode == 304 && (body != "" || a.Header.Get("Content-Encoding") != "") || a.Header.Get("Etag") != tag[i] {
				t.Errorf("to %q with the tag of %q: %s %v", accept, accepts[j], a.Status, a.Header)
			}
		}
		if a, _ := f.get("app.js", "If-Match", `"other"`, "Accept-Encoding", accept); a.StatusCode != 412 {
			t.Errorf("to %q with another tag that must match: %s", accept, a.Status)
		}
		a, body := f.ask("HEAD", "app.js", "Accept-Encoding", accept)
		whole, _ := f.get("app.js", "Accept-Encoding", accept)
		if body != "" || a.Header.Get("Content-Length") != whole.Header.Get("Content-Length") {
			t.Errorf("HEAD: %d bytes, %v", len(body), a.Header)
		}
		for _, name := range []string{"Etag", "Content-Encoding", "Content-Type", "Vary", "Last-Modified"} {
			if a.Header.Get(name) != whole.Header.Get(name) {
				t.Errorf("HEAD to %q: %s is %q, of GET %q", accept, name, a.Header.Get(name), whole.Header.Get(name))
			}
		}
	}
	for _, accept := range []string{"gzip, br", "br, identity;q=0"} {
		if a, body := f.get("app.js", "Range", "bytes=0-6", "Accept-Encoding", accept); a.StatusCode != 206 || body != "console" {
			t.Errorf("a range to %q: %s %v", accept, a.Status, a.Header)
		}
	}
	for _, unit := range []string{"pages=1", "items=0-6", "bytes"} { // as if there were none: RFC 9110, 14.2
		if a, body := f.get("app.js", "Range", unit, "Accept-Encoding", "gzip"); a.StatusCode != 200 || a.Header.Get("Content-Encoding") != "gzip" || body != script {
			t.Errorf("a range of %s: %s %v", unit, a.Status, a.Header)
		}
	}
	if a, _ := f.get("app.js", "Range", "bytes=90000-"); a.StatusCode != 416 {
		t.Errorf("a range behind the end: %s", a.Status)
	}
	for i, coding := range accepts[1:] {
		if a, body := f.get("app.js", "Range", "bytes=0-6", "If-Range", tag[i+1], "Accept-Encoding", coding); a.StatusCode != 200 || body != script {
			t.Errorf("a range of the compressed file: %s %v", a.Status, a.Header)
		}
	}
}

// A deployment may keep size and time. All hosts have one tag for one content.
func TestReplacedFiles(t *testing.T) {
	f := newFolder(t)
	at, tags := time.Now(), map[string]string{}
	for _, text := range []string{"// changed", "// renewed", "// changed"} {
		f.write("next.js", script+text)
		f.date("next.js", at)
		if err := os.Rename(filepath.Join(f.dir, "next.js"), filepath.Join(f.dir, "app.js")); err != nil {
			t.Fatal(err)
		}
		for _, accept := range []string{"", "gzip"} {
			a, body := f.get("app.js", "If-None-Match", tags["// changed"+accept], "Accept-Encoding", accept)
			tag := a.Header.Get("Etag")
			if before := tags[text+accept]; before != "" && (before != tag || a.StatusCode != 304) || before == "" && body != script+text {
				t.Errorf("replaced by %s to %q: %s %v, the tag was %s", text, accept, a.Status, a.Header, before)
			}
			tags[text+accept] = tag
		}
	}
	if tags["// changed"] == tags["// renewed"] || tags["// changedgzip"] == tags["// renewedgzip"] {
		t.Errorf("the tags are %v", tags)
	}
}

func TestWhatIsNoFile(t *testing.T) {
	files := fstest.MapFS{"dir.js/a.js": {Data: []byte("1")}, "b.js": {Data: []byte("1")}, "b.js.gz/c": {Data: []byte("1")}}
	for _, name := range []string{"dir.js", "none.js", "../b.js", ""} {
		w := httptest.NewRecorder()
		if err := static.Serve(w, httptest.NewRequest("GET", "/", nil), files, name, "no-cache"); err == nil || name != "" && strings.Contains(err.Error(), name) || len(w.Header()) > 0 {
			t.Errorf("%q: %v %v", name, err, w.Header())
		}
	}
	r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
	r.Header.Set("Accept-Encoding", "gzip")
	if err := static.Serve(w, r, files, "b.js", ""); err != nil || w.Body.String() != "1" {
		t.Errorf("with a folder beside it: %v %s", err, w.Body)
	}
}

// changing are files of which each has another size than when it was looked at.
type changing struct {
	names []string
	by    int // bytes more than the file has
}

func (c changing) Open(name string) (fs.File, error) {
	if !slices.Contains(c.names, name) {
		return nil, fs.ErrNotExist
	}
	return changed{bytes.NewReader([]byte(script)), c.by}, nil
}

type changed struct {
	*bytes.Reader
	by int
}

func (c changed) Stat() (fs.FileInfo, error) { return sized{size: int64(len(script) + c.by)}, nil }
func (changed) Close() error                 { return nil }

type sized struct {
	fs.FileInfo
	size int64
}

func (s sized) Size() int64      { return s.size }
func (sized) ModTime() time.Time { return time.Time{} }
func (sized) IsDir() bool        { return false }

// An answer without a length is complete, or the connection breaks.
func TestNoShortFileLooksComplete(t *testing.T) {
	for name, tt := range map[string]struct {
		changing
		broken bool
	}{
		"shorter, compressed on the way": {changing{[]string{"app.js"}, 1}, true},
		"shorter, beside the file":       {changing{[]string{"app.js", "app.js.gz"}, 1}, true},
		"longer, compressed on the way":  {changing{[]string{"app.js"}, -1}, false},
		"longer, beside the file":        {changing{[]string{"app.js", "app.js.gz"}, -1}, false},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			t.Run(name+", "+method, func(t *testing.T) {
				r, w := httptest.NewRequest(method, "/", nil), httptest.NewRecorder()
				r.Header.Set("Accept-Encoding", "gzip")
				defer func() {
					err, _ := recover().(error)
					if broken := errors.Is(err, http.ErrAbortHandler); broken != (tt.broken && method == "GET") {
						t.Errorf("broken: %v, %v", broken, err)
					}
				}()
				if err := static.Serve(w, r, tt.changing, "app.js", ""); err != nil || w.Header().Get("Content-Encoding") != "gzip" {
					t.Error(err, w.Header())
				}
			})
		}
	}
}
