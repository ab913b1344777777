package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
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
// docs/operations.md, and no request fails. Balancers ask more often here and hosts
// drain shorter than by default; ROLLING=defaults takes the documented numbers.
func TestRollingRestart(t *testing.T) {
	dsn := dbtest.Postgres(t)
	balancers := []*balancer{newBalancer(t, "haproxy"), newBalancer(t, "caddy")}
	drain, every := "5s", "500ms"
	if os.Getenv("ROLLING") == "defaults" {
		drain, every = "", "2s"
	}
	hosts := []*rollingHost{newRollingHost(t, dsn, drain), newRollingHost(t, dsn, drain)}
	password(t, dsn)
	for _, h := range hosts {
		h.start(t)
	}
	var all sync.WaitGroup
	for _, b := range balancers {
		b.start(t, every, hosts)
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
	dir := t.TempDir()
	site := "server {\n  public_url = \"https://app.example.com\"\n}\ndatabase {\n  driver = \"postgres\"\n  dsn    = \"" + dsn + "\"\n}\nroute \"home\" {\n  path = \"/\"\n  file = \"home.html\"\n}\n" +
		"route \"dashboard\" {\n  path = \"/dashboard\"\n  redirect = \"/\"\n}\n"
	for name, text := range map[string]string{"config.hcl": site, "home.html": "home"} {
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
	if drain != "" {
		h.flags = append(h.flags, "--set", "server.drain="+drain)
	}
	return h
}

// password adds Ada to the database.
func password(t *testing.T, dsn string) {
	t.Helper()
	h := newRollingHost(t, dsn, "")
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

func (h *rollingHost) start(t *testing.T) {
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
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the host did not get ready: %q, %v: %s", line, err, h.text(t))
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

// A balancer is started by the documentation's recipe.
type balancer struct {
	name, program, listen string
	done                  context.Context
	finish                context.CancelFunc

	mu     sync.Mutex
	asked  int
	failed []string
}

func newBalancer(t *testing.T, name string) *balancer {
	t.Helper()
	b := &balancer{name: name, listen: unusedAddress(t)}
	for _, place := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name} {
		if found, err := exec.LookPath(place); err == nil {
			b.program = found
		}
	}
	if b.program == "" && os.Getenv("REQUIRE_PROXIES") != "" {
		t.Fatalf("no %s: apt-get install %s", name, name)
	}
	if b.program == "" {
		t.Skipf("no %s: apt-get install %s", name, name)
	}
	b.done, b.finish = context.WithCancel(context.Background())
	t.Cleanup(b.finish)
	return b
}

// start fills the test's addresses into the recipe, and waits until it listens.
func (b *balancer) start(t *testing.T, every string, hosts []*rollingHost) {
	t.Helper()
	_, port, _ := net.SplitHostPort(b.listen)
	language, file := "haproxy", "haproxy.cfg"
	own := []string{"bind :443 ssl crt /etc/haproxy/app.pem", "bind " + b.listen, "inter 2s", "inter " + every}
	args := []string{"-db", "-f"}
	if b.name == "caddy" {
		language, file = "caddyfile", "Caddyfile"
		own = []string{"app.example.com {", "{\n\tadmin off\n}\nhttp://127.0.0.1:" + port + " {", "health_interval 2s", "health_interval " + every}
		args = []string{"run", "--adapter", "caddyfile", "--config"}
	}
	for i, h := range hosts {
		own = append(own, fmt.Sprintf("10.0.0.%d:8080", i+1), h.address)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, file)
	if err := os.WriteFile(path, []byte(fill(t, operationsRecipe(t, language), own)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	cmd := exec.Command(b.program, append(args, path)...)
	cmd.Env, cmd.Dir = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir), dir
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s: %s", b.name, output.String())
		}
	})
	for range 600 {
		if resp, err := http.Get("http://" + b.listen + "/healthz"); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s does not answer", b.name)
}

// operationsRecipe returns the text of the documentation's block in one language.
func operationsRecipe(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(text), "\n```"+language+"\n")
	block, _, ended := strings.Cut(block, "\n```\n")
	if !found || !ended {
		t.Fatalf("docs/operations.md has no recipe in %s", language)
	}
	return block
}

// fill replaces what must be in the recipe.
func fill(t *testing.T, text string, pairs []string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the recipe does not say %s", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// ask sends requests through the balancer until the test is over, and until there
// were enough: a page that is not there, a session, and now and then a sign-in, which
// no balancer may repeat. Every other client opens a connection for each.
func (b *balancer) ask(n int) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: n%2 == 0}, Timeout: time.Minute}
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
	err := answers(client, method, "http://"+b.listen+path, body, want)
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

// unusedAddress returns a loopback address that nobody listens on.
func unusedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
