package alerts

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A watch is a Prometheus with the committed rules and the configuration of
// docs/operations.md, and what its alerts did.
type watch struct {
	address string
	only    *host // nil if it watches several

	mu   sync.Mutex
	seen map[string]*alert // by instance and name
}

// An alert is when it was first seen pending, or firing at once, and first seen firing.
type alert struct {
	instance, name  string
	pending, firing time.Time
}

// newWatch starts a Prometheus over hosts, and asks for its alerts every second.
func newWatch(t *testing.T, k kit, name string, hosts []*host) *watch {
	t.Helper()
	dir := k.folder(t, "prometheus-"+name)
	rules, err := os.ReadFile("../../../docs/monitoring/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "rules.yml"), string(rules))
	write(t, filepath.Join(dir, "prometheus.yml"), settings(t, hosts))
	w := &watch{address: unused(t), seen: map[string]*alert{}}
	if len(hosts) == 1 && hosts[0].row.backfilled {
		w.only = hosts[0]
		backfill(t, dir, w.only.admin)
	}
	cmd := exec.Command("prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data", "--web.listen-address="+w.address, "--log.level=warn")
	cmd.Dir = dir
	log := create(t, filepath.Join(dir, "log"))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatalf("prometheus: %v: apt-get install prometheus", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var polling sync.WaitGroup
	t.Cleanup(func() {
		stop()
		polling.Wait()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if text, _ := os.ReadFile(log.Name()); t.Failed() && len(text) > 0 {
			t.Logf("%s:\n%s", log.Name(), text)
		}
	})
	eventually(t, "Prometheus is ready", func() error { return answers("http://" + w.address + "/-/ready") })
	polling.Go(func() { w.poll(ctx, t) })
	return w
}

// settings is the configuration of docs/operations.md with the hosts as targets.
func settings(t *testing.T, hosts []*host) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "\n```yaml\nglobal:\n")
	block, _, _ = strings.Cut(block, "\n```\n")
	const documented = `["10.0.0.1:9090", "10.0.0.2:9090"]`
	if !strings.Contains(block, documented) {
		t.Fatalf("docs/operations.md has no configuration with the targets %s", documented)
	}
	var targets []string
	for _, h := range hosts {
		targets = append(targets, fmt.Sprintf("%q", h.admin))
	}
	return "global:\n" + strings.Replace(block, documented, "["+strings.Join(targets, ", ")+"]", 1) + "\n"
}

// backfill gives a Prometheus the half hour of a week ago in which 60 people signed in
// at a host, and made 120 other requests.
func backfill(t *testing.T, dir, instance string) {
	t.Helper()
	var text strings.Builder
	begin := time.Now().Add(-7*24*time.Hour - 40*time.Minute)
	for _, route := range []struct {
		name string
		each int
	}{{"login.submit", 1}, {"home", 2}} {
		for i := range 120 {
			fmt.Fprintf(&text, "vestibule_request_seconds_count{instance=%q,job=\"vestibule\",route=%q,status=\"200\"} %d %d\n",
				instance, route.name, i*route.each, begin.Add(time.Duration(i)*30*time.Second).Unix())
		}
	}
	write(t, filepath.Join(dir, "week-ago"), text.String()+"# EOF\n")
	cmd := exec.Command("promtool", "tsdb", "create-blocks-from", "openmetrics", "week-ago", "data")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("promtool: %v\n%s", err, out)
	}
}

// poll notes the state of all alerts every second.
func (w *watch) poll(ctx context.Context, t *testing.T) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if err := w.look(now); err != nil && ctx.Err() == nil {
				t.Errorf("ask for alerts: %v", err)
			}
		}
	}
}

func (w *watch) look(now time.Time) error {
	resp, err := http.Get("http://" + w.address + "/api/v1/alerts")
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Data struct {
			Alerts []struct {
				Labels map[string]string
				State  string
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range answer.Data.Alerts {
		key := a.Labels["instance"] + " " + a.Labels["alertname"]
		one := w.seen[key]
		if one == nil {
			one = &alert{instance: a.Labels["instance"], name: a.Labels["alertname"], pending: now}
			w.seen[key] = one
		}
		if a.State == "firing" && one.firing.IsZero() {
			one.firing = now
		}
	}
	return nil
}

// all returns copies of what was seen, the first that fired first.
func (w *watch) all() []alert {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []alert
	for one := range maps.Values(w.seen) {
		list = append(list, *one)
	}
	slices.SortFunc(list, func(a, b alert) int { return a.firing.Compare(b.firing) })
	return list
}

// of returns the alerts of a host. An alert for a whole job is that of the only host.
func (w *watch) of(h *host) []alert {
	return slices.DeleteFunc(w.all(), func(a alert) bool { return a.instance != h.admin && (a.instance != "" || h != w.only) })
}

// unattributed returns the alerts that fired and are those of no host.
func (w *watch) unattributed() []string {
	if w.only != nil {
		return nil
	}
	return slices.DeleteFunc(w.fired(), func(fired string) bool { return !strings.HasPrefix(fired, " ") })
}

// fired returns instance and name of the alerts that have fired.
func (w *watch) fired() []string {
	var list []string
	for _, a := range w.all() {
		if !a.firing.IsZero() {
			list = append(list, a.instance+" "+a.name)
		}
	}
	return list
}
