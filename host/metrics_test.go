package host_test

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
)

// What happens to a host moves its series, which were there before.
func TestMetricsTellWhatHappens(t *testing.T) {
	source, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{{Name: "Things", Rows: []struct{ ID int }{{1}}}}})
	if err != nil {
		t.Fatal(err)
	}
	db := sqliteStore(t)
	base, admin := runWithAdmin(t, host.Options{Store: db, OData: &host.ODataOptions{Model: source.Model(), Source: source, Connections: 3}})
	before := scrape(t, admin)
	if err := db.Outbox().Announce(t.Context(), "password_reset", "1", []string{"nobody"}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/odata/Things", "/nowhere"} {
		resp, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	after := scrape(t, admin)
	for name, want := range map[string][2]string{
		`vestibule_outbox_items{kind="event",state="waiting"}`:               {"0", "1"},
		`vestibule_odata_stage_seconds_count{stage="database"}`:              {"0", "1"},
		`vestibule_request_seconds_count{route="odata",status="200"}`:        {"0", "1"},
		`vestibule_request_seconds_count{route="login.submit",status="200"}`: {"0", "0"},
		`vestibule_responses_total{class="4xx"}`:                             {"0", "1"},
		`vestibule_queue_slots{queue="odata"}`:                               {"3", "3"},
		`vestibule_pool_max_connections{pool="sign_in_writer"}`:              {"1", "1"},
		`vestibule_ready{check="writes"}`:                                    {"1", "1"},
		`vestibule_ready{check="draining"}`:                                  {"1", "1"},
		`vestibule_auth_events_total{event="lockout"}`:                       {"0", "0"},
		`vestibule_reload_last_success{what="config"}`:                       {"1", "1"},
	} {
		if got := [2]string{before[name], after[name]}; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok && !strings.Contains(name, `status="404"`) {
			t.Errorf("%s was not there from the start", name)
		}
	}
}

// A check that failed between two scrapes has moved a counter, though the gauge is 1 in both.
func TestShortFailuresAreCounted(t *testing.T) {
	dsn := filepath.Join(t.TempDir(), "host.db")
	db := opener(t, func(ctx context.Context) (*store.DB, error) { return sqlite.Open(ctx, dsn) })()
	_, admin := runWithAdmin(t, host.Options{Store: db})
	other, err := sql.Open("sqlite", dsn+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	const ready, failures = `vestibule_ready{check="tables"}`, `vestibule_check_failures_total{check="tables"}`
	want := func(gauge, count string) {
		t.Helper()
		var got map[string]string
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if got = scrape(t, admin); got[ready] == gauge && got[failures] == count {
				return
			}
		}
		t.Fatalf("ready is %q and failures are %q, want %q and %q", got[ready], got[failures], gauge, count)
	}
	want("1", "0")
	for _, count := range []string{"1", "2"} {
		for _, step := range []struct{ statement, gauge string }{
			{"ALTER TABLE vestibule_sessions RENAME TO lost", "0"},
			{"ALTER TABLE lost RENAME TO vestibule_sessions", "1"},
		} {
			if _, err := other.Exec(step.statement); err != nil {
				t.Fatal(err)
			}
			want(step.gauge, count)
		}
	}
	if got := scrape(t, admin)[`vestibule_check_failures_total{check="database"}`]; got != "0" {
		t.Errorf("the database is said to have failed %s times, want 0", got)
	}
}

// scrape returns the series with labels that the admin address shows.
func scrape(t *testing.T, admin string) map[string]string {
	t.Helper()
	resp, err := http.Get("http://" + admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	series := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "} "); ok && strings.HasPrefix(name, "vestibule_") {
			series[name+"}"] = value
		}
	}
	return series
}
