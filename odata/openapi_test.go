package odata_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	who := odata.Caller{}
	s := service(t, &numbers{}, func(o *odata.Options, _ *edm.Model) {
		o.Caller = func(http.ResponseWriter, *http.Request) (odata.Caller, error) { return who, nil }
	})
	for name, c := range map[string]struct {
		caller odata.Caller
		paths  string
	}{
		"guest":   {odata.Caller{}, "/$batch /First /Numbers /Numbers({ID}) /Numbers/$count"},
		"session": {odata.Caller{SignedIn: true}, "/$batch /First /Guarded /Guarded({ID}) /Guarded/$count /Numbers /Numbers({ID}) /Numbers/$count"},
		"settled": {odata.Caller{SignedIn: true, Settled: true}, "/$batch /First /Guarded /Guarded({ID}) /Guarded/$count /Numbers /Numbers({ID}) /Numbers/$count /Settled /Settled({ID}) /Settled/$count"},
	} {
		who = c.caller
		w := get(t, s, "/odata/openapi.json")
		var doc struct {
			OpenAPI string
			Servers []struct{ URL string }
			Paths   map[string]any
		}
		if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
			t.Fatalf("%d %v", w.Code, err)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(doc.Paths)), " "); got != c.paths {
			t.Errorf("%s sees %s", name, got)
		}
		if h := w.Header(); doc.OpenAPI != "3.1.0" || doc.Servers[0].URL != "/odata" || h.Get("Content-Type") != "application/json" || h.Get("Cache-Control") != "private, no-cache" {
			t.Errorf("%s: %+v %v", name, doc.Servers, h)
		}
		if again := get(t, s, "/odata/openapi.json", "If-None-Match", w.Header().Get("ETag")); again.Code != 304 {
			t.Errorf("%s: unchanged is %d", name, again.Code)
		}
	}
	if w := get(t, s, "/odata/openapi.json", "Accept", "application/vnd.oai.openapi+json"); w.Header().Get("Content-Type") != "application/vnd.oai.openapi+json" {
		t.Errorf("by its own type: %d %v", w.Code, w.Header())
	}
	for status, do := range map[int][2]string{406: {"GET", "text/csv"}, 405: {"PUT", ""}} {
		if w := send(t, s, do[0], "/odata/openapi.json", "", "Accept", do[1]); w.Code != status {
			t.Errorf("%s %s: %d", do[0], do[1], w.Code)
		}
	}
}

// The guard of the service comes before the document, as before any name.
func TestOpenAPIBehindTheGuard(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{}, func(_ *odata.Options, m *edm.Model) { m.Guard = edm.GuardSettled })
	if w := get(t, s, "/odata/openapi.json"); w.Code != 401 || strings.Contains(w.Body.String(), "Numbers") {
		t.Errorf("a guest gets %d %s", w.Code, w.Body)
	}
}
