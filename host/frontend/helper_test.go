package frontend_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vestibule-dev/vestibule/v2/host/frontend"
	"github.com/vestibule-dev/vestibule/v2/ui"
)

// Applications know the names of the helper's files, so that no name holds a hash: who
// has a file asks whether it is still that, and gets no other coding for it.
func TestHelperFiles(t *testing.T) {
	helper, err := frontend.OpenHelper(ui.UI5(), frontend.HelperPrefix, "2")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := helper.Module(), (frontend.Module{Name: "vestibule", Version: "2.0.0", Core: "2", URL: "/ui/vestibule/"}); got != want {
		t.Errorf("module %+v, want %+v", got, want)
	}
	get := func(name, accept, known string, units ...string) *http.Response {
		r := httptest.NewRequest("GET", frontend.HelperPrefix+name, nil)
		r.Header.Set("Accept-Encoding", accept)
		r.Header.Set("If-None-Match", known)
		for _, unit := range units {
			r.Header.Set("Range", unit)
		}
		w := httptest.NewRecorder()
		frontend.NewScreens(frontend.ScreensOptions{Helpers: []*frontend.Helper{helper}}).HelperFiles(w, r)
		return w.Result()
	}
	tags := map[string]string{}
	for _, coding := range []string{"", "gzip", "br"} {
		first := get("Session.js", coding, "")
		tag := first.Header.Get("Etag")
		if first.StatusCode != 200 || first.Header.Get("Content-Encoding") != coding || first.Header.Get("Cache-Control") != "no-cache" ||
			!strings.HasPrefix(first.Header.Get("Content-Type"), "text/javascript") || tag == "" || tags[tag] != "" {
			t.Errorf("%q: %d %v, tags %v", coding, first.StatusCode, first.Header, tags)
		}
		tags[tag] = "of " + coding
		if again := get("Session.js", coding, tag); again.StatusCode != 304 {
			t.Errorf("%q again: %d", coding, again.StatusCode)
		}
		if other := get("Session.js", coding, "", "pages=1"); other.StatusCode != 200 || other.Header.Get("Etag") != tag { // as if there were no range
			t.Errorf("%q by pages: %d %v", coding, other.StatusCode, other.Header)
		}
	}
}

func TestHelperThatDoesNotFit(t *testing.T) {
	for _, tt := range []struct {
		name, manifest, want string
	}{
		{"none", "", "manifest.json"},
		{"no JSON", "{", "manifest.json"},
		{"another core", `{"core":"3"}`, `core "3"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := fstest.MapFS{}
			if tt.manifest != "" {
				files["manifest.json"] = &fstest.MapFile{Data: []byte(tt.manifest)}
			}
			if _, err := frontend.OpenHelper(files, frontend.HelperPrefix, "2"); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}
