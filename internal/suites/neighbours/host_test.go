package neighbours

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	login    = "innocent@example.com"
	password = "a-password-for-neighbours"
)

// running is a host under attack.
type running struct {
	driver, base string
	pid          int
}

// startHost starts the real command with its defaults over a million products.
func startHost(t *testing.T, driver string) *running {
	t.Helper()
	dir := t.TempDir()
	h := &running{driver: driver}
	h.start(t, dir, fmt.Sprintf(`
server { address = "127.0.0.1:0" }
database {
  driver = %q
  dsn    = %q
}
mail { transport = "log" }
route "home" {
  path     = "/"
  redirect = "/login"
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/"
}
odata {
  guard = "none"
  entity_set "Products" { table = "products" }
  entity_set "People" {
    table = "people"
    navigation "knows" {
      to       = "People"
      many     = true
      via      = "knows"
      from_key = "a"
      to_key   = "b"
    }
  }
}
`, driver, makeDatabase(t, driver, dir)), func() {})
	return h
}

// start starts the real command, with one person, once prepare is done with the database.
func (h *running) start(t *testing.T, dir, config string, prepare func()) {
	t.Helper()
	bin := filepath.Join(dir, "vestibule")
	if out, err := exec.Command("go", "build", "-o", bin, "../../../host/cmd/vestibule").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.hcl"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(stdin string, args ...string) *exec.Cmd {
		cmd := exec.Command(bin, args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		return cmd
	}
	if out, err := run("", "migrate").CombinedOutput(); err != nil {
		t.Fatalf("migrate: %v\n%s", err, out)
	}
	if out, err := run(password, "user", "add", "--email", login, "--name", "Innocent", "--password-stdin").CombinedOutput(); err != nil {
		t.Fatalf("user add: %v\n%s", err, out)
	}
	prepare()
	cmd := run("", "serve")
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the host ended with %v", err)
		}
		_ = log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			lines := bytes.Split(text, []byte("\n"))
			t.Logf("the end of the log:\n%s", bytes.Join(lines[max(0, len(lines)-15):], []byte("\n")))
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	h.base, h.pid = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(line), cmd.Process.Pid
	if h.base == "" {
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("no address in %q (%v)\n%s", line, err, text)
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
}

func dialer(from string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
}

// client has an address and cookies of its own.
func client(from string) *http.Client {
	jar, _ := cookiejar.New(nil) // never fails
	return &http.Client{
		Jar: jar, Timeout: time.Minute, Transport: &http.Transport{DialContext: dialer(from).DialContext, MaxIdleConnsPerHost: connections},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// watch is what the innocent clients do for so long.
func (h *running) watch(t *testing.T, d time.Duration) measurement {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var m measurement
	var mu sync.Mutex
	var wg sync.WaitGroup
	// loop runs f until ctx ends, and notes how long each call took. What ctx cut off counts with the time that it
	// took until then, so that one who waits for ever is seen, and is no failure.
	loop := func(into *[]time.Duration, what string, pause time.Duration, f func() error) {
		wg.Go(func() {
			for ctx.Err() == nil {
				start := time.Now()
				err := f()
				took := time.Since(start)
				mu.Lock()
				*into = append(*into, took)
				if err != nil && ctx.Err() == nil {
					m.failures = append(m.failures, fmt.Sprintf("%s after %v: %v", what, took.Round(time.Millisecond), err))
				}
				mu.Unlock()
				select {
				case <-time.After(pause):
				case <-ctx.Done():
				}
			}
		})
	}
	c, next := client(innocent), ""
	loop(&m.pages, "page", 20*time.Millisecond, func() (err error) {
		next, err = h.page(ctx, c, next)
		return err
	})
	loop(&m.signIns, "sign-in", 500*time.Millisecond, func() error { return h.signIn(ctx, client(innocent)) })
	w := client(watcher)
	loop(&m.ready, "/readyz", 200*time.Millisecond, func() error {
		_, err := h.do(ctx, w, http.MethodGet, h.base+"/readyz", "")
		return err
	})
	wg.Go(func() {
		for ctx.Err() == nil {
			m.memory = max(m.memory, anonymous(h.pid))
			time.Sleep(50 * time.Millisecond)
		}
	})
	wg.Wait()
	return m
}

// page reads a page, the first where next is empty, and returns the link to the one after it.
func (h *running) page(ctx context.Context, c *http.Client, next string) (string, error) {
	if next == "" {
		next = h.base + "/odata/Products?$orderby=price"
	}
	body, err := h.do(ctx, c, http.MethodGet, next, "")
	if err != nil {
		return "", err
	}
	var page struct {
		Value []json.RawMessage `json:"value"`
		Next  string            `json:"@odata.nextLink"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return "", err
	}
	if len(page.Value) == 0 {
		return "", errors.New("a page without rows")
	}
	return page.Next, nil
}

func (h *running) signIn(ctx context.Context, c *http.Client) error {
	_, err := h.do(ctx, c, http.MethodPost, h.base+"/auth/login", fmt.Sprintf(`{"login":%q,"password":%q}`, login, password))
	return err
}

func (h *running) do(ctx context.Context, c *http.Client, method, target, body string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %.200s", resp.StatusCode, text)
	}
	return text, err
}

// anonymous is the memory of a process that no file stands behind, in bytes.
func anonymous(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	var kib int64
	_, _ = fmt.Sscan(rest, &kib)
	return kib << 10
}
