package telemetry_test

import (
	"context"
	"database/sql"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/admission"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
)

// What a scrape shows of what it asks for, and of what does not answer.
func TestWatched(t *testing.T) {
	backlog := []outbox.Backlog{{Kind: "mail", Waiting: 3, Dead: 1, Oldest: 90 * time.Second}, {Kind: "event"}}
	hang := func(ctx context.Context) ([]outbox.Backlog, error) { <-ctx.Done(); return nil, ctx.Err() }
	tests := []struct {
		name string
		of   telemetry.Watched
		want string
	}{
		{
			"readiness",
			telemetry.Watched{Ready: func(context.Context) map[string]string {
				return map[string]string{"database": telemetry.OK, "writes": "failed", "plugin orgs": "down"}
			}},
			`vestibule_ready{check="database"} 1
vestibule_ready{check="plugin orgs"} 0
vestibule_ready{check="writes"} 0`,
		},
		{
			"pools",
			telemetry.Watched{Pools: func() map[string]sql.DBStats {
				return map[string]sql.DBStats{"sign_in": {MaxOpenConnections: 20, InUse: 3, Idle: 2, WaitCount: 7, WaitDuration: 1500 * time.Millisecond}}
			}},
			`vestibule_pool_connections{pool="sign_in",state="idle"} 2
vestibule_pool_connections{pool="sign_in",state="in_use"} 3
vestibule_pool_max_connections{pool="sign_in"} 20
vestibule_pool_wait_seconds_total{pool="sign_in"} 1.5
vestibule_pool_waits_total{pool="sign_in"} 7`,
		},
		{
			"queues, one without a bound",
			telemetry.Watched{Queues: func() []admission.State {
				return []admission.State{{Name: "odata", Slots: 20, Held: 20, Waiting: 4, Waits: 9, Waited: time.Second}, {Name: "requests", Held: 1}}
			}},
			`vestibule_queue_held{queue="odata"} 20
vestibule_queue_held{queue="requests"} 1
vestibule_queue_slots{queue="odata"} 20
vestibule_queue_wait_seconds_total{queue="odata"} 1
vestibule_queue_wait_seconds_total{queue="requests"} 0
vestibule_queue_waiting{queue="odata"} 4
vestibule_queue_waiting{queue="requests"} 0
vestibule_queue_waits_total{queue="odata"} 9
vestibule_queue_waits_total{queue="requests"} 0`,
		},
		{
			"the outbox",
			telemetry.Watched{Outbox: func(context.Context) ([]outbox.Backlog, error) { return backlog, nil }},
			`vestibule_outbox_items{kind="event",state="dead"} 0
vestibule_outbox_items{kind="event",state="waiting"} 0
vestibule_outbox_items{kind="mail",state="dead"} 1
vestibule_outbox_items{kind="mail",state="waiting"} 3
vestibule_outbox_oldest_age_seconds{kind="event"} 0
vestibule_outbox_oldest_age_seconds{kind="mail"} 90`,
		},
		{"the outbox of a database that fails", telemetry.Watched{Outbox: func(context.Context) ([]outbox.Backlog, error) { return backlog, errors.New("away") }}, unknown},
		{"the outbox of a database that hangs", telemetry.Watched{Outbox: hang}, unknown},
		{
			"plugins",
			telemetry.Watched{Plugins: func() []telemetry.Plugin {
				return []telemetry.Plugin{{Name: "crm", State: "ready", Version: "1.2", SHA256: "ab", Memory: 16 << 20}, {Name: "orgs", State: "down"}}
			}, PluginStates: []string{"ready", "down"}},
			`vestibule_plugin_info{plugin="crm",sha256="ab",version="1.2"} 1
vestibule_plugin_info{plugin="orgs",sha256="",version=""} 1
vestibule_plugin_resident_memory_bytes{plugin="crm"} 1.6777216e+07
vestibule_plugin_state{plugin="crm",state="down"} 0
vestibule_plugin_state{plugin="crm",state="ready"} 1
vestibule_plugin_state{plugin="orgs",state="down"} 1
vestibule_plugin_state{plugin="orgs",state="ready"} 0`,
		},
		{
			"the certificate",
			telemetry.Watched{CertificateExpiry: func() time.Time { return time.Unix(1800000000, 0) }},
			`vestibule_tls_certificate_expiry_timestamp_seconds 1.8e+09`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before, m := shown(telemetry.New()), telemetry.New()
			m.Watch(tt.of)
			got := strings.TrimPrefix(strings.Join(without(shown(m), before), "\n"), "\n")
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

const unknown = `vestibule_outbox_items{kind="event",state="dead"} NaN
vestibule_outbox_items{kind="event",state="waiting"} NaN
vestibule_outbox_items{kind="mail",state="dead"} NaN
vestibule_outbox_items{kind="mail",state="waiting"} NaN
vestibule_outbox_oldest_age_seconds{kind="event"} NaN
vestibule_outbox_oldest_age_seconds{kind="mail"} NaN`

// Answers count by class, and statuses that nobody has heard of in the nearest one.
func TestResponses(t *testing.T) {
	m := telemetry.New()
	for _, status := range []int{101, 200, 204, 302, 404, 503, 599, 799} {
		m.Request("odata", status, time.Millisecond)
	}
	var got []string
	for _, line := range shown(m) {
		if strings.HasPrefix(line, "vestibule_responses_total") {
			got = append(got, line[len(`vestibule_responses_total{class="`):])
		}
	}
	if want := `1xx"} 1 2xx"} 2 3xx"} 1 4xx"} 1 5xx"} 3`; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A reload that failed is told until one goes well.
func TestReloads(t *testing.T) {
	m := telemetry.New()
	m.ExpectReloads("tls")
	look := func(want ...string) {
		t.Helper()
		text := strings.Join(shown(m), "\n") + "\n"
		for _, line := range want {
			if !strings.Contains(text, line+"\n") {
				t.Errorf("no %s", line)
			}
		}
	}
	look(`vestibule_reload_last_success{what="tls"} 1`, `vestibule_reloads_total{outcome="failed",what="tls"} 0`, `vestibule_reloads_total{outcome="ok",what="tls"} 0`)
	m.Reload("tls", errors.New("no such file"))
	look(`vestibule_reload_last_success{what="tls"} 0`, `vestibule_reloads_total{outcome="failed",what="tls"} 1`)
	m.Reload("tls", nil)
	look(`vestibule_reload_last_success{what="tls"} 1`, `vestibule_reloads_total{outcome="ok",what="tls"} 1`)
}

// shown returns the lines of a scrape that are our own series.
func shown(m *telemetry.Metrics) []string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	var lines []string
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "vestibule_") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

func without(lines, others []string) []string {
	skip := map[string]bool{}
	for _, line := range others {
		skip[line] = true
	}
	var rest []string
	for _, line := range lines {
		if !skip[line] {
			rest = append(rest, line)
		}
	}
	return rest
}
