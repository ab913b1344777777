package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// TestSignInsWhileTheDispenserIsKilled kills a dispenser with 150 ms of work every second
// while two people sign in over HTTP, for the time that KILLS says, such as 60s. None may
// fail. How long they take is printed beside what the same sign-ins take without kills,
// and what they take when the dispenser has nothing to do, which is hashing for the most part.
func TestSignInsWhileTheDispenserIsKilled(t *testing.T) {
	long, err := time.ParseDuration(os.Getenv("KILLS"))
	if err != nil {
		t.Skip("KILLS is not set: try KILLS=60s")
	}
	kit := newFaultKit(t, []fault{{who: "work"}})
	for engine, store := range map[string]func(*testing.T) string{
		"sqlite":   func(*testing.T) string { return `dsn = "test.db"` },
		"postgres": func(t *testing.T) string { return fmt.Sprintf("driver = \"postgres\"\n  dsn = %q", dbtest.Postgres(t)) },
	} {
		for _, timeout := range []string{"3s", "1s"} {
			t.Run(engine+", timeout "+timeout, func(t *testing.T) {
				row := fault{keys: func(*faultHost) string { return fmt.Sprintf("timeout = %q", timeout) }}
				h := newFaultHost(t, kit, row)
				h.store = store(t)
				h.configure(row, "1")
				if engine != "sqlite" {
					h.add("good")
					h.add("work")
				}
				h.serve()
				idle := h.signIns("good", long/12)
				work := h.signIns("work", long/12)
				end := make(chan struct{})
				var killer sync.WaitGroup
				killed := 0
				killer.Go(func() { killed = h.killEverySecond(end) })
				under := h.signIns("work", long)
				close(end)
				killer.Wait()
				h.end()
				h.gone()
				if killed == 0 {
					t.Error("it was never killed")
				}
				t.Logf("%d kills. With them: %s. Without: %s. Without work: %s.", killed, quantiles(under), quantiles(work), quantiles(idle))
			})
		}
	}
}

// signIns has two people sign in again and again, and returns how long each took.
func (h *faultHost) signIns(who string, long time.Duration) []time.Duration {
	var took []time.Duration
	var mu sync.Mutex
	var people sync.WaitGroup
	for range 2 {
		people.Go(func() {
			for end := time.Now().Add(long); time.Now().Before(end); {
				saw := h.signIn(who)
				if saw.what != "200" {
					h.Errorf("a sign-in failed: %v", saw)
				}
				mu.Lock()
				took = append(took, saw.wait)
				mu.Unlock()
			}
		})
	}
	people.Wait()
	slices.Sort(took)
	return took
}

// killEverySecond returns how often it did.
func (h *faultHost) killEverySecond(end <-chan struct{}) int {
	for killed := 0; ; {
		select {
		case <-end:
			return killed
		case <-time.After(time.Second):
		}
		for _, pid := range h.pids("faultplugin") {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
			killed++
		}
	}
}

func quantiles(sorted []time.Duration) string {
	at := func(percent int) time.Duration {
		return sorted[min(len(sorted)-1, len(sorted)*percent/100)].Round(time.Millisecond)
	}
	return fmt.Sprintf("%d sign-ins, p50 %v, p95 %v, p99 %v, at most %v", len(sorted), at(50), at(95), at(99), at(100))
}

// lockedBuffer is what a process writes and a test reads.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
