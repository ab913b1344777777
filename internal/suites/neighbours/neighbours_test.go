package neighbours

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// The addresses of the clients, all of them on the loopback interface.
const (
	innocent = "127.0.0.2"
	watcher  = "127.0.0.3"
	attacker = "127.0.0.9"
)

// Targets of `make -C internal neighbours`.
const (
	pageFactor   = 5                      // of the quiet p95 of pages
	pageFloor    = 250 * time.Millisecond // or this, if that is more
	signInSlower = time.Second            // above the quiet p95 of sign-ins
	readyWithin  = time.Second
	mostMemory   = 512 << 20 // anonymous memory of the host's process
	recovery     = time.Second
)

// TestNeighbours is no part of `make test`: it takes as long as NEIGHBOURS_TIME for
// each kind of attack, and measures time.
func TestNeighbours(t *testing.T) {
	each, err := time.ParseDuration(os.Getenv("NEIGHBOURS_TIME"))
	if err != nil {
		t.Skip("`make -C internal neighbours` sets NEIGHBOURS_TIME")
	}
	for _, driver := range []string{"sqlite", "postgres"} {
		t.Run(driver, func(t *testing.T) {
			h := startHost(t, driver)
			quiet := h.watch(t, each/3)
			h.report(t, "quiet", quiet, quiet)
			for _, name := range append(names(), "all") {
				if only := os.Getenv("NEIGHBOURS_ONLY"); only != "" && only != name {
					continue
				}
				stop := attackFrom(t, name, h.base)
				m := h.watch(t, each)
				stop()
				m.recovered = h.recover(t, pageLimit(quiet))
				h.report(t, name, m, quiet)
				h.judge(t, name, m, quiet)
			}
		})
	}
}

func names() []string {
	var list []string
	for _, a := range attacks() {
		list = append(list, a.name)
	}
	return list
}

// A measurement is what the innocent clients met.
type measurement struct {
	pages, signIns, ready []time.Duration
	failures              []string
	// memory is the most anonymous memory of the host, in bytes.
	memory int64
	// recovered is how long after the attack a page was as quick as it must be.
	recovered time.Duration
}

// percentile returns the p-th percentile; it sorts the list.
func percentile(list []time.Duration, p int) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[(len(list)-1)*p/100]
}

func pageLimit(quiet measurement) time.Duration {
	return max(pageFactor*percentile(quiet.pages, 95), pageFloor)
}

func (h *running) report(t *testing.T, name string, m, quiet measurement) {
	t.Helper()
	ms := func(d time.Duration) string { return fmt.Sprintf("%.0f", float64(d.Microseconds())/1000) }
	t.Logf("| %s | %s | %d | %s (%s) | %d | %s (%s) | %s | %d | %d | %s |", h.driver, name,
		len(m.pages), ms(percentile(m.pages, 95)), ms(pageLimit(quiet)),
		len(m.signIns), ms(percentile(m.signIns, 95)), ms(percentile(quiet.signIns, 95)+signInSlower),
		ms(percentile(m.ready, 100)), m.memory>>20, len(m.failures), ms(m.recovered))
}

func (h *running) judge(t *testing.T, name string, m, quiet measurement) {
	t.Helper()
	short := func(ok bool, format string, args ...any) {
		if !ok {
			t.Errorf("SHORT %s, %s: %s", h.driver, name, fmt.Sprintf(format, args...))
		}
	}
	short(len(m.failures) == 0, "%d innocent requests failed: %s", len(m.failures), strings.Join(m.failures[:min(len(m.failures), 5)], "; "))
	short(percentile(m.pages, 95) <= pageLimit(quiet), "p95 of pages %v", percentile(m.pages, 95))
	short(percentile(m.signIns, 95) <= percentile(quiet.signIns, 95)+signInSlower, "p95 of sign-ins %v", percentile(m.signIns, 95))
	short(percentile(m.ready, 100) < readyWithin, "/readyz took %v", percentile(m.ready, 100))
	short(m.memory < mostMemory, "%d MiB of anonymous memory", m.memory>>20)
	short(m.recovered <= recovery, "recovered after %v", m.recovered)
}

// recover tells how long it takes until a page is as quick as under attack it must be.
func (h *running) recover(t *testing.T, limit time.Duration) time.Duration {
	t.Helper()
	start, c := time.Now(), client(innocent)
	for time.Since(start) < 30*time.Second {
		began := time.Now()
		if _, err := h.page(context.Background(), c, ""); err == nil && time.Since(began) <= limit {
			return time.Since(start)
		}
	}
	return time.Since(start)
}
