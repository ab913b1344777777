package web_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// A seatedServer answers /slow when the test ends, and everything else at once. Each address of the
// network 127.0.0.0/8 is a client.
type seatedServer struct {
	t       *testing.T
	address string
	begun   chan struct{}
}

func newSeatedServer(t *testing.T, files uint64, trusted ...netip.Prefix) *seatedServer {
	t.Helper()
	s := &seatedServer{t: t, begun: make(chan struct{}, 100)}
	done := make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			s.begun <- struct{}{}
			<-done
		}
		_, _ = io.WriteString(w, "ok")
	})
	server := httptest.NewUnstartedServer(handler)
	site := web.NewSite(web.SiteOptions{TrustedProxies: trusted, PublicURL: &url.URL{Scheme: "http", Host: "x"}})
	fail := func(w http.ResponseWriter, _ *http.Request, err error) { fault.As(err).Write(w, "") }
	m := web.NewMiddleware(site, fail, hclog.NewNullLogger(), telemetry.New(), noLimits(), nil)
	server.Listener = m.Listen(server.Config, server.Listener, files)
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(done) })
	s.address = server.Listener.Addr().String()
	return s
}

// ask sends a request over a new connection from an address, and leaves that open.
func (s *seatedServer) ask(from, path string) net.Conn {
	s.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 5 * time.Second}
	c, err := d.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	_, _ = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
	if path == "/slow" {
		select {
		case <-s.begun:
		case <-time.After(5 * time.Second):
			s.t.Fatalf("%s was not served", from)
		}
	}
	return c
}

// status returns that of the answer on a connection, 0 where it was closed.
func status(c net.Conn) int {
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	return resp.StatusCode
}

// A client at its bound loses what it does not use, and never a request that is under way.
func TestConnectionsOfOneClient(t *testing.T) {
	s := newSeatedServer(t, 24) // 3 for a client, 12 for all
	quiet := s.ask("127.0.0.2", "/")
	if got := status(quiet); got != http.StatusOK {
		t.Fatal(got)
	}
	time.Sleep(300 * time.Millisecond)
	s.ask("127.0.0.2", "/slow")
	s.ask("127.0.0.2", "/slow")
	s.ask("127.0.0.2", "/slow")
	if n, err := quiet.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the connection that was not used is open: %d, %v", n, err)
	}
	if got := status(s.ask("127.0.0.2", "/")); got != 0 {
		t.Errorf("a fourth connection beside three in use is answered with %d", got)
	}
	if got := status(s.ask("127.0.0.3", "/")); got != http.StatusOK {
		t.Errorf("another client is answered with %d", got)
	}
}

// A client whose connections are all in use is asked for its health, as by the watchdog of a host whose
// proxy on the same machine is no trusted one.
func TestConnectionsOfAFullClientKeptForHealth(t *testing.T) {
	s := newSeatedServer(t, 64) // 8 for a client, 1 of them for health
	for range 7 {
		s.ask("127.0.0.2", "/slow")
	}
	for _, tt := range []struct {
		path string
		want int
	}{{"/healthz", 200}, {"/readyz", 200}, {"/", 503}, {"/healthz", 200}} {
		if got := status(s.ask("127.0.0.2", tt.path)); got != tt.want {
			t.Errorf("%s is answered with %d, want %d", tt.path, got, tt.want)
		}
		time.Sleep(300 * time.Millisecond) // until the host may close it
	}
}

// Where clients hold all that there is, /healthz and /readyz are answered, and nothing else.
func TestConnectionsKeptForHealth(t *testing.T) {
	s := newSeatedServer(t, 24) // 3 for a client, 12 for all, 1 of them for health
	for i := range 11 {
		s.ask(fmt.Sprintf("127.0.0.%d", 10+i/3), "/slow")
	}
	for _, tt := range []struct {
		path string
		want int
	}{{"/healthz", 200}, {"/readyz", 200}, {"/", 503}, {"/healthz", 200}} {
		c := s.ask("127.0.0.2", tt.path)
		if got := status(c); got != tt.want {
			t.Errorf("%s is answered with %d, want %d", tt.path, got, tt.want)
		}
		_ = c.Close()
		time.Sleep(50 * time.Millisecond) // until the host knows
	}
}

// A trusted proxy has as many connections as it opens.
func TestConnectionsOfATrustedProxy(t *testing.T) {
	s := newSeatedServer(t, 24, netip.MustParsePrefix("127.0.0.2/32"))
	for range 30 {
		s.ask("127.0.0.2", "/slow")
	}
	if got := status(s.ask("127.0.0.3", "/")); got != http.StatusOK {
		t.Errorf("another client is answered with %d", got)
	}
}
