package pluginproc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// built is where the programs that the tests run were built.
type built struct{ dir string }

func (b built) program(name string) string { return filepath.Join(b.dir, name) }

// programs builds the programs once. TestMain removes them.
var programs = sync.OnceValues(func() (built, error) {
	dir, err := os.MkdirTemp("", "pluginproc")
	if err != nil {
		return built{}, err
	}
	cmd := exec.Command("go", "build", "-o", dir+"/", "./internal/faultplugin", "../../examples/dispenser-go")
	if out, err := cmd.CombinedOutput(); err != nil {
		return built{dir}, fmt.Errorf("build: %w\n%s", err, out)
	}
	return built{dir}, nil
})

func TestMain(m *testing.M) {
	if specs := os.Getenv(hostVariable); specs != "" {
		runAsHost(specs)
	}
	code := m.Run()
	if b, _ := programs(); b.dir != "" {
		_ = os.RemoveAll(b.dir)
	}
	os.Exit(code)
}

func program(t testing.TB, name string) string {
	t.Helper()
	b, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return b.program(name)
}

// faulty is a plugin in both roles that starts in the given way.
func faulty(t testing.TB, start string, args ...string) pluginproc.Spec {
	t.Helper()
	return pluginproc.Spec{
		Name:      "fault",
		Command:   append([]string{program(t, "faultplugin"), start}, args...),
		Roles:     []string{pluginsdk.RoleDispenser, pluginsdk.RoleOrgSetup},
		UserRead:  []string{"partner_id"},
		UserWrite: []string{"partner_id"},
		Env:       map[string]string{"PIDS": t.TempDir(), "ONCE": filepath.Join(t.TempDir(), "once")},
	}
}

// A log collects what a host would log.
type log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// arrived waits until so many calls say that they are under way in the plugin.
func (l *log) arrived(t testing.TB, calls int) {
	t.Helper()
	if !within(patience, func() bool { return strings.Count(l.String(), "the call has arrived") >= calls }) {
		t.Errorf("fewer than %d calls arrived", calls)
	}
}

// counts collects what a host would count.
type counts struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counts) add(key string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[key] += n
}

func (c *counts) get(key string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[key]
}

func (c *counts) metrics() pluginproc.Metrics {
	return pluginproc.Metrics{
		Call:       func(_, method, outcome string, _ time.Duration) { c.add(method+" "+outcome, 1) },
		Up:         func(_ string, up bool) { c.add("up "+strconv.FormatBool(up), 1) },
		Restart:    func(string) { c.add("restart", 1) },
		LogDropped: func(_ string, lines int) { c.add("dropped", lines) },
	}
}

// A host is what the tests stand in for: a manager, its log and its counters.
type host struct {
	*pluginproc.Manager
	log    *log
	counts *counts
	runDir string
}

// newHost returns a manager whose health checks are quick and that must leave
// nothing behind when the test ends.
func newHost(t testing.TB, o pluginproc.Options, specs ...pluginproc.Spec) *host {
	t.Helper()
	h := &host{log: &log{}, counts: &counts{}}
	var err error
	if o.RunDir == "" {
		if o.RunDir, err = os.MkdirTemp("/tmp", "vp"); err != nil {
			t.Fatal(err)
		}
	}
	h.runDir, o.Metrics = o.RunDir, h.counts.metrics()
	if o.Logger == nil {
		o.Logger = hclog.New(&hclog.LoggerOptions{Name: "vestibule", Output: h.log, Level: hclog.Debug})
	}
	if h.Manager, err = pluginproc.New(specs, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
		defer cancel()
		if err := h.Stop(ctx); err != nil {
			t.Error("stop:", err)
		}
		h.left(t, specs)
		if t.Failed() {
			t.Log(h.log)
		}
	})
	return h
}

// started is newHost with the plugins started.
func started(t testing.TB, o pluginproc.Options, specs ...pluginproc.Spec) *host {
	t.Helper()
	h := newHost(t, o, specs...)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

// left fails the test when a file, socket or process is left.
func (h *host) left(t testing.TB, specs []pluginproc.Spec) {
	t.Helper()
	files, err := os.ReadDir(h.runDir)
	if err != nil || len(files) > 0 {
		t.Errorf("left in the private directory: %v (%v)", files, err)
	}
	if err := os.RemoveAll(h.runDir); err != nil {
		t.Error(err)
	}
	for _, s := range specs {
		childrenEnd(t, s)
	}
}

// childrenEnd fails the test when a process of a plugin's group lives on, and ends those
// that have left the group.
func childrenEnd(t testing.TB, s pluginproc.Spec) {
	t.Helper()
	pids, _ := os.ReadDir(s.Env["PIDS"])
	for _, p := range pids {
		number, away := strings.CutPrefix(p.Name(), "away-")
		pid, err := strconv.Atoi(number)
		if err == nil && !away && !within(patience, func() bool { return gone(pid) }) {
			t.Errorf("child %d outlived the plugin", pid)
		}
		if err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

// gone tells whether a process has ended.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ") // nobody reaps it in a container
}

// patience is how long tests wait for what happens at once where nothing else runs.
const patience = 20 * time.Second

// within waits until cond holds, and tells whether it did in time.
func within(limit time.Duration, cond func() bool) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if cond() {
			return true
		}
	}
	return cond()
}

func (h *host) pid() int { return h.Status()[0].PID }

// person is a user for whom the fault plugin behaves in the given way.
func person(way string) pluginsdk.User {
	return pluginsdk.User{ID: "7", Name: "Ada", Email: way + "@example.com", Columns: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"partner_id": nil})}
}

func request() *pluginsdk.Request {
	return &pluginsdk.Request{ID: "r1", IntentID: "i1", Method: "POST", Path: "/auth/login", Locale: "en"}
}

// Dispenser returns the first dispenser, nil without one.
func (h *host) Dispenser() pluginsdk.Dispenser {
	if names := h.Dispensers(); len(names) > 0 {
		return h.Manager.Dispenser(names[0])
	}
	return nil
}

func (h *host) dispense(t testing.TB, way string) (pluginsdk.Intent, error) {
	t.Helper()
	return h.Dispenser().Dispense(t.Context(), person(way), request())
}

func (h *host) handle(t testing.TB, way string, form map[string]pluginsdk.Value) (pluginsdk.Result, error) {
	t.Helper()
	req := request()
	req.Form = pluginsdk.ValuesOf(form)
	return h.OrgSetup().Handle(t.Context(), person(way), req)
}
