package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A reader of the log that stands still, goes away, or comes back costs lines, which are
// counted, and never a request. A signal still ends the host.
func TestLogReader(t *testing.T) {
	for _, tt := range []struct {
		name string
		// begin is what becomes of the reader before the requests, and end before the signal.
		begin, end func(t *testing.T, reader *os.File)
	}{
		{name: "stands still"},
		{name: "goes away", begin: hangUp},
		{name: "goes away after the requests", end: hangUp},
		{name: "comes back", end: expectLostLines},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd, base, admin, reader := serveWithLogIn(t)
			if tt.begin != nil {
				tt.begin(t, reader)
			}
			fillLog(t, base)
			if lost := metricOf(t, admin, "vestibule_log_lines_lost_total"); lost == 0 {
				t.Error("no line was lost, so that the test shows nothing")
			}
			if tt.end != nil {
				tt.end(t, reader)
			}
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("the host ended with %v", err)
				}
			case <-time.After(20 * time.Second):
				t.Error("the host did not end")
			}
		})
	}
}

// Lines are counted from the start, and a host whose log is read loses none.
func TestLogLinesLostFromTheStart(t *testing.T) {
	_, base, admin, reader := serveWithLogIn(t)
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	get(t, base+"/healthz")
	if lost := metricOf(t, admin, "vestibule_log_lines_lost_total"); lost != 0 {
		t.Errorf("%v lines were lost", lost)
	}
}

func hangUp(t *testing.T, reader *os.File) {
	t.Helper()
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
}

// expectLostLines reads the log until it says how many of its lines were lost, and leaves
// the rest to be read.
func expectLostLines(t *testing.T, reader *os.File) {
	t.Helper()
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(reader)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "lines of the log were lost") {
				select {
				case found <- lines.Text():
				default:
				}
			}
		}
	}()
	select {
	case line := <-found:
		if n := regexp.MustCompile(`lines=(\d+)`).FindStringSubmatch(line); n == nil || n[1] == "0" {
			t.Errorf("the log says %q", line)
		}
	case <-time.After(20 * time.Second):
		t.Error("the log does not say that lines were lost")
	}
}

// serveWithLogIn starts a host whose standard error output is a pipe.
func serveWithLogIn(t *testing.T) (cmd *exec.Cmd, base, admin string, reader *os.File) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "config.hcl")
	admin = freeAddress(t)
	text := fmt.Sprintf("server {\n  address       = \"127.0.0.1:0\"\n  admin_address = %q\n  drain = \"0s\"\n}\n", admin)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	cmd = vestibuleCommand(t, "-c", file, "serve")
	cmd.Stderr = writer
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if base = regexp.MustCompile(`http://\S+`).FindString(line); base == "" {
		t.Fatalf("the host did not get ready: %q, %v", line, err)
	}
	return cmd, base, "http://" + admin, reader
}

// fillLog asks until the log has more lines than a pipe and the host keep.
func fillLog(t *testing.T, base string) {
	t.Helper()
	long := strings.Repeat("x", 8<<10)
	for range 600 {
		get(t, base+"/"+long)
	}
	get(t, base+"/healthz")
}

func get(t *testing.T, address string) {
	t.Helper()
	client := http.Client{Timeout: 10 * time.Second}
	resp, err := client.Get(address)
	if err != nil {
		t.Fatal("no answer: ", err.(*url.Error).Err) //nolint:forcetypeassert,errorlint // net/http returns no other
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

// metricOf returns the value of a series without labels.
func metricOf(t *testing.T, admin, name string) float64 {
	t.Helper()
	resp, err := http.Get(admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("there is no series %s", name)
	return 0
}
