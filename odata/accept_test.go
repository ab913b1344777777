package odata_test

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// A raw value is text whatever parameters the type that is asked for lacks.
func TestTextIsAcceptable(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3, padding: 2}, nil)
	for _, accept := range []string{"text/plain", "text/*", "*/*", "text/plain;charset=utf-8"} {
		r := httptest.NewRequest("GET", "/odata/Numbers(2)/Text/$value", nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != 200 || w.Body.String() != "xx" {
			t.Errorf("%s gives %d %s", accept, w.Code, w.Body)
		}
	}
}

// What is wrong with a batch is said in the words of the format, never in those
// of a parser.
func TestMalformedBatches(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3}, nil)
	tests := []struct {
		name, kind, body string
		status           int
		words            string
	}{
		{"list", "application/json", `[]`, 400, "the body is not an object"},
		{"text for the list", "application/json", `{"requests":"x"}`, 400, "requests is not an array"},
		{"cut off", "application/json", `{"requests":[`, 400, "ends too early"},
		{"no JSON", "application/json", `{x}`, 400, "not JSON at byte 1"},
		{"empty multipart", "multipart/mixed;boundary=b", ``, 400, "ends before its closing boundary"},
		{"groups apart", "application/json", `{"requests":[{"id":"1","method":"GET","url":"Numbers","atomicityGroup":"g"},{"id":"2","method":"GET","url":"Numbers"},{"id":"3","method":"GET","url":"Numbers","atomicityGroup":"g"}]}`, 400, "not adjacent"},
		{"line end in an id", "application/json", `{"requests":[{"id":"1\r\nX: y","method":"GET","url":"Numbers"}]}`, 400, "control character"},
	}
	for _, tt := range tests {
		r := httptest.NewRequest("POST", "/odata/$batch", strings.NewReader(tt.body))
		r.Header.Set("Content-Type", tt.kind)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.words) || strings.Contains(w.Body.String(), "Go ") {
			t.Errorf("%s gives %d %s", tt.name, w.Code, w.Body)
		}
	}
}

// A part of a batch has no entity tag, with which OpenUI5 cannot cope, unless it
// asks by one: see TestBatchParts.
func TestPartsHaveNoEntityTag(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 3}, nil)
	for range 2 { // the second answer may be a remembered one
		body := `{"requests":[{"id":"1","method":"GET","url":"Numbers/$count"},{"id":"2","method":"GET","url":"Numbers"}]}`
		r := httptest.NewRequest("POST", "/odata/$batch", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != 200 || strings.Contains(strings.ToLower(w.Body.String()), "etag") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		page := get(t, s, "/odata/Numbers")
		if page.Header().Get("ETag") == "" {
			t.Error("a page outside of a batch lost its tag")
		}
	}
}
