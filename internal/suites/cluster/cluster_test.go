package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A row of the table.
type row struct {
	stack, fault              string
	asked, failed, repeatable int
	under                     int           // requests when the fault began
	slowest                   time.Duration // request
	silence                   time.Duration // longest time in which no request succeeded
	gap                       time.Duration // in which no server took writes
	ready                     time.Duration // from then until all hosts are
	late                      int           // mails that a lease without an owner has held back
	lost                      []string      // of what was acknowledged
	examples                  []string
}

// TestCluster is no part of `make test`: it takes up to a quarter of an hour, and
// measures time.
func TestCluster(t *testing.T) {
	if os.Getenv("CLUSTER") == "" {
		t.Skip("`make -C internal cluster` sets CLUSTER")
	}
	s := newScene(t)
	binary := filepath.Join(s.dir, "vestibule")
	if out, err := exec.Command("go", "build", "-o", binary, "../../../host/cmd/vestibule").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	var table []string
	for _, database := range []struct {
		name  string
		start func(*testing.T, *scene) stack
	}{{"postgres", startPatronis}, {"mysql", startGaleras}} {
		name := database.name
		if only := os.Getenv("CLUSTER_DATABASE"); only != "" && only != name {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := newSite(t, s, database.start(t, s), binary, 2500)
			for _, f := range faults() {
				if only := os.Getenv("CLUSTER_FAULT"); f.of != "" && f.of != name || only != "" && !strings.Contains(f.name, only) {
					continue
				}
				if end, ok := t.Deadline(); ok && time.Until(end) < 2*time.Minute {
					t.Errorf("no time is left for %q", f.name)
					continue
				}
				t.Run(f.name, func(t *testing.T) {
					r := w.meet(t, f)
					t.Log(r.line())
					table = append(table, r.line())
					w.judge(t, f, r)
				})
			}
			t.Run("a mail of a stopped host", func(t *testing.T) { table = append(table, w.stopWithMail(t)) })
			for _, h := range w.hosts {
				kill(h.dir)
			}
			for _, s := range w.servers {
				s.kill()
			}
		})
	}
	fmt.Println(head + strings.Join(table, "\n"))
}

const head = `
| database | fault | requests | failed | of these repeatable | longest request | longest silence | no primary | hosts ready after it | late mails | acknowledged and lost |
|---|---|---|---|---|---|---|---|---|---|---|
`

func (r *row) line() string {
	seconds := func(d time.Duration) string {
		if d == 0 {
			return "–"
		}
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("| %s | %s | %d | %d | %d | %s | %s | %s | %s | %d | %d |", r.stack, r.fault, r.asked, r.failed, r.repeatable,
		seconds(r.slowest), seconds(r.silence), seconds(r.gap), seconds(r.ready), r.late, len(r.lost))
}

// meet lets a fault befall the site under load, and waits until all is well again.
func (w *site) meet(t *testing.T, f fault) *row {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	book := newLedger()
	load := w.load(ctx, book)
	time.Sleep(3 * time.Second)
	r := &row{stack: w.name, fault: f.name, under: int(book.under.Load())}
	var moved <-chan move
	if f.moves {
		moved = w.observe(w.current(), time.Minute)
	}
	end := f.begin(t, w)
	if f.moves {
		if m, ok := <-moved; ok {
			r.gap, r.ready = m.first.Sub(m.last), w.untilReady(t, m.first, book)
		} else {
			t.Error("no other server took over")
		}
	}
	if f.recovers {
		r.ready = w.untilReady(t, time.Now(), book)
	}
	time.Sleep(3 * time.Second)
	stop()
	load.Wait()
	end()
	w.settle(t)
	r.asked, r.failed, r.repeatable, r.slowest, r.silence, r.examples = book.asked, book.failed, book.repeatable, book.slowest, book.silence, append([]string{"slowest: " + book.slow}, book.examples...)
	r.late, r.lost = book.lost(t, w)
	t.Logf("acknowledged: %d sessions, %d tokens, %d resets, %d mails", len(book.sessions), len(book.tokens), len(book.changed), len(book.wanted))
	return r
}

// untilReady returns how long after a moment all hosts are ready and serve a session.
func (w *site) untilReady(t *testing.T, since time.Time, book *ledger) time.Duration {
	t.Helper()
	book.mu.Lock()
	cookie := book.sessions[0]
	book.mu.Unlock()
	for _, h := range w.hosts {
		c := newClient("127.0.0.201", "http://"+h.address, nil)
		within(t, time.Minute, h.name()+" ready", func() error {
			if err := h.ready(); err != nil {
				return err
			}
			_, _, err := c.send(t.Context(), current(cookie))
			return err
		})
	}
	return time.Since(since)
}

func (w *site) judge(t *testing.T, f fault, r *row) {
	t.Helper()
	for _, missed := range append(f.judge(r), r.short(len(r.lost) == 0, "lost: %s", strings.Join(r.lost, "; "))...) {
		t.Errorf("SHORT: %s", missed)
	}
	t.Logf("failures by kind: %v", kinds(r.examples[1:]))
	if t.Failed() || os.Getenv("CLUSTER_VERBOSE") != "" {
		t.Logf("failed: %s", strings.Join(r.examples[:min(len(r.examples), 25)], "\n"))
		for _, h := range w.hosts {
			t.Logf("%s: %s", h.name(), h.log())
		}
	}
}

// kinds counts failures by request and answer, without what differs from one to the
// next.
func kinds(examples []string) map[string]int {
	counts := map[string]int{}
	passing := regexp.MustCompile(`\d+(\.\d+)?(ms|s|m)\b|127\.0\.\d+\.\d+:\d+|"request_id":"[^"]*"`)
	for _, e := range examples {
		counts[strings.TrimSpace(passing.ReplaceAllString(e, "…"))]++
	}
	return counts
}
