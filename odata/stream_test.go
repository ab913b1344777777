package odata_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

func TestSlowDatabase(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 1, dawdle: time.Minute}, func(o *odata.Options, _ *edm.Model) { o.Timeout = 10 * time.Millisecond })
	if w := get(t, s, "/odata/Numbers"); w.Code != 503 || !strings.Contains(w.Body.String(), "too slow") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestBrokenAnswerBreaksTheConnection(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(service(t, &numbers{total: 10000, padding: 100, failAt: 5000}, nil))
	defer srv.Close()
	resp, err := http.Get(srv.URL + "/odata/Numbers?$top=10000")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil {
		t.Errorf("an answer that broke off ends well after %d bytes", len(body))
	}
	if resp.StatusCode != 200 || len(body) == 0 || json.Valid(body) {
		t.Errorf("%d, %d bytes, valid JSON: %v", resp.StatusCode, len(body), json.Valid(body))
	}
}

// TestSlowReader takes twice the time that the database has for one block,
// which is not the database's fault.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	const limit = 500 * time.Millisecond
	s := service(t, &numbers{total: 300, padding: 1000}, func(o *odata.Options, _ *edm.Model) { o.Timeout = limit })
	w := &sleepy{ResponseRecorder: httptest.NewRecorder(), pause: 2 * limit}
	s.ServeHTTP(w, httptest.NewRequest("GET", "/odata/Numbers?$top=300", nil))
	if p := pageOf(t, w.Body.String()); len(p.Value) != 300 {
		t.Errorf("%d rows", len(p.Value))
	}
}

// sleepy is a client that pauses once.
type sleepy struct {
	*httptest.ResponseRecorder
	pause time.Duration
}

func (s *sleepy) Write(b []byte) (int, error) {
	time.Sleep(s.pause)
	s.pause = 0
	return s.ResponseRecorder.Write(b)
}

func TestMemoryDoesNotGrowWithTop(t *testing.T) {
	s := service(t, &numbers{total: 3e5, padding: 150}, nil)
	w := &counter{header: http.Header{}}
	r := httptest.NewRequest("GET", "/odata/Numbers?$top=300000", nil)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s.ServeHTTP(w, r)
	runtime.ReadMemStats(&after)
	if w.bytes < 50e6 {
		t.Fatalf("only %d bytes came", w.bytes)
	}
	// What was allocated in all bounds what was held at any time.
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d bytes were allocated for %d rows", grown, int(3e5))
	}
}

// counter is a client that reads everything and keeps nothing.
type counter struct {
	header http.Header
	bytes  int
}

func (c *counter) Header() http.Header         { return c.header }
func (c *counter) WriteHeader(int)             {}
func (c *counter) Write(b []byte) (int, error) { c.bytes += len(b); return len(b), nil }

func TestRowsAreClosed(t *testing.T) {
	t.Parallel()
	source := &numbers{total: 10}
	s := service(t, source, nil)
	for _, target := range []string{"/odata/Numbers", "/odata/Numbers(1)", "/odata/Numbers(99)", "/odata/Numbers/$count", "/odata/Numbers(1)/Nothing"} {
		get(t, s, target)
		if opened, closed := source.opened.Load(), source.closed.Load(); opened == 0 || opened != closed {
			t.Errorf("after %s: %d opened, %d closed", target, opened, closed)
		}
	}
}

func TestClientThatLeft(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 1, dawdle: time.Minute}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/odata/Numbers", nil))
	if w.Code < 500 {
		t.Errorf("%d", w.Code)
	}
}
