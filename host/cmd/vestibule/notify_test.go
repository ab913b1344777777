package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// The service manager hears that the host is ready, that it is alive, and that it stops.
func TestNotify(t *testing.T) {
	dir, err := os.MkdirTemp("", "notify") // the path of a socket has room for about 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, tt := range []struct{ name, address, told string }{
		{"a path", filepath.Join(dir, "socket"), filepath.Join(dir, "socket")},
		{"an abstract name", "\x00" + filepath.Join(dir, "abstract"), "@" + filepath.Join(dir, "abstract")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: tt.address, Net: "unixgram"})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = socket.Close() }()
			cmd, _ := serveAlone(t, "server.drain=0s", "NOTIFY_SOCKET="+tt.told, "WATCHDOG_USEC=100000")
			hear(t, socket, "READY=1", "WATCHDOG=1", "WATCHDOG=1")
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			hear(t, socket, "STOPPING=1")
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The watchdog is silent for as long as /healthz of the host does not answer.
func TestWatchdogAsksTheHost(t *testing.T) {
	dir, err := os.MkdirTemp("", "notify")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	address := filepath.Join(dir, "socket")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	t.Setenv("NOTIFY_SOCKET", address)
	t.Setenv("WATCHDOG_USEC", "40000")
	t.Setenv("WATCHDOG_PID", "")
	var answers atomic.Bool
	var asked atomic.Int64
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		newNotifier().watchdog(ctx, func(ctx context.Context) error {
			if asked.Add(1); answers.Load() {
				return nil
			}
			if _, limited := ctx.Deadline(); !limited {
				t.Error("the host may take any time to answer")
			}
			return errors.New("no answer")
		})
	}()
	for asked.Load() < 5 {
		time.Sleep(time.Millisecond)
	}
	if err := socket.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := socket.Read(make([]byte, 100)); err == nil {
		t.Errorf("the manager heard %d bytes of a host that does not answer", n)
	}
	answers.Store(true)
	hear(t, socket, "WATCHDOG=1", "WATCHDOG=1")
	cancel()
	<-ended
}

// hear wants the words in any order, and whatever else between them.
func hear(t *testing.T, socket *net.UnixConn, words ...string) {
	t.Helper()
	missing := map[string]int{}
	for _, w := range words {
		missing[w]++
	}
	if err := socket.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	for len(missing) > 0 {
		n, err := socket.Read(buffer)
		if err != nil {
			t.Fatalf("%v; not heard: %v", err, missing)
		}
		word := string(buffer[:n])
		if missing[word]--; missing[word] <= 0 {
			delete(missing, word)
		}
	}
}
