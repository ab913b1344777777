package odata_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

func TestServiceDocument(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{}, nil)
	tag, err := json.Marshal(get(t, s, "/odata/$metadata").Header().Get("ETag"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"@odata.context":"http://h/odata/$metadata","@odata.metadataEtag":` + string(tag) + `,"value":[` +
		`{"name":"Numbers","kind":"EntitySet","url":"Numbers"},{"name":"Guarded","kind":"EntitySet","url":"Guarded"},` +
		`{"name":"Settled","kind":"EntitySet","url":"Settled"},{"name":"First","kind":"Singleton","url":"First"}]}`
	for _, target := range []string{"/odata/", "/odata", "/odata/?$format=json", "/%6Fdata/"} {
		w := get(t, s, target)
		if w.Code != 200 || w.Body.String() != want {
			t.Errorf("%s gives %d %s", target, w.Code, w.Body)
		}
	}
	w := get(t, s, "/odata/", "Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	if got := w.Header().Get("Content-Type"); got != "text/html;charset=utf-8" {
		t.Errorf("a browser gets %s", got)
	}
	body := w.Body.String()
	for _, part := range []string{`<a href="http://h/odata/Numbers?$count=true">Numbers</a> – All of &lt;them&gt;`, `<a href="http://h/odata/First">`, `$metadata`} {
		if !strings.Contains(body, part) {
			t.Errorf("the page lacks %s:\n%s", part, body)
		}
	}
	if strings.Contains(body, "<script") || strings.Contains(body, "style=") || strings.Contains(body, "<style") {
		t.Error("a strict policy would stop a part of the page")
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{}, nil)
	tests := []struct{ name, target, accept, version, media, has string }{
		{"XML by default", "/odata/$metadata", "", "", "application/xml", `<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">`},
		{"anything", "/odata/$metadata", "*/*", "", "application/xml", `Version="4.0"`},
		{"JSON by header", "/odata/$metadata", "application/json", "", "application/json", `"$Version":"4.0"`},
		{"JSON by option", "/odata/$metadata?$format=json", "application/xml", "", "application/json", `"$EntityContainer":"Demo.Container"`},
		{"4.01", "/odata/$metadata", "", "4.01", "application/xml", `Version="4.01"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			header := []string{"X-CSRF-Token", "Fetch"} // as UI5 sends it; to be tolerated
			if tt.accept != "" {
				header = append(header, "Accept", tt.accept)
			}
			if tt.version != "" {
				header = append(header, "OData-MaxVersion", tt.version)
			}
			w := get(t, s, tt.target, header...)
			if w.Code != 200 || w.Header().Get("Content-Type") != tt.media || !strings.Contains(w.Body.String(), tt.has) {
				t.Errorf("%d %s\n%s", w.Code, w.Header().Get("Content-Type"), w.Body)
			}
		})
	}
}

func TestNegotiation(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 1}, nil)
	tests := []struct {
		name, target, accept string
		status               int
		media                string
	}{
		{"default", "/odata/Numbers", "", 200, "application/json;odata.metadata=minimal"},
		{"none", "/odata/Numbers", "application/json;odata.metadata=none", 200, "application/json;odata.metadata=none"},
		{"full", "/odata/Numbers", "application/json;odata.metadata=full", 200, "application/json;odata.metadata=full"},
		{"IEEE754Compatible is echoed", "/odata/Numbers", "application/json;IEEE754Compatible=true", 200, "application/json;odata.metadata=minimal;IEEE754Compatible=true"},
		{"option over header", "/odata/Numbers?$format=application/json;odata.metadata=none", "application/xml", 200, "application/json;odata.metadata=none"},
		{"XML", "/odata/Numbers", "application/xml", 406, ""},
		{"Atom", "/odata/Numbers?$format=atom", "", 406, ""},
		{"XML by option", "/odata/Numbers?$format=xml", "", 406, ""},
		{"unknown format", "/odata/Numbers?$format=image/png", "", 406, ""},
		{"metadata as text", "/odata/$metadata", "text/plain", 406, ""},
		{"service document as XML", "/odata/", "application/atomsvc+xml", 406, ""},
		{"raw count", "/odata/Numbers/$count", "", 200, "text/plain;charset=utf-8"},
		{"raw count as text", "/odata/Numbers/$count", "text/plain", 200, "text/plain;charset=utf-8"},
		{"raw count as UI5 asks for it", "/odata/Numbers/$count", "application/json;odata.metadata=minimal", 200, "text/plain;charset=utf-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var header []string
			if tt.accept != "" {
				header = []string{"Accept", tt.accept}
			}
			w := get(t, s, tt.target, header...)
			if w.Code != tt.status || tt.status == 200 && w.Header().Get("Content-Type") != tt.media {
				t.Errorf("%d %s\n%s", w.Code, w.Header().Get("Content-Type"), w.Body)
			}
		})
	}
	w := get(t, s, "/odata/Numbers?$count=true", "Accept", "application/json;IEEE754Compatible=true;odata.metadata=none")
	if got := w.Body.String(); got != `{"@odata.count":"1","value":[{"ID":"1","Text":"","Nothing":null}]}` {
		t.Errorf("IEEE754Compatible=true gives %s", got)
	}
}

func TestVersionHeader(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 1}, nil)
	for asked, want := range map[string]string{"": "4.0", "4.0": "4.0", "4.01": "4.01", "5.0": "4.01"} {
		var header []string
		if asked != "" {
			header = []string{"OData-MaxVersion", asked}
		}
		for _, target := range []string{"/odata/", "/odata/$metadata", "/odata/Numbers", "/odata/Nowhere"} {
			if got := get(t, s, target, header...).Header().Get("OData-Version"); got != want {
				t.Errorf("%s for %q gives OData-Version %q, want %q", target, asked, got, want)
			}
		}
	}
	if w := get(t, s, "/odata/", "OData-MaxVersion", "3.0"); w.Code != 400 || w.Header().Get("OData-Version") != "4.0" {
		t.Errorf("OData-MaxVersion 3.0 gives %d", w.Code)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3}, func(o *odata.Options, _ *edm.Model) {
		o.RequestID = func(*http.Request) string { return "the-id" }
	})
	tests := []struct {
		name, method, target string
		status               int
		code, option         string
	}{
		{"unknown set", "GET", "/odata/Nowhere", 404, "not_found", ""},
		{"outside", "GET", "/elsewhere", 404, "not_found", ""},
		{"missing key", "GET", "/odata/Numbers(4)", 404, "not_found", ""},
		{"missing property", "GET", "/odata/Numbers(1)/Size", 404, "not_found", ""},
		{"unknown option", "GET", "/odata/Numbers?a=1&$foo=1", 400, "unknown_option", "$foo"},
		{"bad filter", "GET", "/odata/Numbers?$filter=ID%20eq", 400, "malformed", "$filter"},
		{"unknown property", "GET", "/odata/Numbers?$filter=Size%20eq%201", 400, "bad_request", "$filter"},
		{"bad escape", "GET", "/odata/Numbers?$filter=%zz", 400, "encoding", "$filter"},
		{"post to a set", "POST", "/odata/Numbers", 405, "method_not_allowed", ""},
		{"delete", "DELETE", "/odata/Numbers(1)", 405, "method_not_allowed", ""},
		{"get a batch", "GET", "/odata/$batch", 405, "method_not_allowed", ""},
		{"get a query", "GET", "/odata/Numbers/$query", 405, "method_not_allowed", ""},
		{"aggregation", "GET", "/odata/Numbers?$apply=aggregate(ID%20with%20sum%20as%20S)", 501, "not_implemented", "$apply"},
		{"crossjoin", "GET", "/odata/$crossjoin(Numbers,Guarded)", 501, "not_implemented", ""},
		{"signed out", "GET", "/odata/Guarded", 401, "unauthenticated", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := send(t, s, tt.method, tt.target, "")
			var body struct {
				Error struct {
					Code, Message, Target string
					Innererror            struct {
						ID string `json:"request_id"`
					}
				}
			}
			if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
				t.Fatalf("%v in %s", err, w.Body)
			}
			e := body.Error
			if w.Code != tt.status || e.Code != tt.code || e.Target != tt.option || e.Message == "" || e.Innererror.ID != "the-id" {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			h := w.Header()
			if h.Get("Cache-Control") != "no-store" || h.Get("OData-Version") != "4.0" || h.Get("X-Request-Id") != "the-id" ||
				!strings.HasPrefix(h.Get("Content-Type"), "application/json") {
				t.Errorf("headers %v", h)
			}
			if tt.status == 405 && h.Get("Allow") == "" {
				t.Error("405 without Allow")
			}
		})
	}
}

func TestInternalFaultsStayInternal(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := service(t, &numbers{total: 3, failAt: 1}, func(o *odata.Options, _ *edm.Model) {
		o.Logger = hclog.New(&hclog.LoggerOptions{Output: &log})
	})
	for _, target := range []string{"/odata/Numbers", "/odata/Numbers(1)"} {
		w := get(t, s, target)
		if w.Code != 500 || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
		if id := w.Header().Get("X-Request-Id"); id == "" || !strings.Contains(log.String(), id) || !strings.Contains(log.String(), "secret detail") {
			t.Errorf("the log does not tell about %q: %s", id, log.String())
		}
	}
}

func TestGuards(t *testing.T) {
	t.Parallel()
	callers := map[string]odata.Caller{
		"nobody": {}, "half": {SignedIn: true}, "whole": {SignedIn: true, Settled: true},
	}
	tests := []struct {
		target string
		want   map[string]int
	}{
		{"/odata/Numbers", map[string]int{"nobody": 200, "half": 200, "whole": 200}},
		{"/odata/Guarded", map[string]int{"nobody": 401, "half": 200, "whole": 200}},
		{"/odata/Guarded(1)/Text", map[string]int{"nobody": 401, "half": 200, "whole": 200}},
		{"/odata/Settled", map[string]int{"nobody": 401, "half": 403, "whole": 200}},
		{"/odata/Settled/$count", map[string]int{"nobody": 401, "half": 403, "whole": 200}},
	}
	for name, caller := range callers {
		s := service(t, &numbers{total: 3, padding: 1}, func(o *odata.Options, _ *edm.Model) {
			o.Caller = func(http.ResponseWriter, *http.Request) (odata.Caller, error) { return caller, nil }
		})
		for _, tt := range tests {
			w := get(t, s, tt.target)
			if w.Code != tt.want[name] {
				t.Errorf("%s for %s gives %d, want %d", tt.target, name, w.Code, tt.want[name])
			}
			if private := strings.HasPrefix(w.Header().Get("Cache-Control"), "private"); w.Code == 200 && private != !strings.HasPrefix(tt.target, "/odata/Numbers") {
				t.Errorf("%s has Cache-Control %q", tt.target, w.Header().Get("Cache-Control"))
			}
			if w.Header().Get("Location") != "" {
				t.Errorf("%s redirects", tt.target)
			}
		}
	}
	whole := service(t, &numbers{}, func(_ *odata.Options, m *edm.Model) { m.Guard = edm.GuardSession })
	for _, target := range []string{"/odata/", "/odata/$metadata"} {
		if w := get(t, whole, target); w.Code != 401 {
			t.Errorf("%s of a guarded service gives %d", target, w.Code)
		}
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 5e4}, nil)
	for _, target := range []string{"/odata/", "/odata/$metadata", "/odata/Numbers", "/odata/Numbers?$top=50000", "/odata/Numbers(1)", "/odata/Numbers/$count"} {
		head, full := send(t, s, "HEAD", target, ""), get(t, s, target)
		if head.Code != 200 || head.Body.Len() != 0 {
			t.Errorf("HEAD %s gives %d and %d bytes", target, head.Code, head.Body.Len())
		}
		for _, name := range []string{"Content-Type", "ETag", "OData-Version", "Preference-Applied", "Cache-Control", "Content-Length"} {
			if head.Header().Get(name) != full.Header().Get(name) {
				t.Errorf("HEAD %s: %s is %q, of GET %q", target, name, head.Header().Get(name), full.Header().Get(name))
			}
		}
	}
	if w := send(t, s, "HEAD", "/odata/Nowhere", ""); w.Code != 404 || w.Body.Len() != 0 {
		t.Errorf("HEAD of nothing gives %d and %s", w.Code, w.Body)
	}
}

func TestEntityTags(t *testing.T) {
	t.Parallel()
	source := &numbers{total: 3}
	s := service(t, source, nil)
	for _, target := range []string{"/odata/", "/odata/$metadata", "/odata/Numbers", "/odata/Numbers(1)"} {
		first := get(t, s, target)
		tag := first.Header().Get("ETag")
		if tag == "" {
			t.Errorf("%s has no ETag", target)
			continue
		}
		again := get(t, s, target, "If-None-Match", tag)
		if again.Code != 304 || again.Body.Len() != 0 || again.Header().Get("ETag") != tag {
			t.Errorf("%s unchanged gives %d and %d bytes", target, again.Code, again.Body.Len())
		}
		if other := get(t, s, target, "If-None-Match", `"other"`); other.Code != 200 {
			t.Errorf("%s with another tag gives %d", target, other.Code)
		}
	}
	tag := get(t, s, "/odata/Numbers").Header().Get("ETag")
	for _, header := range [][]string{{"Accept", "application/json;odata.metadata=none"}, {"Prefer", "maxpagesize=2"}} {
		if get(t, s, "/odata/Numbers", header...).Header().Get("ETag") == tag {
			t.Errorf("%v does not change the ETag", header)
		}
	}
	source.total = 4
	if w := get(t, s, "/odata/Numbers", "If-None-Match", tag); w.Code != 200 {
		t.Errorf("after a change: %d", w.Code)
	}
}

func TestGzip(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 5000, padding: 10}, nil)
	for _, target := range []string{"/odata/Numbers", "/odata/Numbers?$top=5000", "/odata/$metadata"} {
		plain, packed := get(t, s, target), get(t, s, target, "Accept-Encoding", "gzip")
		if packed.Header().Get("Content-Encoding") != "gzip" || packed.Body.Len() >= plain.Body.Len() {
			t.Errorf("%s is not compressed: %v", target, packed.Header())
			continue
		}
		r, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, plain.Body.Bytes()) {
			t.Errorf("%s: %v, %d bytes of %d", target, err, len(got), plain.Body.Len())
		}
	}
	if w := get(t, s, "/odata/Numbers?$top=1", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "" {
		t.Error("a few bytes are compressed")
	}
}

// TestCodingsRefused holds that a weight of 0 is heeded: nothing is sent in a coding that the client refuses, the plain one
// included, as long as it accepts another.
func TestCodingsRefused(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 5000, padding: 10}, nil)
	for _, tt := range []struct{ target, accept, coding string }{
		{"Numbers", "gzip;q=0", ""},
		{"Numbers", "gzip;q=0, *", ""},
		{"Numbers", "*;q=0", ""},
		{"Numbers", "identity, gzip;q=0.5", ""},
		{"Numbers", "*;q=0, gzip;q=0.1", "gzip"},
		{"Numbers?$top=1", "gzip, identity;q=0", "gzip"},
		{"Numbers?$top=1", "gzip, *;q=0", "gzip"},
		{"Numbers?$top=1", "gzip", ""},
		{"Numbers?$top=1", "identity;q=0", ""},
		{"Numbers(1)", "gzip, identity;q=0", "gzip"},
		{"$metadata", "gzip;q=0", ""},
		{"$metadata", "gzip, identity;q=0", "gzip"},
	} {
		plain, w := get(t, s, "/odata/"+tt.target), get(t, s, "/odata/"+tt.target, "Accept-Encoding", tt.accept)
		var body io.Reader = w.Body
		if tt.coding == "gzip" {
			r, err := gzip.NewReader(w.Body)
			if err != nil {
				t.Errorf("%s, %s: %v", tt.target, tt.accept, err)
				continue
			}
			body = r
		}
		got, err := io.ReadAll(body)
		if err != nil || w.Header().Get("Content-Encoding") != tt.coding || !bytes.Equal(got, plain.Body.Bytes()) {
			t.Errorf("%s, %s: %v, %v", tt.target, tt.accept, w.Header(), err)
		}
	}
}

func TestServerTiming(t *testing.T) {
	t.Parallel()
	got := get(t, service(t, &numbers{total: 1}, nil), "/odata/Numbers").Header().Values("Server-Timing")
	if len(got) != 1 {
		t.Fatalf("Server-Timing: %q", got)
	}
	for _, stage := range []string{"parse;dur=", "plan;dur=", "query;dur=", "write;dur="} {
		if !strings.Contains(got[0], stage) {
			t.Errorf("%q does not tell %s", got[0], stage)
		}
	}
}

// A request is observed in the stages that it came to, on a clock that goes on by a
// second whenever it is asked.
func TestStages(t *testing.T) {
	t.Parallel()
	const all = "parse plan wait database write"
	tests := []struct{ name, first, target, want string }{
		{"rows", "", "/odata/Numbers", all},
		{"from a plan that is kept", "/odata/Numbers", "/odata/Numbers", all},
		{"a count", "", "/odata/Numbers/$count", all},
		{"the metadata", "", "/odata/$metadata", "parse plan write"},
		{"no such syntax", "", "/odata/Numbers?$top=x", "parse"},
		{"no such set", "", "/odata/Letters", "parse plan"},
		{"no such type of answer", "", "/odata/Numbers?$format=atom", "parse plan wait"},
		{"no such row", "", "/odata/Numbers(99)", all},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var clock time.Time
			var stages []string
			s := service(t, &numbers{total: 1}, func(o *odata.Options, _ *edm.Model) {
				o.Now = func() time.Time { clock = clock.Add(time.Second); return clock }
				o.Observe = func(stage string, took time.Duration) {
					if stages = append(stages, stage); took <= 0 || took > 3*time.Second {
						t.Errorf("%s took %v", stage, took)
					}
				}
			})
			if tt.first != "" {
				get(t, s, tt.first)
				stages = nil
			}
			if w := get(t, s, tt.target); strings.Join(stages, " ") != tt.want {
				t.Errorf("%d: %s, want %s", w.Code, stages, tt.want)
			}
		})
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3, padding: 2}, nil)
	tests := []struct {
		target string
		status int
		body   string
	}{
		{"/odata/Numbers(2)", 200, `{"@odata.context":"http://h/odata/$metadata#Numbers/$entity","ID":2,"Text":"xx","Nothing":null}`},
		{"/odata/Numbers/2", 200, `{"@odata.context":"http://h/odata/$metadata#Numbers/$entity","ID":2,"Text":"xx","Nothing":null}`},
		{"/odata/Numbers(2)?$select=Text", 200, `{"@odata.context":"http://h/odata/$metadata#Numbers(Text)/$entity","@odata.id":"http://h/odata/Numbers(2)","Text":"xx"}`},
		{"/odata/Numbers(2)/Text", 200, `{"@odata.context":"http://h/odata/$metadata#Numbers(2)/Text","value":"xx"}`},
		{"/odata/Numbers(2)/Text/$value", 200, `xx`},
		{"/odata/Numbers(2)/ID/$value", 200, `2`},
		{"/odata/Numbers(2)/Nothing", 204, ``},
		{"/odata/Numbers(2)/Nothing/$value", 204, ``},
		{"/odata/Numbers(2)/$ref", 200, `{"@odata.context":"http://h/odata/$metadata#$ref","@odata.id":"http://h/odata/Numbers(2)"}`},
		{"/odata/Numbers/$count", 200, `3`},
		{"/odata/Numbers/$ref?$top=1", 200, `{"@odata.context":"http://h/odata/$metadata#Collection($ref)","value":[{"@odata.id":"http://h/odata/Numbers(1)"}]}`},
		{"/odata/First", 200, `{"@odata.context":"http://h/odata/$metadata#First","ID":1,"Text":"xx","Nothing":null}`},
		{"/odata/First/ID", 200, `{"@odata.context":"http://h/odata/$metadata#First/ID","value":1}`},
		{"/odata/$entity/Demo.Number?$id=Numbers(2)&$select=ID", 200, `{"@odata.context":"http://h/odata/$metadata#Numbers(ID)/$entity","ID":2}`},
		{"/odata/$entity/Demo.Number?$select=ID&$id=http://h/odata/Numbers(2)", 200, `{"@odata.context":"http://h/odata/$metadata#Numbers(ID)/$entity","ID":2}`},
	}
	for _, tt := range tests {
		w := get(t, s, tt.target)
		if w.Code != tt.status || w.Body.String() != tt.body {
			t.Errorf("%s gives %d %s\nwant %d %s", tt.target, w.Code, w.Body, tt.status, tt.body)
		}
	}
	if w := get(t, s, "/odata/$entity?$id=Numbers"); w.Code != 404 {
		t.Errorf("a set as $id gives %d", w.Code)
	}
}

func TestPostedQuery(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 450}, nil)
	w := send(t, s, "POST", "/odata/Numbers/$query?a=1", "$select=ID&$filter=ID%20gt%200", "Content-Type", "text/plain;charset=utf-8")
	p := pageOf(t, w.Body.String())
	if len(p.Value) != 200 || p.Next != "http://h/odata/Numbers?a=1&$select=ID&$filter=ID%20gt%200&$skip=200" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for media, want := range map[string]int{"application/json": 415, "": 415} {
		if w := send(t, s, "POST", "/odata/Numbers/$query", "$top=1", "Content-Type", media); w.Code != want {
			t.Errorf("a body of type %q gives %d", media, w.Code)
		}
	}
	if w := send(t, s, "POST", "/odata/Numbers/$query", "$filter="+strings.Repeat("x", 70000), "Content-Type", "text/plain"); w.Code != 413 {
		t.Errorf("a long body gives %d", w.Code)
	}
}
