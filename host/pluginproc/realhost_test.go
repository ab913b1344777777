package pluginproc_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// hostProgram builds the host once.
var hostProgram = sync.OnceValues(func() (string, error) {
	b, err := programs()
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", b.program("vestibule"), "../cmd/vestibule").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the host: %w\n%s", err, out)
	}
	return b.program("vestibule"), nil
})

const password = "a long enough passphrase"

// A realHost is the host's program, serving the fault plugin.
type realHost struct {
	t    *testing.T
	dir  string
	tmp  string // TMPDIR of the host, where nothing may be left
	base string
	cmd  *exec.Cmd
	log  *log
	done chan struct{}
}

// prepare makes a folder with a configuration and a person for each way.
func prepare(t *testing.T, ways []string, start string, more string) *realHost {
	t.Helper()
	h := &realHost{t: t, dir: t.TempDir(), log: &log{}, done: make(chan struct{})}
	var err error
	if h.tmp, err = os.MkdirTemp("/tmp", "vr"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, err := os.ReadDir(h.tmp); err != nil || len(left) > 0 {
			t.Errorf("left in TMPDIR: %v (%v)", left, err)
		}
		if err := os.RemoveAll(h.tmp); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(h.log)
		}
	})
	h.configure(start, more)
	h.exec(`CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, email_verified_at TEXT,
		password TEXT NOT NULL, remember_token TEXT, created_at TEXT, updated_at TEXT, partner_id INTEGER, is_admin INTEGER);
		CREATE TABLE things (id INTEGER PRIMARY KEY); INSERT INTO things VALUES (1);`)
	h.run("migrate")
	h.run("user", "add", "--email", "template@example.com", "--name", "Ada", "--password-stdin")
	for _, way := range ways { // with the same hash, as hashing takes its time
		h.exec(`INSERT INTO users (name, email, password) SELECT name, ?, password FROM users WHERE email = 'template@example.com'`, way+"@example.com")
	}
	return h
}

func (h *realHost) exec(query string, args ...any) {
	h.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(h.dir, "test.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		h.t.Fatal(err)
	}
	_, err = db.Exec(query, args...)
	if err := errors.Join(err, db.Close()); err != nil {
		h.t.Fatal(err)
	}
}

func (h *realHost) configure(start, more string) {
	h.t.Helper()
	text := fmt.Sprintf(`
server {
  address = "127.0.0.1:0"
}
database {
  dsn = "test.db"
}
route "home" {
  path     = "/"
  redirect = "/login"
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/login"
}
plugin "fault" {
  command    = [%q, %q]
  roles      = ["dispenser", "org_setup"]
  user_read  = ["partner_id"]
  user_write = ["partner_id"]
  timeout    = "2s"
  %s
}
odata {
  guard    = "none"
  discover = ["things"]
}
`, program(h.t, "faultplugin"), start, more)
	if err := os.WriteFile(filepath.Join(h.dir, "config.hcl"), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *realHost) command(args ...string) *exec.Cmd {
	h.t.Helper()
	path, err := hostProgram()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = h.dir
	cmd.Env = append(os.Environ(), "TMPDIR="+h.tmp)
	cmd.Stdin = strings.NewReader(password + "\n")
	return cmd
}

func (h *realHost) run(args ...string) string {
	h.t.Helper()
	out, err := h.command(args...).CombinedOutput()
	if err != nil {
		h.t.Fatalf("vestibule %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// serve starts the host and waits until it is ready.
func (h *realHost) serve() {
	h.t.Helper()
	h.cmd = h.command("serve")
	h.cmd.Stderr = h.log
	stdout, err := h.cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(h.stop)
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if i := strings.Index(lines.Text(), "http://"); i >= 0 {
			h.base, _, _ = strings.Cut(lines.Text()[i:], " ")
			h.base = strings.TrimRight(h.base, "/.,")
			break
		}
	}
	go func() {
		defer close(h.done)
		for lines.Scan() {
		}
		_ = h.cmd.Wait() // stop looks at how it ended
	}()
	if h.base == "" {
		h.t.Fatalf("the host did not get ready:\n%s", h.log)
	}
}

// stop ends the host, which must not take longer than a minute.
func (h *realHost) stop() {
	h.t.Helper()
	_ = h.cmd.Process.Signal(os.Interrupt) // without draining; it may have ended
	select {
	case <-h.done:
	case <-time.After(time.Minute):
		h.t.Error("the host did not end within a minute")
		_ = h.cmd.Process.Kill()
		<-h.done
	}
}

// plugins are the process ids of the host's fault plugins.
func (h *realHost) plugins() []int {
	var pids []int
	children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", h.cmd.Process.Pid))
	for _, file := range children {
		text, _ := os.ReadFile(file)
		for _, field := range strings.Fields(string(text)) {
			line, _ := os.ReadFile("/proc/" + field + "/cmdline")
			if pid, err := strconv.Atoi(field); err == nil && bytes.Contains(line, []byte("faultplugin")) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// A response is what a request led to.
type response struct {
	status int
	header http.Header
	body   struct {
		Message, Status string
		Next            struct {
			Kind    string
			Payload struct{ Target, PersonName string }
		}
	}
}

func (h *realHost) post(client *http.Client, path string, body any) response {
	h.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		h.t.Fatal(err)
	}
	resp, err := client.Post(h.base+path, "application/json", bytes.NewReader(text))
	if err != nil {
		h.t.Error(err)
		return response{}
	}
	defer func() { _ = resp.Body.Close() }()
	r := response{status: resp.StatusCode, header: resp.Header}
	if err := json.NewDecoder(resp.Body).Decode(&r.body); err != nil {
		h.t.Error(err)
	}
	return r
}

func (h *realHost) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: 20 * time.Second}
}

func (h *realHost) login(client *http.Client, way string) response {
	h.t.Helper()
	return h.post(client, "/auth/login", map[string]any{"login": way + "@example.com", "password": password})
}

func (h *realHost) get(path string) int {
	h.t.Helper()
	resp, err := http.Get(h.base + path)
	if err != nil {
		h.t.Error(err)
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// Faults of a call, against the real host: it answers as the contract says, makes no
// session, and goes on serving. TestFaultTable of the command has the others.
func TestRealHostSurvivesFaultyCalls(t *testing.T) {
	t.Parallel()
	down := []string{"error", "panic-goroutine", "exit", "hang", "freeze"}
	broken := []string{
		"no-intent", "unknown-kind", "bad-utf8", "raw-utf8", "not-protobuf", "no-effect", "script-target",
		"foreign-target", "control-target", "long-target", "no-target", "credential", "not-a-number", "big-value",
	}
	handler := []string{"handle-error", "handle-panic", "handle-exit", "handle-hang"}
	judged := []string{"handle-ungranted", "handle-raw-status", "handle-not-a-result"}
	ways := append(append(append(append([]string{"good", "done", "loop", "setup"}, down...), broken...), handler...), judged...)
	h := prepare(t, ways, "ok", "")
	h.serve()
	for _, way := range down {
		t.Run(way, func(t *testing.T) {
			r := h.login(h.browser(), way)
			if r.status != http.StatusServiceUnavailable || r.body.Message != "dispenser_unavailable" || r.header.Get("Retry-After") == "" {
				t.Errorf("got %+v", r)
			}
			h.unharmed(t, r)
		})
	}
	for _, way := range broken {
		t.Run(way, func(t *testing.T) {
			r := h.login(h.browser(), way)
			if r.status != http.StatusBadGateway || r.body.Message != "dispenser_contract" {
				t.Errorf("got %+v", r)
			}
			h.unharmed(t, r)
		})
	}
	form := map[string]any{"legal_form": 1, "org_name": "x", "company_size": "solo", "function": "other", "marketing_consent": false}
	for _, way := range append(handler, judged...) {
		t.Run(way, func(t *testing.T) {
			browser := h.browser()
			if r := h.login(browser, way); r.status != http.StatusOK || r.body.Next.Kind != "org_setup" {
				t.Fatalf("got %+v", r)
			}
			r := h.post(browser, "/auth/intents/org-setup", form)
			if strings.HasPrefix(way, "handle-e") && r.body.Message != "handler_unavailable" || r.status != http.StatusServiceUnavailable && r.status != http.StatusBadGateway {
				t.Errorf("got %+v", r)
			}
			resp, err := browser.Get(h.base + "/auth/intents/current")
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("the loop does not stay: %v, %v", resp, err)
			}
			_ = resp.Body.Close()
		})
	}
	t.Run("setup", func(t *testing.T) {
		browser := h.browser()
		h.login(browser, "setup")
		if r := h.post(browser, "/auth/intents/org-setup", form); r.status != http.StatusOK || r.body.Next.Kind != "redirect" {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("loop", func(t *testing.T) {
		browser := h.browser()
		h.login(browser, "loop")
		for range 4 {
			if r := h.post(browser, "/auth/intents/org-setup", form); r.status != http.StatusOK || r.body.Next.Kind != "org_setup" {
				t.Errorf("got %+v", r)
			}
		}
		if !strings.Contains(h.log.String(), "again and again") {
			t.Error("the loop was not warned about")
		}
	})
	if strings.Contains(h.log.String(), password) {
		t.Error("the password is in the log")
	}
}

// unharmed makes sure that a failed sign-in left no session and the host serving.
func (h *realHost) unharmed(t *testing.T, r response) {
	t.Helper()
	for _, c := range r.header["Set-Cookie"] {
		if !strings.Contains(c, "Max-Age=0") && !strings.Contains(c, "01 Jan 1970") {
			t.Errorf("a session was made: %s", c)
		}
	}
	if text := fmt.Sprint(r.body); strings.Contains(text, "secret detail") {
		t.Errorf("a person reads an internal error: %s", text)
	}
	if status := h.get("/odata/things"); status != http.StatusOK {
		t.Errorf("/odata answers %d", status)
	}
	ok := within(20*time.Second, func() bool { return h.login(h.browser(), "good").status == http.StatusOK })
	if !ok {
		t.Error("nobody gets in any more")
	}
}

// Every start that a host must refuse ends with one line that names the plugin,
// and code 1.
func TestRealHostRefusesFaultyStarts(t *testing.T) {
	t.Parallel()
	h := prepare(t, nil, "ok", "")
	for _, start := range []string{"exit", "panic", "wrong-cookie", "wrong-protocol", "net-rpc", "address-missing", "lacks-role", "configure-fails"} {
		t.Run(start, func(t *testing.T) {
			h.configure(start, "")
			out, err := h.command("serve").CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Fatalf("%v: %s", err, out)
			}
			named := 0
			for line := range strings.Lines(string(out)) {
				if strings.Contains(line, `plugin "fault"`) {
					named++
				}
			}
			if named != 1 {
				t.Errorf("%d lines name the plugin:\n%s", named, out)
			}
		})
	}
	t.Run("configure-mistake", func(t *testing.T) {
		h.configure("configure-mistake", "config {\n    rules = [{ target = \"/a\" },\n      { target = \"b\" }]\n  }")
		out, err := h.command("check").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "config.hcl:") || !strings.Contains(string(out), "it must be a path") {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// A plugin that answers its health check and nothing else: three people wait in vain, the
// process is replaced, /readyz says so, and the next one gets in.
func TestRealHostReplacesADeadlock(t *testing.T) {
	t.Parallel()
	people := []string{"hang", "hang+2", "hang+3"}
	h := prepare(t, append(people, "good"), "ok", "")
	h.serve()
	before := h.plugins()
	var all sync.WaitGroup
	for _, who := range people {
		all.Go(func() {
			if r := h.login(h.browser(), who); r.status != http.StatusServiceUnavailable {
				t.Errorf("got %+v", r)
			}
		})
	}
	all.Wait()
	if !within(patience, func() bool { now := h.plugins(); return len(now) == 1 && now[0] != before[0] }) {
		t.Error("it was not replaced")
	}
	if !within(patience, func() bool { return h.get("/readyz") == http.StatusServiceUnavailable }) {
		t.Error("/readyz does not say so")
	}
	if r := h.login(h.browser(), "good"); r.status != http.StatusOK {
		t.Errorf("got %+v", r)
	}
	if !within(patience, func() bool { return h.get("/readyz") == http.StatusOK }) {
		t.Error("it answers, and /readyz does not say so")
	}
}

// People sign in while the plugin is killed and exchanged by SIGHUP.
func TestRealHostUnderKillsAndSwaps(t *testing.T) {
	t.Parallel()
	h := prepare(t, []string{"good"}, "ok", "")
	h.serve()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var underWay sync.RWMutex // for a sign-in meets one disturbance at most: a call is made again once
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				underWay.RLock()
				r := h.login(h.browser(), "good")
				underWay.RUnlock()
				if r.status != http.StatusOK {
					t.Errorf("a sign-in failed: %+v", r)
					return
				}
			}
		})
	}
	ready := func() int { return strings.Count(h.log.String(), "ready: plugin=fault") }
	disturb := func(i int) {
		if i%2 == 0 {
			for _, pid := range h.plugins() {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have been exchanged
			}
			return
		}
		h.configure("ok", fmt.Sprintf("config {\n    number = %d\n  }", i))
		if err := h.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Error(err)
		}
	}
	for i := range 6 {
		before := ready()
		disturb(i)
		if !within(30*time.Second, func() bool { return ready() > before }) {
			t.Errorf("no process got ready after disturbance %d", i)
		}
		underWay.Lock()
		underWay.Unlock() //nolint:staticcheck // it waits for those who hold it, and keeps nobody out
	}
	cancel()
	all.Wait()
	h.configure("exit", "")
	if err := h.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if !within(30*time.Second, func() bool { return strings.Contains(h.log.String(), "no licence found") }) {
		t.Error("the broken plugin was not reported")
	}
	if r := h.login(h.browser(), "good"); r.status != http.StatusOK {
		t.Errorf("a broken reload took the old plugin away: %+v", r)
	}
}

// A host that is told to stop during a call lets it finish, or gives it up.
func TestRealHostStopsDuringACall(t *testing.T) {
	t.Parallel()
	h := prepare(t, []string{"hang", "slow"}, "ok", "")
	h.serve()
	outcome := make(chan response, 2)
	for _, way := range []string{"hang", "slow"} {
		go func() { outcome <- h.login(h.browser(), way) }()
	}
	h.log.arrived(t, 2)
	h.stop()
	got := map[int]bool{(<-outcome).status: true, (<-outcome).status: true}
	if !got[http.StatusOK] || !got[http.StatusServiceUnavailable] {
		t.Errorf("the calls ended with %v, want one 200 and one 503", got)
	}
}
