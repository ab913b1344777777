package alerts

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	// before is how long all hosts are well: SignInsFail wants people who got in.
	before = 75 * time.Second
	// after is how long the alerts are watched from the first fault on: the slowest takes 11.5 minutes.
	after = 12*time.Minute + 15*time.Second
)

// TestAlerts lets each host meet its fault, and wants exactly the alerts that the fault
// raises. Durations are those of the committed rules. ALERTS=all runs it, or ALERTS=REGEXP
// for the faults whose names match.
func TestAlerts(t *testing.T) {
	wanted := os.Getenv("ALERTS")
	if wanted == "" {
		t.Skip("it takes 14 minutes: make -C internal alerts")
	}
	rows := faults()
	if wanted != "all" {
		chosen := regexp.MustCompile(wanted)
		rows = slices.DeleteFunc(rows, func(f fault) bool { return !chosen.MatchString(f.name) })
	}
	kit := newKit(t)
	hosts := make([]*host, len(rows))
	var shared []*host
	for i, row := range rows {
		hosts[i] = newHost(t, kit, i, row)
		if !row.backfilled {
			shared = append(shared, hosts[i])
		}
	}
	watches := []*watch{newWatch(t, kit, "shared", shared)}
	for _, h := range hosts {
		if h.row.backfilled {
			watches = append(watches, newWatch(t, kit, h.name, []*host{h}))
		}
	}
	time.Sleep(before)
	for _, w := range watches {
		if fired := w.fired(); len(fired) > 0 {
			t.Errorf("before any fault: %v", fired)
		}
	}
	var doing sync.WaitGroup
	for _, h := range hosts {
		doing.Go(h.meet)
	}
	time.Sleep(after)
	report(t, hosts, watches)
	for _, h := range hosts {
		close(h.over)
	}
	doing.Wait()
}

// report prints the table and compares it with what was wanted.
func report(t *testing.T, hosts []*host, watches []*watch) {
	t.Helper()
	var lines []string
	for _, h := range hosts {
		var names, pending, firing []string
		for _, w := range watches {
			for _, a := range w.of(h) {
				if a.firing.IsZero() {
					continue
				}
				names = append(names, a.name)
				pending = append(pending, seconds(a.pending.Sub(h.since())))
				firing = append(firing, seconds(a.firing.Sub(h.since())))
			}
		}
		if diff := cmp.Diff(h.row.alerts, names); diff != "" {
			t.Errorf("%s: alerts that fired (-want +got):\n%s\nthe end of its log:\n%s", h.row.name, diff, h.logTail())
		}
		if len(names) == 0 {
			names, pending, firing = []string{"none"}, []string{"–"}, []string{"–"}
		}
		lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s |", h.row.name, strings.Join(names, ", "), strings.Join(pending, ", "), strings.Join(firing, ", ")))
	}
	for _, w := range watches {
		if rest := w.unattributed(); len(rest) > 0 {
			t.Errorf("alerts of no host: %v", rest)
		}
	}
	t.Logf("\n| The fault | Alert | Pending after | Fires after |\n|---|---|---|---|\n%s", strings.Join(lines, "\n"))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }
