package batch_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/batch"
)

const mixed = "multipart/mixed;boundary=b"

// crlf writes a multipart body with the line ends of the wire.
func crlf(lines ...string) string { return strings.Join(lines, "\r\n") }

func TestReadMultipart(t *testing.T) {
	t.Parallel()
	ui5 := crlf("--b", "Content-Type:application/http", "Content-Transfer-Encoding:binary", "",
		"GET Products?$count=true&$skip=0 HTTP/1.1",
		"Accept:application/json;odata.metadata=minimal;IEEE754Compatible=true", "Accept-Language:en", "", "",
		"--b", "Content-Type:multipart/mixed;boundary=c", "",
		"--c", "Content-Type:application/http", "Content-Transfer-Encoding:binary", "Content-ID:0.0", "",
		"POST Products HTTP/1.1", "Content-Type:application/json", "", `{"a":1}`,
		"--c--", "",
		"--b--", "")
	type row struct{ ID, Method, URL, Group, Body, Accept string }
	tests := []struct {
		name, body string
		want       []row
	}{
		{"what UI5 sends", ui5, []row{
			{"", "GET", "Products?$count=true&$skip=0", "", "", "application/json;odata.metadata=minimal;IEEE754Compatible=true"},
			{"0.0", "POST", "Products", "changeset 2", `{"a":1}`, ""},
		}},
		{"no blank line after the headers", crlf("--b", "Content-Type: application/http", "",
			"GET /odata/X HTTP/1.1", "Accept: a/b", "--b--"), []row{{"", "GET", "/odata/X", "", "", "a/b"}}},
		{"no headers at all", crlf("--b", "Content-Type: application/http", "",
			"GET http://h/odata/X HTTP/1.1", "--b--"), []row{{"", "GET", "http://h/odata/X", "", "", ""}}},
		{"preamble, LF only", "hello\n--b\nContent-Type: application/http\n\nGET X HTTP/1.1\n\n\n--b--\nbye", []row{{"", "GET", "X", "", "", ""}}},
		{"no part", "--b--", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, err := batch.Read(mixed, strings.NewReader(tt.body), batch.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var got []row
			for _, r := range b.Requests {
				got = append(got, row{r.ID, r.Method, r.URL, r.Group, string(r.Body), r.Header.Get("Accept")})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	part := func(head string, lines ...string) string {
		return crlf(append(append([]string{"--b", head, ""}, lines...), "--b--", "")...)
	}
	one := part("Content-Type: application/http", "GET X HTTP/1.1")
	tests := []struct {
		name, media, body string
		limits            batch.Limits
		is                error
	}{
		{"media type", "text/plain", "", batch.Limits{}, batch.ErrMediaType},
		{"no boundary", "multipart/mixed", one, batch.Limits{}, batch.ErrMediaType},
		{"bad media type", ";;", one, batch.Limits{}, batch.ErrMediaType},
		{"too many parts", mixed, strings.TrimSuffix(one, "--b--\r\n") + one, batch.Limits{Parts: 1}, batch.ErrTooLarge},
		{"too many bytes", mixed, one, batch.Limits{Bytes: 20}, batch.ErrTooLarge},
		{"no end", mixed, strings.TrimSuffix(one, "--b--\r\n"), batch.Limits{}, nil},
		{"no boundary in the body", mixed, "GET X HTTP/1.1", batch.Limits{}, nil},
		{"part without a type", mixed, part("X: y", "GET X HTTP/1.1"), batch.Limits{}, nil},
		{"part of another type", mixed, part("Content-Type: text/plain", "GET X HTTP/1.1"), batch.Limits{}, nil},
		{"no request line", mixed, part("Content-Type: application/http"), batch.Limits{}, nil},
		{"no protocol", mixed, part("Content-Type: application/http", "GET X"), batch.Limits{}, nil},
		{"space in the URL", mixed, part("Content-Type: application/http", "GET X Y HTTP/1.1"), batch.Limits{}, nil},
		{"bad header", mixed, part("Content-Type: application/http", "GET X HTTP/1.1", "no colon"), batch.Limits{}, nil},
		{"empty change set", mixed, part("Content-Type: multipart/mixed;boundary=c", "--c--"), batch.Limits{}, nil},
		{"change set without boundary", mixed, part("Content-Type: multipart/mixed", "--c--"), batch.Limits{}, nil},
		{"GET in a change set", mixed, part("Content-Type: multipart/mixed;boundary=c",
			"--c", "Content-Type: application/http", "", "GET X HTTP/1.1", "--c--"), batch.Limits{}, nil},
		{"change set in a change set", mixed, part("Content-Type: multipart/mixed;boundary=c",
			"--c", "Content-Type: multipart/mixed;boundary=d", "", "--d--", "--c--"), batch.Limits{}, nil},
		{"JSON: malformed", "application/json", `{"requests":[`, batch.Limits{}, nil},
		{"JSON: trailing data", "application/json", `{"requests":[]}x`, batch.Limits{}, nil},
		{"JSON: no requests", "application/json", `{}`, batch.Limits{}, nil},
		{"JSON: no id", "application/json", `{"requests":[{"method":"get","url":"X"}]}`, batch.Limits{}, nil},
		{"JSON: no method", "application/json", `{"requests":[{"id":"1","url":"X"}]}`, batch.Limits{}, nil},
		{"JSON: no url", "application/json", `{"requests":[{"id":"1","method":"get"}]}`, batch.Limits{}, nil},
		{"JSON: same id", "application/json", `{"requests":[{"id":"1","method":"get","url":"X"},{"id":"1","method":"get","url":"X"}]}`, batch.Limits{}, nil},
		{"JSON: depends on a later one", "application/json", `{"requests":[{"id":"1","method":"get","url":"X","dependsOn":["2"]}]}`, batch.Limits{}, nil},
		{"JSON: requests twice", "application/json", `{"requests":[{"id":"1","method":"patch","url":"X","body":{"a":1}}],"requests":[{"id":"2","url":"Y"}]}`, batch.Limits{}, nil},
		{"JSON: a member twice", "application/json", `{"requests":[{"id":"1","method":"delete","method":"get","url":"X"}]}`, batch.Limits{}, nil},
		{"JSON: a member in another case", "application/json", `{"requests":[{"id":"1","method":"get","Url":"X"}]}`, batch.Limits{}, nil},
		{"JSON: a header twice", "application/json", `{"requests":[{"id":"1","method":"get","url":"X","headers":{"If-Match":"a","if-match":"*"}}]}`, batch.Limits{}, nil},
		{"JSON: half of a pair in a body", "application/json", `{"requests":[{"id":"1","method":"put","url":"X","body":"a\ud800b"}]}`, batch.Limits{}, nil},
		{"JSON: a pair in a wrong order", "application/json", `{"requests":[{"id":"1","method":"put","url":"X","body":"\udd1e\ud834"}]}`, batch.Limits{}, nil},
		{"JSON: half of a pair in a URL", "application/json", `{"requests":[{"id":"1","method":"get","url":"X\udfff"}]}`, batch.Limits{}, nil},
		{"JSON: not UTF-8", "application/json", "{\"requests\":[{\"id\":\"1\",\"method\":\"put\",\"url\":\"X\",\"body\":\"\xff\"}]}", batch.Limits{}, nil},
		{"JSON: half of a pair in a name", "application/json", `{"requests":[{"id":"1","method":"get","url":"X","\udfff":1}]}`, batch.Limits{}, nil},
		{"JSON: a number for a text", "application/json", `{"requests":[{"id":1,"method":"get","url":"X"}]}`, batch.Limits{}, nil},
		{"JSON: headers null", "application/json", `{"requests":[{"id":"1","method":"get","url":"X","headers":null}]}`, batch.Limits{}, nil},
		{"JSON: dependsOn a number", "application/json", `{"requests":[{"id":"1","method":"get","url":"X"},{"id":"2","method":"get","url":"X","dependsOn":[1]}]}`, batch.Limits{}, nil},
		{"JSON: bytes that are no base64url", "application/json", `{"requests":[{"id":"1","method":"put","url":"X","headers":{"content-type":"image/png"},"body":"A+/="}]}`, batch.Limits{}, nil},
		{"JSON: bytes as an object", "application/json", `{"requests":[{"id":"1","method":"put","url":"X","headers":{"content-type":"image/png"},"body":{}}]}`, batch.Limits{}, nil},
		{"JSON: null", "application/json", `null`, batch.Limits{}, nil},
		{"JSON: requests null", "application/json", `{"requests":null}`, batch.Limits{}, nil},
		{"JSON: too many", "application/json", `{"requests":[{"id":"1","method":"get","url":"X"},{"id":"2","method":"get","url":"X"}]}`, batch.Limits{Parts: 1}, batch.ErrTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, err := batch.Read(tt.media, strings.NewReader(tt.body), tt.limits)
			if err == nil {
				t.Fatalf("accepted: %+v", b.Requests)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("got %v, want %v", err, tt.is)
			}
		})
	}
}

func TestReadJSON(t *testing.T) {
	t.Parallel()
	const body = `{"requests":[
		{"id":"1","method":"get","url":"Products?$top=1","headers":{"accept":"application/json"}},
		{"id":"2","method":"POST","url":"/odata/Products/$query","body":"$top=1","atomicityGroup":"g","dependsOn":["1"]},
		{"id":"3","method":"patch","url":"Products(1)","body":{"a":1}},
		{"id":"4","method":"put","url":"Products(1)/picture/$value","body":"_wAB","headers":{"content-type":"Image/PNG"},"if":null,"more":[{}]},
		{"id":"5","method":"put","url":"Products(1)/name/$value","body":"\ud834\udd1e\\ud800\ufffd","headers":{"Content-Type":"text/plain"}}]}`
	b, err := batch.Read("application/json;charset=utf-8", strings.NewReader(body), batch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := []batch.Request{
		{ID: "1", Method: "GET", URL: "Products?$top=1", Header: http.Header{"Accept": {"application/json"}}},
		{ID: "2", Method: "POST", URL: "/odata/Products/$query", Header: http.Header{}, Body: []byte("$top=1"), Group: "g", DependsOn: []string{"1"}},
		{ID: "3", Method: "PATCH", URL: "Products(1)", Header: http.Header{}, Body: []byte(`{"a":1}`)},
		{ID: "4", Method: "PUT", URL: "Products(1)/picture/$value", Header: http.Header{"Content-Type": {"Image/PNG"}}, Body: []byte("\xff\x00\x01")},
		{ID: "5", Method: "PUT", URL: "Products(1)/name/$value", Header: http.Header{"Content-Type": {"text/plain"}}, Body: []byte("𝄞\\ud800\ufffd")},
	}
	if diff := cmp.Diff(want, b.Requests); diff != "" {
		t.Error(diff)
	}
}

// What is wrong with the body of one request is decided by whom it is for, and is no fault of the batch.
func TestReadJSONLeavesBodiesToTheirParts(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	for _, text := range []string{`{"a":1,"a":2}`, `{"a":"\ud800"}`, `["\udfff x"]`, deep, ` [ 1 ,  2 ] `, `5`, `true`} {
		body := `{"requests":[{"id":"1","method":"post","url":"X","body":` + text + `},{"id":"2","method":"post","url":"Y","headers":{"A":"b"},"body":{}},
			{"id":"3","method":"post","url":"Y","headers":{"A":"b"} ,"body":{}},{"id":"4","method":"post","url":"Y","headers":{"A":"b","C":"d"}}]}`
		b, err := batch.Read("application/json", strings.NewReader(body), batch.Limits{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := string(b.Requests[0].Body); got != strings.TrimSpace(text) {
			t.Errorf("%s: the body is %s", text, got)
		}
		want := []http.Header{{}, {"A": {"b"}}, {"A": {"b"}}, {"A": {"b"}, "C": {"d"}}}
		for i, r := range b.Requests {
			if diff := cmp.Diff(want[i], r.Header); diff != "" {
				t.Errorf("%s: headers of %s: %s", text, r.ID, diff)
			}
		}
	}
}

// answer writes three answers: JSON in two writes, text, and a bare status.
func answer(t *testing.T, b batch.Batch) (string, string) {
	t.Helper()
	var out bytes.Buffer
	w := b.Writer(&out, b.MediaTypes()[0])
	send := func(id string, status int, media string, chunks ...string) {
		p := w.Part(batch.Request{ID: id})
		if media != "" {
			p.Header().Set("Content-Type", media)
		}
		p.WriteHeader(status)
		for _, c := range chunks {
			_, _ = io.WriteString(p, c)
		}
		p.Finish()
		if p.Status() != status {
			t.Errorf("status %d, want %d", p.Status(), status)
		}
	}
	send("1", 200, "application/json", `{"a":`, `"\"é"}`)
	send("2", 200, "text/plain", "x\"\xc3", "\xa9")
	send("3", 304, "")
	send("4", 200, "application/octet-stream", "\xff", "\x00\x01")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.ContentType(), out.String()
}

func TestWriteMultipart(t *testing.T) {
	t.Parallel()
	b, err := batch.Read(mixed, strings.NewReader("--b--"), batch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	media, body := answer(t, b)
	_, params, err := mime.ParseMediaType(media)
	if err != nil {
		t.Fatal(err)
	}
	mr := multipart.NewReader(strings.NewReader(body), params["boundary"])
	want := []string{
		"1|HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"a\":\"\\\"é\"}",
		"2|HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nx\"é",
		"3|HTTP/1.1 304 Not Modified\r\n\r\n",
		"4|HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n\xff\x00\x01",
	}
	for _, w := range want {
		part, err := mr.NextRawPart()
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(part)
		if got := part.Header.Get("Content-ID") + "|" + string(raw); got != w {
			t.Errorf("got %q\nwant %q", got, w)
		}
		if part.Header.Get("Content-Type") != "application/http" {
			t.Errorf("part has the type %q", part.Header.Get("Content-Type"))
		}
	}
	if _, err := mr.NextRawPart(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last part: %v", err)
	}
}

func TestWriteJSON(t *testing.T) {
	t.Parallel()
	b, err := batch.Read("application/json", strings.NewReader(`{"requests":[]}`), batch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	_, body := answer(t, b)
	var got any
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	type object = map[string]any
	want := object{"responses": []any{
		object{"id": "1", "status": 200.0, "headers": object{"content-type": "application/json"}, "body": object{"a": `"é`}},
		object{"id": "2", "status": 200.0, "headers": object{"content-type": "text/plain"}, "body": "x\"é"},
		object{"id": "3", "status": 304.0, "headers": object{}},
		object{"id": "4", "status": 200.0, "headers": object{"content-type": "application/octet-stream"}, "body": "_wAB"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWriterKeepsTheError(t *testing.T) {
	t.Parallel()
	b, err := batch.Read(mixed, strings.NewReader("--b--"), batch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	w := b.Writer(failing{}, batch.Multipart)
	p := w.Part(batch.Request{})
	if _, err := p.Write([]byte("x")); err == nil {
		t.Error("a write to a broken connection succeeds")
	}
	p.Finish()
	if err := w.Close(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Close gives %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// same compares the requests of a batch in JSON, which was taken, with what encoding/json makes of it.
func same(t *testing.T, body string, got []batch.Request) {
	t.Helper()
	var want struct {
		Requests []struct {
			ID, Method, URL string
			Group           string `json:"atomicityGroup"`
			Headers         map[string]string
			Body            json.RawMessage
			DependsOn       []string
		}
	}
	if err := json.Unmarshal([]byte(body), &want); err != nil {
		t.Fatalf("%q was taken: %v", body, err)
	}
	if len(got) != len(want.Requests) {
		return // a name in another case
	}
	for i, r := range want.Requests {
		headers := http.Header{}
		for name, value := range r.Headers {
			headers.Set(name, value)
		}
		text := string(r.Body)
		var s string
		if json.Unmarshal(r.Body, &s) == nil {
			text = s
		}
		if strings.Contains(strings.ToLower(body), `"body"`) && string(got[i].Body) != text && headers.Get("Content-Type") == "" || !cmp.Equal(got[i].Header, headers) && len(headers) == len(r.Headers) {
			t.Fatalf("%q was read as %+v, and by encoding/json as %+v", body, got[i], r)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(mixed, crlf("--b", "Content-Type: application/http", "", "GET X HTTP/1.1", "", "", "--b--"))
	f.Add(mixed, crlf("--b", "Content-Type: multipart/mixed;boundary=c", "", "--c", "Content-Type: application/http", "", "POST X HTTP/1.1", "", "{}", "--c--", "--b--"))
	f.Add("application/json", `{"requests":[{"id":"1","method":"get","url":"X","headers":{"a":"b"},"body":"x","dependsOn":[]}]}`)
	f.Add("application/json", `{"requests":[{"id":"1","method":"post","url":"X","headers":{"a":"b"},"body":{"a":1}},{"id":"2","method":"post","url":"X","headers":{"a":"b"},"body":"\ud834\udd1e","dependsOn":null}]}`)
	f.Fuzz(func(t *testing.T, media, body string) {
		limits := batch.Limits{Parts: 5, Bytes: 4096}
		b, err := batch.Read(media, strings.NewReader(body), limits)
		if err != nil {
			return
		}
		if len(b.Requests) > limits.Parts {
			t.Errorf("%d requests pass a limit of %d", len(b.Requests), limits.Parts)
		}
		if b.MediaTypes()[0] == batch.JSON {
			same(t, body, b.Requests)
		}
		for _, r := range b.Requests {
			if strings.ContainsAny(r.ID+r.Method+fmt.Sprint(r.Header), "\r\n") && strings.HasPrefix(media, "multipart") {
				t.Errorf("a line end in %+v", r)
			}
		}
	})
}
