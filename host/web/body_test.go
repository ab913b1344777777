package web_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// TestHalfSentBodies holds that a client that stops in the middle of a body loses
// its connection, whether the body is read or not.
func TestHalfSentBodies(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"read":     func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) },
		"not read": func(http.ResponseWriter, *http.Request) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := pacedServer(t, web.Route{Kind: web.Data}, handler)
			for range 30 {
				c := halfSent(t, server)
				t.Cleanup(func() { _ = c.Close() })
				defer func() { // ends when the server closes the connection
					if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
						t.Error(err)
					}
				}()
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
	})
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
		m := web.NewMiddleware(web.NewSite(web.SiteOptions{}), nil, hclog.NewNullLogger(), func(string, int, time.Duration) {}, nil)
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

func pacedServer(t *testing.T, route web.Route, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	site := web.NewSite(web.SiteOptions{})
	m := web.NewMiddleware(site, func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}, hclog.NewNullLogger(), func(string, int, time.Duration) {}, nil)
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
