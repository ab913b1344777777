package pluginproc_test

import (
	"errors"
	"os"
	"path/filepath"
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

// Sign-ins go on while a dispenser that works 150 ms is killed again and again, also
// when a call has one second in all. BenchmarkKilledEverySecond tells how long they take.
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
// late until its successor has answered.
func TestDeadlockedPluginIsReplaced(t *testing.T) {
	t.Parallel()
	spec := faulty(t, "ok")
	spec.Timeout = 500 * time.Millisecond
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
	for range 3 {
		_, _ = h.dispense(t, "hang") // as above
	}
	if !within(patience, func() bool { return h.pid() > 0 && h.pid() != before }) {
		t.Fatal("it was not replaced")
	}
	err := h.Ready()
	if err == nil || !strings.Contains(err.Error(), "late") || !strings.Contains(err.Error(), "3 calls in a row ran out of time (timeout = 500ms)") {
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
				gone, err := filepath.Glob(h.runDir + map[string]string{"all of it": "/vestibule*", "the copies": "/vestibule*/bin*"}[name])
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
