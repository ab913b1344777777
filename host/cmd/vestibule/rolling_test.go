package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// rolled is how many requests each balancer passes on at least while the hosts
// behind it are restarted.
const rolled = 2000

// Hosts on one database are restarted one after the other, behind the balancers of
// docs/operations, and no request fails. Balancers ask more often here and hosts
// drain shorter than by default; ROLLING=defaults takes the documented numbers, and
// nginx as well, which asks no host whether it is ready.
func TestRollingRestart(t *testing.T) {
	dsn := dbtest.Postgres(t)
	balancers := []*balancer{newBalancer(t, "haproxy"), newBalancer(t, "caddy")}
	drain, every := "5s", "500ms"
	if os.Getenv("ROLLING") == "defaults" {
		drain, every = "", "2s"
		balancers = append(balancers, newBalancer(t, "nginx"))
	}
	hosts := []*rollingHost{newRollingHost(t, dsn, drain), newRollingHost(t, dsn, drain)}
	password(t, dsn)
	for _, h := range hosts {
		h.start(t)
	}
	var all sync.WaitGroup
	for _, b := range balancers {
		b.start(t, every, hosts[0].address, hosts[1].address)
		for n := range 4 {
			all.Go(func() { b.ask(n) })
		}
	}
	for _, h := range hosts {
		h.waitUntilUsed(t, balancers)
		h.restart(t)
		h.waitUntilUsed(t, balancers)
	}
	for _, b := range balancers {
		b.finish()
	}
	all.Wait()
	for _, b := range balancers {
		t.Logf("%s: %d requests, %d failed", b.name, b.asked, len(b.failed))
		if b.asked < rolled || len(b.failed) > 0 {
			t.Errorf("%s: %d of %d requests failed, want none of %d at least: %s", b.name, len(b.failed), b.asked, rolled, strings.Join(b.failed, "; "))
		}
	}
}

// A rollingHost is a real host whose address stays the same from one start to the
// next.
type rollingHost struct {
	address string
	flags   []string
	cmd     *exec.Cmd
	log     *os.File
}

func newRollingHost(t *testing.T, dsn, drain string) *rollingHost {
	t.Helper()
	h := hostWith(t, "server {\n  public_url = \"https://app.example.com\"\n}\ndatabase {\n  driver = \"postgres\"\n  dsn    = \""+dsn+"\"\n}\nroute \"home\" {\n  path = \"/\"\n  file = \"home.html\"\n}\n"+
		"route \"dashboard\" {\n  path = \"/dashboard\"\n  redirect = \"/\"\n}\n")
	if drain != "" {
		h.flags = append(h.flags, "--set", "server.drain="+drain)
	}
	return h
}

// hostWith returns a host with a configuration and a file home.html, which has not been started.
func hostWith(t *testing.T, config string) *rollingHost {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"config.hcl": config, "home.html": "home"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	h := &rollingHost{address: unusedAddress(t), log: log}
	h.flags = []string{"-c", filepath.Join(dir, "config.hcl"), "--set", "server.address=" + h.address, "--set", "mail.dir=" + dir}
	return h
}

// password adds Ada to the database.
func password(t *testing.T, dsn string) {
	t.Helper()
	newRollingHost(t, dsn, "").addAda(t)
}

func (h *rollingHost) addAda(t *testing.T) {
	t.Helper()
	cmd := vestibuleCommand(t, append(h.flags, "user", "add", "--email", "ada@example.com", "--name", "Ada", "--password-stdin")...)
	cmd.Stdin = strings.NewReader("engine-of-analysis-1843\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// vestibuleCommand is this very program as the command.
func vestibuleCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Args[0] = "vestibule" // which is what TestMain then runs
	return cmd
}

// start starts the host and returns when it is ready.
func (h *rollingHost) start(t *testing.T) {
	t.Helper()
	if line, err := bufio.NewReader(h.launch(t)).ReadString('\n'); err != nil {
		t.Fatalf("the host did not get ready: %q, %v: %s", line, err, h.text(t))
	}
}

// launch starts the host and returns its output.
func (h *rollingHost) launch(t *testing.T) io.Reader {
	t.Helper()
	cmd := vestibuleCommand(t, append(h.flags, "serve")...)
	cmd.Stderr = h.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.cmd = cmd
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return out
}

// kill ends the host with SIGKILL.
func (h *rollingHost) kill(t *testing.T) {
	t.Helper()
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var ended *exec.ExitError
	if err := h.cmd.Wait(); !errors.As(err, &ended) || ended.ExitCode() != -1 {
		t.Fatalf("the host had ended with %v: %s", err, h.text(t))
	}
}

// restart ends the host as systemd does, and starts it anew.
func (h *rollingHost) restart(t *testing.T) {
	t.Helper()
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Wait(); err != nil {
		t.Fatalf("the host ended with %v: %s", err, h.text(t))
	}
	if err := h.log.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if _, err := h.log.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	h.start(t)
}

func (h *rollingHost) text(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(h.log.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// waitUntilUsed returns when all balancers send requests to the host.
func (h *rollingHost) waitUntilUsed(t *testing.T, balancers []*balancer) {
	t.Helper()
	for _, b := range balancers {
		for n := 0; !strings.Contains(h.text(t), "path=/"+b.name); n++ {
			if n == 600 {
				t.Fatalf("%s does not use the host: %s", b.name, h.text(t))
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// ask sends requests through the balancer until the test is over, and until there
// were enough: a page that is not there, a session, and now and then a sign-in, which
// no balancer may repeat. Every other client opens a connection for each.
func (b *balancer) ask(n int) {
	client := b.client(n%2 == 1)
	defer client.CloseIdleConnections()
	for i := 0; !b.enough(); i++ {
		switch {
		case n == 0 && i%25 == 0: // one at a time, or they would count as attempts
			b.one(client, http.MethodPost, "/auth/login", `{"login":"ada@example.com","password":"engine-of-analysis-1843"}`, http.StatusOK)
		case i%4 == 0:
			b.one(client, http.MethodGet, "/"+b.name, "", http.StatusNotFound)
		default:
			b.one(client, http.MethodGet, "/auth/bootstrap", "", http.StatusOK)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (b *balancer) enough() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.done.Err() != nil && b.asked >= rolled
}

func (b *balancer) one(client *http.Client, method, path, body string, want int) {
	err := answers(client, method, "https://app.example.com"+path, body, want)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	if err != nil && len(b.failed) < 20 {
		b.failed = append(b.failed, fmt.Sprintf("%s %s: %v", method, path, err))
	}
}

func answers(client *http.Client, method, url, body string, want int) error {
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != want {
		err = fmt.Errorf("%d %.200s", resp.StatusCode, text)
	}
	return err
}
