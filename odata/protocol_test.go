package odata_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// To a guest whom the guard of the service keeps out, all names are the same.
func TestGuestsLearnNoNames(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3}, func(o *odata.Options, m *edm.Model) {
		m.Guard = edm.GuardSession
		o.RequestID = func(*http.Request) string { return "id" }
	})
	want := get(t, s, "/odata/Guarded")
	if want.Code != 401 || want.Header().Get("Content-Language") != "en" {
		t.Fatalf("%d %v", want.Code, want.Header())
	}
	for _, request := range []string{
		"GET Numbers", "GET Numbers(1)", "GET Nope", "GET Guarded(1)/Nope", "GET First", "GET $metadata", "GET ", "GET $entity?$id=Numbers(1)",
		"GET Numbers?$foo=1", "GET Numbers(", "GET $all", "GET $nope", "POST Numbers", "DELETE Nope", "POST $batch", "GET $batch", "POST Nope/$query", "GET openapi",
	} {
		method, target, _ := strings.Cut(request, " ")
		got := send(t, s, method, "/odata/"+target, "")
		if got.Code != want.Code || got.Body.String() != want.Body.String() {
			t.Errorf("%s: %d %s\nwant %d %s", request, got.Code, got.Body, want.Code, want.Body)
		}
		if diff := cmp.Diff(want.Header(), got.Header()); diff != "" {
			t.Errorf("%s: %s", request, diff)
		}
	}
}

func TestIsolation(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3}, nil)
	for name, want := range map[string]int{"Isolation": 412, "OData-Isolation": 412, "X-Isolation": 200} {
		if w := get(t, s, "/odata/Numbers", name, "snapshot"); w.Code != want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if w := send(t, s, "POST", "/odata/$batch", `{"requests":[]}`, "Content-Type", "application/json", name, "Snapshot"); w.Code != want {
			t.Errorf("%s of a batch: %d %s", name, w.Code, w.Body)
		}
	}
	if w := get(t, s, "/odata/Numbers", "Isolation", "none"); w.Code != 200 {
		t.Errorf("another isolation: %d", w.Code)
	}
	got := jsonBatch(t, s, `{"requests":[{"id":"1","method":"get","url":"Numbers","headers":{"isolation":"snapshot"}}]}`)
	if got["1"].Status != 412 {
		t.Errorf("a part: %+v", got)
	}
}

func TestFaultsHaveALanguage(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3}, nil)
	for _, target := range []string{"Nope", "Numbers?$foo=1", "$all", "Guarded", "Numbers(9)"} {
		if w := get(t, s, "/odata/"+target); w.Header().Get("Content-Language") != "en" {
			t.Errorf("%s: %d %v", target, w.Code, w.Header())
		}
	}
	if got := postBatch(t, s, multipartBody("GET Nope")); got[0].header.Get("Content-Language") != "en" {
		t.Errorf("a part: %v", got[0].header)
	}
	if w := get(t, s, "/odata/Numbers"); w.Header().Get("Content-Language") != "" {
		t.Error("data has a language")
	}
}

// Accept follows RFC 9110 and OData-JSON 3: what the client refuses, or what it
// asks for and would not get, is not sent.
func TestAcceptOnTheWire(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3}, nil)
	tests := []struct{ target, accept, media string }{
		{"Numbers", "application/json;odata.streaming=true", "application/json;odata.metadata=minimal;odata.streaming=true"},
		{"Numbers", "application/json;foo=bar", ""},
		{"Numbers", "application/json;q=0, */*", "text/csv;charset=utf-8;header=present"},
		{"Numbers(1)", "application/json;q=0, */*", ""},
		{"Numbers", "application/json;q=0, text/csv;q=0, */*", ""},
		{"Numbers", "application/json;foo=bar, */*;q=0.1", "application/json;odata.metadata=minimal"},
		{"Numbers?$format=application/json;foo=bar", "*/*", ""},
		{"$metadata", "application/json;q=0, */*", "application/xml"},
		{"$metadata", "application/xml;q=0, */*;q=0.1", "application/json"},
		{"", "text/html;q=0, */*;q=0.1", "application/json;odata.metadata=minimal"},
		{"Numbers/$count", "text/plain;q=0, */*", ""},
	}
	for _, tt := range tests {
		w := get(t, s, "/odata/"+tt.target, "Accept", tt.accept)
		if got := w.Header().Get("Content-Type"); tt.media == "" && w.Code != 406 || tt.media != "" && got != tt.media {
			t.Errorf("%s, %s: %d %s", tt.target, tt.accept, w.Code, got)
		}
	}
}

// A client of 4.0 cannot read $metadata in JSON, whatever it accepts for everything else.
func TestMetadataOfVersions(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3}, nil)
	const libraries = "application/json, application/xml;q=0.7"
	tests := []struct{ version, accept, media string }{
		{"4.0", libraries, "application/xml"},
		{"4.0", "*/*", "application/xml"},
		{"4.0", "application/json", ""},
		{"4.01", libraries, "application/json"},
		{"5.0", libraries, "application/json"},
		{"", libraries, "application/json"},
	}
	for _, tt := range tests {
		header := []string{"Accept", tt.accept}
		if tt.version != "" {
			header = append(header, "OData-MaxVersion", tt.version)
		}
		w := get(t, s, "/odata/$metadata", header...)
		if got := w.Header().Get("Content-Type"); tt.media == "" && w.Code != 406 || tt.media != "" && got != tt.media {
			t.Errorf("%q, %s: %d %s", tt.version, tt.accept, w.Code, got)
		}
	}
}

func TestAppliedPreferences(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 300, version: "1"}, nil)
	tests := []struct{ target, prefer, want string }{
		{"Numbers", "", "odata.maxpagesize=200"},
		{"Numbers", "omit-values=nulls", "odata.maxpagesize=200, omit-values=nulls"},
		{"Numbers?$top=1", "omit-values=defaults", ""},
		{"Numbers(1)", `odata.include-annotations="*"`, `odata.include-annotations="*"`},
		{"Numbers(1)", `include-annotations="display.*,-Core.*"`, `odata.include-annotations="display.*,-Core.*"`},
		{"Numbers(1)", `include-annotations="a, b"`, ""},
		{"Numbers/$count", "omit-values=nulls", ""},
	}
	for range 3 { // the last answers are remembered ones
		for _, tt := range tests {
			w := get(t, s, "/odata/"+tt.target, "Prefer", tt.prefer)
			if got := w.Header().Get("Preference-Applied"); w.Code != 200 || got != tt.want {
				t.Errorf("%s, %s: %d %q, want %q", tt.target, tt.prefer, w.Code, got, tt.want)
			}
			if omits := strings.Contains(tt.want, "nulls"); omits == strings.Contains(w.Body.String(), `"Nothing"`) && !strings.Contains(tt.target, "$count") {
				t.Errorf("%s, %s: %.200s", tt.target, tt.prefer, w.Body)
			}
		}
	}
}

// Full metadata, and the service document, tell which $metadata they go with.
func TestMetadataETag(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3}, nil)
	for _, version := range []string{"4.0", "4.01"} {
		want := get(t, s, "/odata/$metadata", "OData-MaxVersion", version).Header().Get("ETag")
		for _, target := range []string{"", "Numbers", "Numbers(1)", "Numbers(1)/ID", "Numbers/$ref"} {
			var doc map[string]any
			w := get(t, s, "/odata/"+target, "Accept", "application/json;odata.metadata=full", "OData-MaxVersion", version)
			if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || want == "" || doc["@odata.metadataEtag"] != want {
				t.Errorf("%s in %s: %v %s, want %s", target, version, err, w.Body, want)
			}
		}
	}
	if w := get(t, s, "/odata/Numbers"); strings.Contains(w.Body.String(), "metadataEtag") {
		t.Error("minimal metadata has it, too")
	}
}

// reply is an answer in a JSON batch.
type reply struct {
	ID, AtomicityGroup string
	Status             int
	Headers            map[string]string
	Body               any
}

func jsonBatch(t *testing.T, h http.Handler, body string, header ...string) map[string]reply {
	t.Helper()
	w := send(t, h, "POST", "/odata/$batch", body, append([]string{"Content-Type", "application/json"}, header...)...)
	var doc struct{ Responses []reply }
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || w.Code != 200 {
		t.Fatalf("%d %v in %s", w.Code, err, w.Body)
	}
	out := map[string]reply{}
	for _, r := range doc.Responses {
		out[r.ID] = r
	}
	return out
}

// A JSON batch processes every request whose dependencies succeeded (OData-JSON
// 19.1, 19.5).
func TestJSONBatchProcessesAll(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3, padding: 2}, nil)
	const body = `{"requests":[
		{"id":"bad","method":"get","url":"Nope"},
		{"id":"fine","method":"get","url":"Numbers(1)","body":null},
		{"id":"after bad","method":"get","url":"Numbers(1)","dependsOn":["bad"]},
		{"id":"after that","method":"get","url":"Numbers(1)","dependsOn":["after bad"]},
		{"id":"g1","method":"get","url":"Numbers(1)","atomicityGroup":"g"},
		{"id":"g2","method":"post","url":"Numbers","atomicityGroup":"g","body":{}},
		{"id":"g3","method":"get","url":"Numbers(1)","atomicityGroup":"g"},
		{"id":"after g","method":"get","url":"Numbers(1)","dependsOn":["g"]},
		{"id":"h1","method":"get","url":"Numbers(1)","atomicityGroup":"h"},
		{"id":"h2","method":"get","url":"Numbers(2)","atomicityGroup":"h"},
		{"id":"after h","method":"get","url":"Numbers(1)","dependsOn":["h","fine"]},
		{"id":"if","method":"get","url":"Numbers(1)","dependsOn":["fine"],"if":"$fine/$succeeded"},
		{"id":"i1","method":"get","url":"Numbers(1)","atomicityGroup":"i"},
		{"id":"i2","method":"get","url":"Numbers(1)","atomicityGroup":"i","if":"1 eq 1"},
		{"id":"last","method":"get","url":"Numbers(3)/ID/$value"}]}`
	statuses := func(list map[string]reply) map[string]int {
		out := map[string]int{}
		for id, r := range list {
			out[id] = r.Status
		}
		return out
	}
	all := map[string]int{
		"bad": 404, "fine": 200, "after bad": 424, "after that": 424, "g1": 424, "g2": 405, "g3": 424, "after g": 424, "h1": 200, "h2": 200,
		"after h": 200, "if": 424, "i1": 424, "i2": 424, "last": 200,
	}
	for prefer, want := range map[string]map[string]int{
		"": all, "continue-on-error": all, "odata.continue-on-error=true": all, "continue-on-error=false": {"bad": 404}, "odata.continue-on-error=false": {"bad": 404},
	} {
		got := jsonBatch(t, s, body, "Prefer", prefer)
		if diff := cmp.Diff(want, statuses(got)); diff != "" {
			t.Errorf("%q: %s", prefer, diff)
		}
		if g := got["g2"]; prefer == "" && (g.AtomicityGroup != "g" || g.Headers["content-language"] != "en") {
			t.Errorf("%+v", g)
		}
	}
}

// The answer to a batch has the format that was asked for, else that of the batch.
func TestBatchFormat(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3}, nil)
	const inJSON = `{"requests":[{"id":"one","method":"get","url":"Numbers(1)/ID"},{"id":"two","method":"get","url":"Nope"}]}`
	part := "Content-Type: application/http\r\nContent-ID: 7\r\n\r\nGET Numbers(1)/ID HTTP/1.1\r\n\r\n\r\n"
	inParts := multipartBody(part, "GET Numbers(2)/ID")
	const multi = "multipart/mixed;boundary=b"
	tests := []struct{ media, body, accept, version, want, has string }{
		{"application/json", inJSON, "", "", "application/json", `{"responses":[{"id":"one",`},
		{"application/json", inJSON, "*/*", "4.0", "application/json", `{"responses":[{"id":"one",`},
		{"application/json", inJSON, "multipart/mixed", "4.01", "multipart/mixed", "Content-ID: one\r\n\r\nHTTP/1.1 200 OK\r\n"},
		{"application/json", inJSON, "application/json;q=0, */*", "4.01", "multipart/mixed", "HTTP/1.1 404 Not Found\r\n"},
		{multi, inParts, "multipart/mixed", "4.01", "multipart/mixed", "Content-ID: 7\r\n"},
		{multi, inParts, "application/json, text/plain, */*", "4.01", "application/json", `{"responses":[{"id":"7","status":200,`},
		{multi, inParts, "application/json", "4.01", "application/json", `},{"status":200,`},
		{multi, inParts, "application/json", "", "multipart/mixed", "Content-ID: 7\r\n"},
		{multi, inParts, "application/json, text/plain, */*", "4.0", "multipart/mixed", "Content-ID: 7\r\n"},
		{multi, inParts, "application/json, multipart/mixed;q=0", "4.0", "application/json", `},{"status":200,`},
		{multi, inParts, "text/html", "", "application/json;odata.metadata=minimal", "not_acceptable"},
	}
	for _, tt := range tests {
		header := []string{"Content-Type", tt.media, "Accept", tt.accept}
		if tt.version != "" {
			header = append(header, "OData-MaxVersion", tt.version)
		}
		w := send(t, s, "POST", "/odata/$batch", tt.body, header...)
		got := w.Header().Get("Content-Type")
		if got != tt.want && !strings.HasPrefix(got, tt.want+";boundary=") || !strings.Contains(w.Body.String(), tt.has) {
			t.Errorf("%s, %s, %s: %d %s\n%s", tt.media, tt.accept, tt.version, w.Code, got, w.Body)
		}
	}
}

// A part that asks by an entity tag learns whether its answer is still that.
func TestBatchParts(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "1"} { // hashed answers, and answers named by the data
		s := service(t, &numbers{total: 3, version: version}, nil)
		ask := func(tag string) reply {
			return jsonBatch(t, s, `{"requests":[{"id":"1","method":"get","url":"/odata/Numbers(1)/ID","headers":{"if-none-match":`+tag+`}}]}`)["1"]
		}
		first := ask(`"\"other\""`)
		tag, err := json.Marshal(first.Headers["etag"])
		if err != nil || first.Status != 200 || first.Headers["etag"] == "" {
			t.Fatalf("%v %+v", err, first)
		}
		if again := ask(string(tag)); again.Status != 304 || again.Body != nil {
			t.Errorf("%q: %+v", version, again)
		}
	}
}

// One slash at the end is forgiven, on every resource of the service.
func TestTrailingSlash(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 450}, nil)
	for _, target := range []string{"$metadata/", "Numbers/", "Numbers(1)/", "Numbers(1)/Text/", "First/", "Numbers/$count/", "$entity/?$id=Numbers(1)"} {
		if w := get(t, s, "/odata/"+target); w.Code != 200 {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	if next := pageOf(t, get(t, s, "/odata/Numbers/?$select=ID").Body.String()).Next; next != "http://h/odata/Numbers/?$select=ID&$skip=200" {
		t.Errorf("the next link is %s", next)
	}
	if w := send(t, s, "POST", "/odata/$batch/", `{"requests":[]}`, "Content-Type", "application/json"); w.Code != 200 {
		t.Errorf("$batch/: %d %s", w.Code, w.Body)
	}
	if w := send(t, s, "POST", "/odata/Numbers/$query/", "$top=1", "Content-Type", "text/plain"); w.Code != 200 {
		t.Errorf("$query/: %d %s", w.Code, w.Body)
	}
	if w := get(t, s, "/odata/Numbers//"); w.Code == 200 {
		t.Error("two slashes are forgiven")
	}
}
