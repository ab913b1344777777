package host_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
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
	scrape := func() map[string]string {
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
	before := scrape()
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
	after := scrape()
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
