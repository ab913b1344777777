package web_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// TestHalfSentBodies holds that a client that stops in the middle of 300 bodies
// loses all its connections, whether the bodies are read or not, under the default
// limits. Those that are read count as refused, with one line in the log.
func TestHalfSentBodies(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		refused int64
	}{
		"read":     {func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }, 300},
		"not read": {func(http.ResponseWriter, *http.Request) {}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var refused atomic.Int64
			var log bytes.Buffer // safe after the server has ended
			limits := web.NewLimits(web.LimitOptions{}, hclog.New(&hclog.LoggerOptions{Output: &log}), func(limit string) {
				if limit == "body_deadline" {
					refused.Add(1)
				}
			})
			server := pacedServer(t, web.Route{Kind: web.Data}, test.handler, limits)
			var open []net.Conn
			for range 300 {
				open = append(open, halfSent(t, server))
			}
			for _, c := range open { // the copy ends when the server closes the connection
				if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
					t.Error(err)
				}
				_ = c.Close()
			}
			server.Close()
			if refused.Load() != test.refused {
				t.Errorf("%d refusals, want %d", refused.Load(), test.refused)
			}
			want := min(int(test.refused), 1)
			if n := strings.Count(log.String(), "limit=body_deadline"); n != want || strings.Count(log.String(), "50 bytes came") != want {
				t.Errorf("%d lines: %s", n, log.String())
			}
		})
	}
}

// TestWholeBody sends a body in two halves, which arrives whole.
func TestWholeBody(t *testing.T) {
	t.Parallel()
	var got string
	server := pacedServer(t, web.Route{Kind: web.Data}, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = string(b)
		_ = http.NewResponseController(w).Flush()
	}, nil)
	c := halfSent(t, server)
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, strings.Repeat("b", 50)); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if want := strings.Repeat("a", 50) + strings.Repeat("b", 50); got != want {
		t.Errorf("the body is %q", got)
	}
}

// TestUploadsAreNotPaced holds that the body of an upload has no deadline.
func TestUploadsAreNotPaced(t *testing.T) {
	t.Parallel()
	for _, uploads := range []bool{false, true} {
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		m := web.NewMiddleware(web.NewSite(web.SiteOptions{}), nil, hclog.NewNullLogger(), telemetry.New(), noLimits(), nil)
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/", strings.NewReader("a"))
		m.Wrap(web.Route{Uploads: uploads}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		if (w.set == 0) != uploads {
			t.Errorf("uploads %t: %d deadlines", uploads, w.set)
		}
	}
}

// deadlines counts the deadlines for reading.
type deadlines struct {
	*httptest.ResponseRecorder
	set int
}

func (d *deadlines) SetReadDeadline(time.Time) error { d.set++; return nil }

func pacedServer(t *testing.T, route web.Route, handler http.HandlerFunc, limits *web.Limits) *httptest.Server {
	t.Helper()
	site := web.NewSite(web.SiteOptions{})
	if limits == nil {
		limits = noLimits()
	}
	m := web.NewMiddleware(site, func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}, hclog.NewNullLogger(), telemetry.New(), limits, nil)
	server := httptest.NewServer(m.Wrap(route, handler))
	t.Cleanup(server.Close)
	return server
}

func halfSent(t *testing.T, server *httptest.Server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: "+server.Listener.Addr().String()+"\r\nContent-Length: 100\r\n\r\n"+strings.Repeat("a", 50)); err != nil {
		t.Fatal(err)
	}
	return c
}
