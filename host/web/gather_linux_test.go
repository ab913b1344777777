package web_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// connected is a client with one connection, which it tells.
func connected(t *testing.T, server *httptest.Server) (client *http.Client, socket func() *net.TCPConn) {
	t.Helper()
	var dialed *net.TCPConn
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			dialed = c.(*net.TCPConn)
		}
		return c, err
	}
	client = server.Client()
	transport := client.Transport.(*http.Transport).Clone()
	transport.DialContext = dial
	transport.DisableCompression = true
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, func() *net.TCPConn { return dialed }
}

// segments are those with data that a connection has received.
func segments(t *testing.T, c *net.TCPConn) (n uint32) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	failed := raw.Control(func(fd uintptr) {
		var info *unix.TCPInfo
		if info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			n = info.Data_segs_in
		}
	})
	if failed != nil || err != nil {
		t.Skip("this system does not count the segments of a connection:", failed, err)
	}
	return n
}

// A block that fits into one segment of the loopback device arrives in one, with the head before it.
func TestGatherSendsABlockAtOnce(t *testing.T) {
	for _, c := range []struct {
		name, start string
		length      bool // net/http is told how much will come
	}{
		{"plain", "plain", true},
		{"plain in chunks", "plain", false},
		{"TLS", "TLS", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			block := block(20_000)
			server := gathered(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.length {
					w.Header().Set("Content-Length", fmt.Sprint(len(block)))
				}
				_, _ = w.Write(block)
			}, started()[c.start])
			client, socket := connected(t, server)
			ask := func() {
				resp, err := client.Get(server.URL)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				if body, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(body, block) {
					t.Fatalf("%d bytes: %v", len(body), err)
				}
			}
			ask()
			before := segments(t, socket())
			ask()
			want := uint32(1)
			if !c.length {
				want = 2 // the end of the chunks comes when the handler has returned
			}
			if n := segments(t, socket()) - before; n != want {
				t.Errorf("an answer of 20 kB came in %d segments, want %d", n, want)
			}
		})
	}
}

// A narrow listener accepts connections that take little, so many times.
type narrow struct {
	net.Listener
	left atomic.Int64
}

func (l *narrow) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil && l.left.Add(-1) >= 0 {
		err = c.(interface{ SetWriteBuffer(bytes int) error }).SetWriteBuffer(4 << 10)
	}
	return c, err
}

// Clients that take nothing do not keep the memory of more and more blocks: from some on blocks are sent in parts.
func TestGatherBoundsWhatItHolds(t *testing.T) {
	const stuck = 300 // more than there is memory for
	server := gathered(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Length", "20000")
			_, _ = w.Write(block(20_000))
			return
		}
		for r.Context().Err() == nil {
			_, _ = w.Write(block(20_000))
		}
	}, func(s *httptest.Server) {
		slim := &narrow{Listener: s.Listener}
		slim.left.Store(stuck)
		s.Listener = slim
		s.Start()
	})
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
		failed := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 4<<10) })
		return cmp.Or(failed, err)
	}}
	for range stuck {
		c, err := dialer.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close() // of which nothing is read
		_, _ = io.WriteString(c, "GET /stuck HTTP/1.1\r\nHost: "+server.Listener.Addr().String()+"\r\n\r\n")
	}
	client, socket := connected(t, server)
	for tries, seen := 0, uint32(0); ; tries++ {
		if err := readBy(client, server.URL, block(20_000)); err != nil {
			t.Fatal(err)
		}
		n := segments(t, socket()) - seen
		if n > 2 {
			return
		}
		if tries == 200 {
			t.Fatalf("two answers still come in one segment each, beside %d clients that take nothing", stuck)
		}
		seen += n
		time.Sleep(50 * time.Millisecond) // until they all have what they take
	}
}
