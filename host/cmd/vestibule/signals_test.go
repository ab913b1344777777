package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/websocket"
)

// SIGTERM drains: balancers learn it, and people are answered. SIGINT does not, and a
// second signal of either kind ends the host at once. WebSockets last for the drain and
// are cut at its end.
func TestStopSignals(t *testing.T) {
	const never = "1h" // longer than the test
	for _, tt := range []struct {
		name    string
		signals []os.Signal
		drains  bool
		code    int
	}{
		{"an interrupt", []os.Signal{os.Interrupt}, false, exitOK},
		{"twice to terminate", []os.Signal{syscall.SIGTERM, syscall.SIGTERM}, true, exitFailed},
		{"to terminate, then an interrupt", []os.Signal{syscall.SIGTERM, os.Interrupt}, true, exitFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd, base := serveAlone(t, "server.drain="+never)
			socket, err := websocket.Dial(strings.Replace(base, "http", "ws", 1)+"/app/echo", "", base)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = socket.Close() }()
			for i, signal := range tt.signals {
				if err := cmd.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				if i == 0 && tt.drains {
					lookAtDraining(t, base)
					if err := echoed(socket); err != nil {
						t.Error("a WebSocket while the host drains:", err)
					}
				}
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case err := <-ended:
				var exit *exec.ExitError
				if err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != tt.code {
					t.Errorf("the host ended with %v, want %d", err, tt.code)
				}
				if echoed(socket) == nil {
					t.Error("a WebSocket outlives the host")
				}
			case <-time.After(time.Minute):
				t.Error("the host did not end")
			}
		})
	}
}

// echoed sends a text over a WebSocket and waits for it to come back.
func echoed(socket *websocket.Conn) error {
	var text string
	if err := websocket.Message.Send(socket, "a text"); err != nil {
		return err
	}
	return websocket.Message.Receive(socket, &text)
}

// lookAtDraining wants what a host answers while it drains.
func lookAtDraining(t *testing.T, base string) {
	t.Helper()
	var got struct{ Checks map[string]string }
	for range 600 {
		resp, err := http.Get(base + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(resp.Body).Decode(&got)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if got.Checks["draining"] != "" {
			if resp.StatusCode != http.StatusServiceUnavailable || got.Checks["database"] != "ok" {
				t.Errorf("/readyz is %d %v", resp.StatusCode, got.Checks)
			}
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	resp, err := http.Get(base + "/auth/bootstrap")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK || !resp.Close || got.Checks["draining"] == "" {
		t.Errorf("a request is answered with %d, connection closed %t; checks %v", resp.StatusCode, resp.Close, got.Checks)
	}
}

// serveAlone starts a host on a new SQLite database, with an application that echoes
// over WebSockets, and returns its address.
func serveAlone(t *testing.T, set string, env ...string) (*exec.Cmd, string) {
	t.Helper()
	cmd, line := startAlone(t, set, env...)
	base := regexp.MustCompile(`http://\S+`).FindString(line)
	if base == "" {
		t.Fatalf("the host did not get ready: %q", line)
	}
	return cmd, base
}

// startAlone is serveAlone, and returns the first line of the host's output.
func startAlone(t *testing.T, set string, env ...string) (*exec.Cmd, string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "config.hcl")
	echo := httptest.NewServer(websocket.Handler(func(c *websocket.Conn) { _, _ = io.Copy(c, c) }))
	t.Cleanup(echo.Close)
	text := "server {\n  address = \"127.0.0.1:0\"\n}\nroute \"app\" {\n  path  = \"/app\"\n  proxy = \"" + echo.URL + "\"\n  guard = \"none\"\n}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := vestibuleCommand(t, "-c", file, "--set", set, "serve")
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the host did not get ready: %q, %v", line, err)
	}
	return cmd, line
}

// The ready line has the listening address, and public_url where people use another one.
func TestReadyLine(t *testing.T) {
	for _, tt := range []struct{ name, set, want string }{
		{"the listening address", "server.drain=0s", `^vestibule 2\.\S+ is ready at http://127\.0\.0\.1:[1-9][0-9]*\n$`},
		{"and public_url", "server.public_url=https://app.example.com", `^vestibule 2\.\S+ is ready at http://127\.0\.0\.1:[1-9][0-9]* \(public_url https://app\.example\.com\)\n$`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, line := startAlone(t, tt.set)
			if !regexp.MustCompile(tt.want).MatchString(line) {
				t.Errorf("the line is %q", line)
			}
		})
	}
}

// SIGHUP while the host starts, when its plugins do not run yet, neither ends it nor keeps
// it from starting.
func TestReloadWhileStarting(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.hcl")
	text := "server {\n  address = \"127.0.0.1:0\"\n  drain = \"0s\"\n}\nplugin \"orgs\" {\n  command = [\"" + filepath.Join(buildPlugins(t), "orgsetup") + "\"]\n" +
		"  roles = [\"dispenser\", \"org_setup\"]\n  config {\n    column = \"name\"\n  }\n  user_read = [\"name\"]\n  user_write = [\"name\"]\n}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := vestibuleCommand(t, "-c", file, "serve")
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	// The program inherits that the signal is ignored, as from nohup, until it asks for it.
	signal.Ignore(syscall.SIGHUP)
	err = cmd.Start()
	signal.Reset(syscall.SIGHUP)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		ready <- line
	}()
	line := ""
	for waiting := true; waiting; {
		_ = cmd.Process.Signal(syscall.SIGHUP)
		select {
		case line = <-ready: // empty if the host has ended
			waiting = false
		case <-time.After(3 * time.Millisecond):
		}
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	go func() { done <- cmd.Wait() }()
	if err := <-done; err != nil || !strings.Contains(line, "is ready at") {
		t.Errorf("the host says %q and ends with %v: %s", line, err, log.String())
	}
}
