package web_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

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
				defer resp.Body.Close() //nolint:errcheck // read to its end
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
