package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// One address that holds as many connections as it gets keeps nobody from pages, /healthz,
// /readyz and the admin address, itself included: a host that may have 200 files serves on.
func TestConnectionsOfOneAddress(t *testing.T) {
	for _, tt := range []struct{ name, sent string }{
		{"that say nothing", ""},
		{"that have asked once", "GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, admin := serveWithFewFiles(t, 200)
			address := strings.TrimPrefix(base, "http://")
			var held []net.Conn
			t.Cleanup(func() {
				for _, c := range held {
					_ = c.Close()
				}
			})
			for range 400 {
				c, err := net.DialTimeout("tcp", address, 5*time.Second)
				if err != nil {
					t.Fatal(err)
				}
				held = append(held, c)
				if tt.sent != "" {
					_, _ = fmt.Fprintf(c, tt.sent, address)
				}
			}
			time.Sleep(time.Second) // requests that were sent are answered
			start := time.Now()
			for _, path := range []string{base + "/auth/bootstrap", base + "/readyz", base + "/healthz", "http://" + admin + "/metrics"} {
				client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
				resp, err := client.Get(path)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					t.Errorf("%s: %s", path, resp.Status)
				}
			}
			t.Logf("four requests took %v", time.Since(start))
			open := 0
			for _, c := range held {
				_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
				if _, err := io.Copy(io.Discard, c); os.IsTimeout(err) {
					open++
				}
			}
			if open > 200/8 {
				t.Errorf("the address holds %d connections", open)
			}
			if n := metricOf(t, "http://"+admin, `vestibule_refused_total{limit="connections"}`); n == 0 {
				t.Error("no connection was counted")
			}
		})
	}
}

// serveWithFewFiles starts a host that may have so many files.
func serveWithFewFiles(t *testing.T, files int) (base, admin string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// What the program runs is in its name.
	if err := os.Symlink(program, filepath.Join(dir, "vestibule")); err != nil {
		t.Fatal(err)
	}
	admin = freeAddress(t)
	text := fmt.Sprintf("server {\n  address = \"127.0.0.1:0\"\n  admin_address = %q\n}\n", admin)
	if err := os.WriteFile(filepath.Join(dir, "config.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", fmt.Sprintf("ulimit -n %d && exec ./vestibule serve", files))
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if base = regexp.MustCompile(`http://\S+`).FindString(line); base == "" {
		t.Fatalf("the host did not get ready: %q, %v", line, err)
	}
	return base, admin
}
