package pluginproc_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A process that dies during a call is noticed at once, whatever the pause between
// health checks: with an interval of ten minutes, which made the second check come a
// minute later, the call still has the time for its repetition.
func TestDeathDuringACallIsNoticed(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{HealthInterval: 10 * time.Minute}, faulty(t, "ok"))
	if _, err := h.dispense(t, "once"); err != nil {
		t.Error("the call was not made again:", err)
	}
	if n := h.Status()[0].Restarts; n != 1 {
		t.Errorf("%d restarts", n)
	}
}

// Sign-ins go on while a dispenser that works 150 ms is killed every second.
// BenchmarkKilledEverySecond tells how long they take, also when a call has one second in
// all, which is too little for a test on a machine that is busy.
func TestNoSignInFailsWhileTheDispenserWorks(t *testing.T) {
	t.Parallel()
	spec := faulty(t, "ok")
	spec.Timeout = 3 * time.Second
	h := started(t, pluginproc.Options{}, spec)
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for range 12 {
				if _, err := h.dispense(t, "work"); err != nil {
					t.Error("a sign-in failed:", err)
					return
				}
			}
		})
	}
	killed := 0
	done := make(chan struct{})
	go func() { callers.Wait(); close(done) }()
	for under := true; under; {
		select {
		case <-done:
			under = false
		case <-time.After(time.Second):
			if pid := h.pid(); pid > 0 {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
				killed++
			}
		}
	}
	if killed == 0 {
		t.Error("it was never killed; the test does not test much")
	}
}

// What the plugin's own code says is its answer, whatever code it chooses: the process
// stays, other calls go on at once, and the caller reads the plugin's text.
func TestOwnStatusIsNoBrokenConnection(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{}, faulty(t, "ok"))
	before := h.pid()
	for _, way := range []string{"says-unavailable", "says-canceled", "says-late"} {
		t.Run(way, func(t *testing.T) {
			for range 4 {
				_, err := h.dispense(t, way)
				if !errors.Is(err, pluginsdk.ErrUnavailable) || !strings.Contains(err.Error(), "chosen by the plugin") {
					t.Errorf("got %v", err)
				}
			}
			if strings.Contains(h.log.String(), "made again") {
				t.Error("the call was made again, as if the connection had broken")
			}
			if _, err := h.dispense(t, "any"); err != nil || h.pid() != before {
				t.Errorf("afterwards: %v; another process: %v", err, h.pid() != before)
			}
		})
	}
}

// A plugin that answers nothing but its health check is replaced, and says that it is
// late until its successor has answered, if people wait for it.
func TestDeadlockedPluginIsReplaced(t *testing.T) {
	t.Parallel()
	spec := faulty(t, "ok")
	spec.Timeout = 2 * time.Second // which a call that is answered has, too, on a busy machine
	h := started(t, pluginproc.Options{}, spec)
	before := h.pid()
	for range 2 {
		if _, err := h.dispense(t, "hang"); !errors.Is(err, pluginsdk.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	if _, err := h.dispense(t, "any"); err != nil || h.pid() != before {
		t.Fatal("two calls out of time are not three in a row:", err)
	}
	for _, id := range []string{"7", "8", "9"} {
		user := person("hang")
		user.ID = id
		_, _ = h.Dispenser().Dispense(t.Context(), user, request()) // as above
	}
	if !within(patience, func() bool { return h.pid() > 0 && h.pid() != before }) {
		t.Fatal("it was not replaced")
	}
	err := h.Ready()
	if err == nil || !strings.Contains(err.Error(), "late") || !strings.Contains(err.Error(), "3 calls in a row ran out of time (timeout = 2s)") {
		t.Errorf("the report does not say so: %v", err)
	}
	if !within(patience, func() bool { _, err := h.dispense(t, "any"); return err == nil }) || h.Ready() != nil {
		t.Error("it answers again:", h.Ready())
	}
}

// Whoever cleans up /tmp takes sockets and copies of programs with it. The next process
// gets new ones, and what was made anew goes with the host like what was there before.
func TestVanishedFolderIsMadeAnew(t *testing.T) {
	t.Parallel()
	sum, err := pluginproc.Sum(program(t, "faultplugin"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"all of it", "the copies"} {
		for kind, want := range map[string]string{"copied": sum, "in place": ""} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				spec := faulty(t, "ok")
				spec.SHA256 = want
				h := started(t, pluginproc.Options{}, spec)
				gone, err := filepath.Glob(h.runDir + map[string]string{"all of it": "/vestplug*", "the copies": "/vestplug*/bin*"}[name])
				if err != nil || len(gone) == 0 && want != "" {
					t.Fatal("there is nothing to remove:", err)
				}
				for _, path := range gone {
					if err := os.RemoveAll(path); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 {
					if err := syscall.Kill(h.pid(), syscall.SIGKILL); err != nil {
						t.Fatal(err)
					}
					if _, err := h.dispense(t, "any"); err != nil {
						t.Error(err)
					}
				}
				if h.Status()[0].SHA256 != sum {
					t.Error("another program runs")
				}
			})
		}
	}
}

// What a plugin says has a limit and cannot move a cursor, wherever it is shown, and
// neither is it taken for a broken connection.
func TestWhatAPluginSaysIsTamed(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{}, faulty(t, "ok", "1\x1b[2J\u202e"+strings.Repeat("9", 200)))
	before := h.pid()
	for way, want := range map[string]string{
		"says-much": "bytes more)", "says-too-much": "unavailable", "says-escapes": `red \u001b[31m\u000d\u000a[INFO] \u202eforged`,
	} {
		_, err := h.dispense(t, way)
		if !errors.Is(err, pluginsdk.ErrUnavailable) || !strings.Contains(err.Error(), want) || len(err.Error()) > 500 {
			t.Errorf("%s: got %v, want %q", way, err, want)
		}
	}
	if _, err := h.dispense(t, "any"); err != nil || h.pid() != before || strings.Contains(h.log.String(), "made again") {
		t.Errorf("afterwards: %v; another process: %v", err, h.pid() != before)
	}
	version := h.Status()[0].Version
	if !strings.HasPrefix(version, `1\u001b[2J\u202e999`) || len(version) > 100 {
		t.Errorf("the version is %q", version)
	}
	if strings.ContainsAny(h.log.String(), "\x1b\u202e") {
		t.Error("escapes are in the log")
	}
}

// A granted column that is too large for a call is left out and logged; the person gets
// in. The others are told.
func TestLargeColumnLocksNobodyOut(t *testing.T) {
	t.Parallel()
	spec := faulty(t, "ok")
	spec.UserRead = []string{"partner_id", "photo", "notes", "plan"}
	h := started(t, pluginproc.Options{}, spec)
	user := person("echo")
	user.Name = strings.Repeat("ü", 5<<20)
	user.Columns = pluginsdk.ValuesOf(map[string]pluginsdk.Value{
		"partner_id": 7, "photo": make([]byte, 5<<20), "notes": strings.Repeat("n", 900<<10), "plan": "pro",
	})
	u, _ := h.Told(user, request())
	if u.Columns.Has("photo") || !u.Columns.Has("notes") || !u.Columns.Has("plan") || !u.Columns.Has("partner_id") {
		t.Errorf("the wrong columns are left out: %v", slices.Sorted(maps.Keys(u.Columns.All())))
	}
	user.Email = "done@example.com"
	if _, err := h.Dispenser().Dispense(t.Context(), user, request()); err != nil {
		t.Error("the person is locked out:", err)
	}
	if text := h.log.String(); !strings.Contains(text, "a granted column is too large") || !strings.Contains(text, "column=photo") {
		t.Error("the log does not say so")
	}
}

// The kernel, systemd or a person may tell a plugin to end with SIGTERM while the host
// lives, which still needs it.
func TestPluginsOutliveSIGTERM(t *testing.T) {
	t.Parallel()
	spec := faulty(t, "ok")
	spec.Command = []string{program(t, "dispenser-go")}
	spec.Roles = []string{pluginsdk.RoleDispenser}
	h := started(t, pluginproc.Options{}, spec)
	before := h.pid()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		if err := syscall.Kill(before, sig); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		if _, err := h.dispense(t, "any"); err != nil {
			t.Error(err)
		}
	}
	if h.pid() != before || h.counts.get("restart") > 0 {
		t.Error("it ended")
	}
}
