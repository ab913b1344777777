package odata_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/batch"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// multipartBody makes a batch of requests, each with the headers of UI5. A part
// that starts with "--" is taken as it is.
func multipartBody(requests ...string) string {
	var b strings.Builder
	for _, r := range requests {
		b.WriteString("--b\r\n")
		if !strings.HasPrefix(r, "Content-Type:") {
			b.WriteString("Content-Type:application/http\r\nContent-Transfer-Encoding:binary\r\n\r\n")
			r += " HTTP/1.1\r\nAccept:application/json;odata.metadata=minimal;IEEE754Compatible=true\r\nAccept-Language:en\r\nX-CSRF-Token:Fetch\r\n\r\n\r\n"
		}
		b.WriteString(r)
	}
	return b.String() + "--b--\r\n"
}

// answered is one part of the answer to a batch.
type answered struct {
	id     string
	status int
	header http.Header
	body   string
}

func postBatch(t *testing.T, h http.Handler, body string, header ...string) []answered {
	t.Helper()
	w := send(t, h, "POST", "/odata/$batch", body, append([]string{"Content-Type", "multipart/mixed; boundary=b"}, header...)...)
	if w.Code != 200 || w.Header().Get("OData-Version") == "" {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	_, params, err := mime.ParseMediaType(w.Header().Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	return partsOf(t, w.Body, params["boundary"])
}

// partsOf reads the answers in a batch, those in the parts of its change sets included.
func partsOf(t *testing.T, body io.Reader, boundary string) []answered {
	t.Helper()
	var out []answered
	mr := multipart.NewReader(body, boundary)
	for {
		part, err := mr.NextRawPart()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if media, params, err := mime.ParseMediaType(part.Header.Get("Content-Type")); err == nil && media == "multipart/mixed" {
			out = append(out, partsOf(t, part, params["boundary"])...)
			continue
		}
		resp, err := http.ReadResponse(bufio.NewReader(part), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		out = append(out, answered{part.Header.Get("Content-ID"), resp.StatusCode, resp.Header, string(text)})
	}
}

func statuses(list []answered) []int {
	var out []int
	for _, a := range list {
		out = append(out, a.status)
	}
	return out
}

func TestBatchURLs(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 450}, nil)
	tests := map[string]string{
		"Numbers?$select=ID":                  "/odata/Numbers?$select=ID&$skip=200",
		"/odata/Numbers?$select=ID":           "/odata/Numbers?$select=ID&$skip=200",
		"http://h/odata/Numbers?$select=ID":   "/odata/Numbers?$select=ID&$skip=200",
		"Numbers?$filter=Text%20ne%20'a://b'": "/odata/Numbers?$filter=Text%20ne%20'a://b'&$skip=200",
	}
	for url, next := range tests {
		got := postBatch(t, s, multipartBody("GET "+url))
		if len(got) != 1 || got[0].status != 200 {
			t.Fatalf("%s: %+v", url, got)
		}
		var p struct {
			Next  string `json:"@odata.nextLink"`
			Value []struct{ ID string }
		}
		if err := json.Unmarshal([]byte(got[0].body), &p); err != nil {
			t.Fatal(err)
		}
		if p.Next != "http://h"+next || len(p.Value) != 200 || p.Value[0].ID != "1" {
			t.Errorf("%s: next link %q, %d rows", url, p.Next, len(p.Value))
		}
		if h := got[0].header; h.Get("OData-Version") != "4.0" || h.Get("Preference-Applied") != "odata.maxpagesize=200" ||
			h.Get("Content-Type") != "application/json;odata.metadata=minimal;IEEE754Compatible=true" {
			t.Errorf("%s: %v", url, h)
		}
	}
	for _, url := range []string{"http://elsewhere/odata/Numbers", "https://h/odata/Numbers"} {
		if got := postBatch(t, s, multipartBody("GET "+url)); got[0].status != 400 {
			t.Errorf("%s: %+v", url, got)
		}
	}
	if got := postBatch(t, s, multipartBody("GET /login")); got[0].status != 404 {
		t.Errorf("outside of the service: %+v", got)
	}
}

func TestBatchStopsAtTheFirstFault(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3}, nil)
	body := multipartBody("GET Numbers(1)", "GET Nowhere", "GET Numbers/$count", "GET Guarded", "GET Numbers(2)/Nothing")
	tests := []struct {
		prefer string
		want   []int
	}{
		{"", []int{200, 404}},
		{"odata.continue-on-error=false", []int{200, 404}},
		{"odata.continue-on-error", []int{200, 404, 200, 401, 204}},
		{"continue-on-error=true", []int{200, 404, 200, 401, 204}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, statuses(postBatch(t, s, body, "Prefer", tt.prefer))); diff != "" {
			t.Errorf("%s: %s", tt.prefer, diff)
		}
	}
}

func TestBatchChangeSets(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3}, nil)
	set := "Content-Type:multipart/mixed;boundary=c\r\n\r\n" +
		"--c\r\nContent-Type:application/http\r\nContent-ID:0.0\r\n\r\nPOST Numbers HTTP/1.1\r\nContent-Type:application/json\r\n\r\n{\"ID\":9}\r\n" +
		"--c\r\nContent-Type:application/http\r\nContent-ID:1.0\r\n\r\nPATCH Numbers(1) HTTP/1.1\r\n\r\n{}\r\n--c--\r\n"
	got := postBatch(t, s, multipartBody(set, "GET Numbers(1)"), "Prefer", "odata.continue-on-error")
	if diff := cmp.Diff([]int{405, 200}, statuses(got)); diff != "" {
		t.Fatal(diff)
	}
	if got[0].header.Get("Allow") != "GET, HEAD" || !strings.Contains(got[0].body, `"method_not_allowed"`) || got[0].id != "0.0" {
		t.Errorf("the change set gets %+v", got[0])
	}
}

func TestBatchReferences(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3, padding: 2}, nil)
	body := `{"requests":[{"id":"a","method":"get","url":"Numbers(2)?$select=ID"},{"id":"b","method":"get","url":"$a/Text/$value","dependsOn":["a"]},` +
		`{"id":"c","method":"get","url":"Numbers(99)"},{"id":"d","method":"get","url":"Numbers(1)","dependsOn":["c"]},` +
		`{"id":"e","method":"POST","url":"Numbers","atomicityGroup":"g","body":{"ID":7}},{"id":"f","method":"get","url":"Numbers(3)/ID","headers":{"accept":"application/json;odata.metadata=none"}}]}`
	w := send(t, s, "POST", "/odata/$batch", body, "Content-Type", "application/json", "Prefer", "continue-on-error")
	var got struct {
		Responses []struct {
			ID, AtomicityGroup string
			Status             int
			Body               any
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	want := map[string]int{"a": 200, "b": 200, "c": 404, "d": 424, "e": 405, "f": 200}
	if len(got.Responses) != len(want) || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%s %s", w.Header().Get("Content-Type"), w.Body)
	}
	for _, r := range got.Responses {
		if r.Status != want[r.ID] {
			t.Errorf("%s gets %d, want %d: %v", r.ID, r.Status, want[r.ID], r.Body)
		}
	}
	if got.Responses[1].Body != "xx" || got.Responses[4].AtomicityGroup != "g" {
		t.Errorf("%+v", got.Responses)
	}
	if diff := cmp.Diff(map[string]any{"value": 3.0}, got.Responses[5].Body); diff != "" {
		t.Error(diff)
	}
}

func TestBatchGuards(t *testing.T) {
	t.Parallel()
	asked := 0
	open := service(t, &numbers{total: 3}, func(o *odata.Options, _ *edm.Model) {
		o.Caller = func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
			asked++
			return odata.Caller{SignedIn: true}, nil
		}
	})
	body := multipartBody("GET Guarded", "GET Settled", "GET Numbers")
	if diff := cmp.Diff([]int{200, 403, 200}, statuses(postBatch(t, open, body, "Prefer", "continue-on-error"))); diff != "" {
		t.Error(diff)
	}
	if asked != 1 {
		t.Errorf("the caller was asked for %d times in one batch", asked)
	}
	closed := service(t, &numbers{total: 3}, func(_ *odata.Options, m *edm.Model) { m.Guard = edm.GuardSession })
	w := send(t, closed, "POST", "/odata/$batch", body, "Content-Type", "multipart/mixed;boundary=b")
	if w.Code != 401 || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		t.Errorf("a guarded batch gives %d %s", w.Code, w.Body)
	}
}

func TestBatchRefuses(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3}, func(o *odata.Options, _ *edm.Model) { o.Batch = batch.Limits{Parts: 2, Bytes: 2000} })
	tests := []struct {
		name, media, body string
		status            int
	}{
		{"another media type", "text/plain", "", 415},
		{"no media type", "", "", 415},
		{"no boundary", "multipart/mixed", "--b--", 415},
		{"no part", "multipart/mixed;boundary=b", "nothing", 400},
		{"too many parts", "multipart/mixed;boundary=b", multipartBody("GET Numbers", "GET Numbers", "GET Numbers"), 413},
		{"too many bytes", "multipart/mixed;boundary=b", multipartBody("GET Numbers?x=" + strings.Repeat("x", 2000)), 413},
		{"malformed JSON", "application/json", "{", 400},
	}
	for _, tt := range tests {
		w := send(t, s, "POST", "/odata/$batch", tt.body, "Content-Type", tt.media)
		if w.Code != tt.status || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: %d %s", tt.name, w.Code, w.Body)
		}
	}
	got := postBatch(t, s, multipartBody("POST $batch"))
	if got[0].status != 400 {
		t.Errorf("a batch in a batch: %+v", got)
	}
}

func TestBatchVersion(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 9}, nil)
	got := postBatch(t, s, multipartBody("GET Numbers?top=1"), "OData-MaxVersion", "4.01")
	if got[0].header.Get("OData-Version") != "4.01" || strings.Count(got[0].body, `"ID"`) != 1 {
		t.Errorf("a part does not inherit the version: %+v", got[0])
	}
}

// TestBatchOnTheWire sends what OpenUI5 1.120 sends, byte for byte but for the
// service's name, and reads the answer as its parser does: by lines.
func TestBatchOnTheWire(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 450, padding: 1}, nil)
	body := "--batch_id-1700000000000-27\r\nContent-Type:application/http\r\nContent-Transfer-Encoding:binary\r\n\r\n" +
		"GET Numbers?sap-language=EN&$count=true&$select=ID&$skip=0&$top=2 HTTP/1.1\r\n" +
		"Accept:application/json;odata.metadata=minimal;IEEE754Compatible=true\r\nAccept-Language:en\r\nX-CSRF-Token:Fetch\r\n" +
		"Content-Type:application/json;charset=UTF-8;IEEE754Compatible=true\r\n\r\n\r\n" +
		"--batch_id-1700000000000-27--\r\nGroup ID: $auto"
	w := send(t, s, "POST", "/odata/$batch", body, "Content-Type", "multipart/mixed; boundary=batch_id-1700000000000-27",
		"Accept", "multipart/mixed", "OData-Version", "4.0", "OData-MaxVersion", "4.0", "MIME-Version", "1.0")
	boundary := strings.TrimPrefix(w.Header().Get("Content-Type"), "multipart/mixed;boundary=")
	parts := strings.Split(w.Body.String(), "--"+boundary)
	if w.Code != 200 || len(parts) != 3 || parts[2] != "--\r\n" {
		t.Fatalf("%d %q", w.Code, w.Body)
	}
	mimeHead, rest, _ := strings.Cut(parts[1], "\r\n\r\n")
	head, answer, _ := strings.Cut(rest, "\r\n\r\n")
	want := `{"@odata.context":"http://h/odata/$metadata#Numbers(ID)","@odata.count":"450","value":[{"ID":"1"},{"ID":"2"}]}` + "\r\n"
	if !strings.Contains(mimeHead, "Content-Type: application/http") || !strings.HasPrefix(head, "HTTP/1.1 200 OK\r\n") || answer != want {
		t.Errorf("%q", parts[1])
	}
}

// A client that leaves ends its batch: the requests behind are not answered, and no error is logged.
func TestClientLeavesABatch(t *testing.T) {
	t.Parallel()
	for name, group := range map[string]string{"one by one": "", "a group": `"atomicityGroup":"g",`} {
		var log bytes.Buffer
		source := &numbers{total: 3, dawdle: 50 * time.Millisecond}
		s := service(t, source, func(o *odata.Options, _ *edm.Model) {
			o.Logger = hclog.New(&hclog.LoggerOptions{Output: &log})
		})
		var requests []string
		for i := range 20 {
			requests = append(requests, fmt.Sprintf(`{"id":"%d",%s"method":"get","url":"Numbers"}`, i, group))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 120*time.Millisecond)
		r := httptest.NewRequestWithContext(ctx, "POST", "/odata/$batch", strings.NewReader(`{"requests":[`+strings.Join(requests, ",")+`]}`))
		r.Header.Set("Content-Type", "application/json")
		func() {
			defer func() {
				if err := recover(); err != http.ErrAbortHandler { //nolint:errorlint // the very value
					t.Errorf("%s: the connection ended with %v", name, err)
				}
			}()
			s.ServeHTTP(httptest.NewRecorder(), r)
		}()
		cancel()
		if n := source.opened.Load(); n > 3 || log.Len() > 0 {
			t.Errorf("%s: %d requests were answered; log: %s", name, n, log.Bytes())
		}
	}
}
