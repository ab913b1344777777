package web_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// gathered is a server of what the middleware wraps.
func gathered(t *testing.T, handler http.HandlerFunc, start func(*httptest.Server)) *httptest.Server {
	t.Helper()
	wrap := web.NewMiddleware(web.NewSite(web.SiteOptions{}), nil, hclog.NewNullLogger(), telemetry.New(), nil)
	server := httptest.NewUnstartedServer(wrap.Wrap(web.Route{Name: "blocks"}, handler))
	server.Listener = web.Gather(server.Config, server.Listener)
	start(server)
	t.Cleanup(server.Close)
	return server
}

// started are the ways to serve.
func started() map[string]func(*httptest.Server) {
	return map[string]func(*httptest.Server){
		"plain":  (*httptest.Server).Start,
		"TLS":    (*httptest.Server).StartTLS,
		"HTTP 2": func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() },
	}
}

// Whatever the sizes of the blocks, each of several answers at the same time is what was written.
func TestGatherKeepsBodies(t *testing.T) {
	for name, start := range started() {
		t.Run(name, func(t *testing.T) {
			server := gathered(t, func(w http.ResponseWriter, r *http.Request) {
				var size, blocks int
				_, _ = fmt.Sscanf(r.URL.Path, "/%d/%d", &size, &blocks)
				for range blocks {
					_, _ = w.Write(block(size))
				}
			}, start)
			for _, size := range []int{0, 1, 2047, 2048, 3500, 4096, 4097, 8192, 32 << 10, 64<<10 - 1, 64 << 10, 200_000} {
				for _, blocks := range []int{1, 3} {
					failed := make(chan error)
					for range 4 {
						go func() { failed <- read(server, fmt.Sprintf("/%d/%d", size, blocks), bytes.Repeat(block(size), blocks)) }()
					}
					for range 4 {
						if err := <-failed; err != nil {
							t.Errorf("%d blocks of %d bytes: %v", blocks, size, err)
						}
					}
				}
			}
		})
	}
}

// block is one of a size, none of whose parts is like another.
func block(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

// read asks twice, by the same connection where it is free.
func read(server *httptest.Server, path string, want []byte) error {
	return readBy(server.Client(), server.URL+path, want)
}

func readBy(client *http.Client, address string, want []byte) error {
	for range 2 {
		resp, err := client.Get(address)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || !bytes.Equal(body, want) {
			return fmt.Errorf("%d bytes of %d, or others: %w", len(body), len(want), err)
		}
	}
	return nil
}

// Who wrote to a client that is gone hears of it.
func TestGatherTellsOfAClientThatIsGone(t *testing.T) {
	told := make(chan error, 1)
	server := gathered(t, func(w http.ResponseWriter, _ *http.Request) {
		block := make([]byte, 30<<10)
		for range 10_000 {
			if _, err := w.Write(block); err != nil {
				told <- err
				return
			}
		}
		told <- nil
	}, (*httptest.Server).Start)
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: "+server.Listener.Addr().String()+"\r\n\r\n")
	if _, err := io.ReadFull(c, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if err := <-told; err == nil {
		t.Error("300 MB were written to a client that is gone")
	}
}

// Closing a server breaks the answers that their clients do not take, also over TLS, whose last message would have to wait
// behind what is held: 5 s for each connection, one after the other.
func TestGatherLetsAServerClose(t *testing.T) {
	const clients = 4
	var sent atomic.Int64
	ended := make(chan error, clients)
	server := gathered(t, func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 30<<10)); err != nil {
				ended <- err
				return
			}
			sent.Add(1)
		}
	}, (*httptest.Server).StartTLS)
	for range clients {
		c, err := tls.Dial("tcp", server.Listener.Addr().String(), server.Client().Transport.(*http.Transport).TLSClientConfig)
		if err != nil {
			t.Fatal(err)
		}
		defer c.NetConn().Close()
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: "+server.Listener.Addr().String()+"\r\n\r\n")
	}
	for before := int64(-1); sent.Load() == 0 || sent.Load() != before; time.Sleep(100 * time.Millisecond) {
		before = sent.Load() // until all buffers are full; a moment too early, and there is less to break
	}
	closed := make(chan error, 1)
	go func() { closed <- server.Config.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the server waits for clients that take nothing")
	}
	for range clients {
		if err := <-ended; err == nil {
			t.Error("an answer did not hear that its connection was closed")
		}
	}
}
