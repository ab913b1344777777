package web_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// proxied is a server in front of an application, with what it logs.
func proxied(t *testing.T, application http.HandlerFunc) (server *httptest.Server, logged func() string) {
	t.Helper()
	upstream := httptest.NewServer(application)
	t.Cleanup(upstream.Close)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	fail := func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
	proxy := web.NewProxy(web.ProxyOptions{Target: target}, web.NewSite(web.SiteOptions{}), fail)
	var told safeBuffer
	middleware := web.NewMiddleware(web.NewSite(web.SiteOptions{}), nil, hclog.NewNullLogger(), telemetry.New(), noLimits(), nil)
	server = httptest.NewUnstartedServer(middleware.Wrap(web.Route{Name: "application"},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { proxy.Serve(w, r, auth.Principal{}) })))
	server.Config.ErrorLog = log.New(&told, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return server, told.String
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// post sends a body whose length nobody knows before.
func post(server *httptest.Server, body io.Reader) ([]byte, error) {
	resp, err := server.Client().Post(server.URL+"/", "application/octet-stream", io.MultiReader(body))
	if err != nil {
		return nil, err
	}
	got, err := io.ReadAll(resp.Body)
	return got, errors.Join(err, resp.Body.Close())
}

// block returns size bytes, no part of which is like another.
func block(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

// A slowly reader gives a little at a time.
type slowly struct{ io.Reader }

func (s slowly) Read(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return s.Reader.Read(p[:min(len(p), 9000)])
}

// An application that answers while a body still comes gets all of it.
func TestProxyPassesAWholeBodyToWhoAnswersBefore(t *testing.T) {
	server, logged := proxied(t, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		for piece := make([]byte, 9000); ; {
			n, err := r.Body.Read(piece)
			_, _ = w.Write(piece[:n])
			_ = http.NewResponseController(w).Flush()
			if err != nil {
				return
			}
		}
	})
	want := block(1 << 20)
	got, err := post(server, slowly{bytes.NewReader(want)})
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d, or others: %v; log: %s", len(got), len(want), err, logged())
	}
}

// A body that the application does not read harms neither its answer nor what is asked next.
func TestProxyAnswersThoughABodyIsNotRead(t *testing.T) {
	server, logged := proxied(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "no, thanks") })
	for _, size := range []int{1, 3000, 100_000} {
		for range 2 {
			if got, err := post(server, bytes.NewReader(block(size))); err != nil || string(got) != "no, thanks" {
				t.Errorf("body of %d: %q, %v", size, got, err)
			}
		}
	}
	if strings.Contains(logged(), "panic") {
		t.Error(logged())
	}
}

// An answer without a type passes without one: a guess would make a page of a text that somebody has uploaded.
func TestProxyGuessesNoType(t *testing.T) {
	tests := map[string]func(w http.ResponseWriter){
		"in chunks": func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, "<html>")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(10 * time.Millisecond)
		},
		"at once": func(http.ResponseWriter) {},
		"in parts": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "60012")
			_, _ = w.Write(block(60_000))
		},
	}
	for name, before := range tests {
		t.Run(name, func(t *testing.T) {
			server, _ := proxied(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil
				before(w)
				_, _ = io.WriteString(w, "<html><body>")
			})
			for range 20 {
				resp, err := server.Client().Get(server.URL)
				if err != nil {
					t.Fatal(err)
				}
				if err := resp.Body.Close(); err != nil {
					t.Fatal(err)
				}
				if got, set := resp.Header["Content-Type"]; set {
					t.Fatalf("the type is %q", got)
				}
			}
		})
	}
}

// A flushes counts the flushes of an answer.
type flushes struct {
	http.ResponseWriter
	n int
}

func (f *flushes) FlushError() error {
	f.n++
	return http.NewResponseController(f.ResponseWriter).Flush()
}

// An answer is flushed before its end only if its length is not known, or if its type is that of a stream.
func TestOnlyStreamsAreFlushed(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if length := r.FormValue("length"); length != "" {
			w.Header().Set("Content-Length", length)
		}
		w.Header().Set("Content-Type", r.FormValue("type"))
		_, _ = w.Write(block(6600))
		if r.FormValue("length") == "" {
			_ = http.NewResponseController(w).Flush() // else net/http would know the length
		}
	}))
	defer upstream.Close()
	target, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := web.NewProxy(web.ProxyOptions{Target: target}, web.NewSite(web.SiteOptions{}), nil)
	for query, flushed := range map[string]bool{
		"type=text/html&length=6600": false, "type=text/html": true, "type=text/event-stream&length=6600": true, "type=text/event-stream": true,
	} {
		seen := make(chan int, 1)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			counted := &flushes{ResponseWriter: w}
			proxy.Serve(counted, r, auth.Principal{})
			seen <- counted.n
		}))
		resp, err := server.Client().Get(server.URL + "/?" + query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil || !bytes.Equal(got, block(6600)) {
			t.Errorf("%s: %d bytes, %v", query, len(got), err)
		}
		if n := <-seen; n > 0 != flushed {
			t.Errorf("%s: flushed %d times", query, n)
		}
		server.Close()
	}
}

// Buffers are shared by requests: each answer is that of its own request.
func TestAnswersAtOnce(t *testing.T) {
	server, _ := proxied(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat(r.URL.Path, 20_000))
	})
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for k := range 20 {
				path := fmt.Sprintf("/%x%x", i, k)
				resp, err := server.Client().Get(server.URL + path)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := io.ReadAll(resp.Body)
				if err := errors.Join(err, resp.Body.Close()); err != nil || string(got) != strings.Repeat(path, 20_000) {
					t.Errorf("%s: %d bytes of another answer, %v", path, len(got), err)
				}
			}
		})
	}
	all.Wait()
}
