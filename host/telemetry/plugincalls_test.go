package telemetry_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
)

func TestPluginCalls(t *testing.T) {
	tests := map[string]struct {
		took  []time.Duration
		least time.Duration // p99 lies between these
		most  time.Duration
	}{
		"none":              {nil, 0, 0},
		"one":               {[]time.Duration{3 * time.Millisecond}, time.Millisecond, 5 * time.Millisecond},
		"a slow one of two": {[]time.Duration{time.Millisecond, 2 * time.Second}, time.Second, 2 * time.Second},
		"none beyond 3.1 s": {slices.Repeat([]time.Duration{3100 * time.Millisecond}, 20), 3 * time.Second, 3100 * time.Millisecond},
		"beyond all":        {[]time.Duration{time.Minute}, 10 * time.Second, time.Minute},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := telemetry.New()
			m.PluginCall("other", "Dispense", "ok", time.Hour)
			for i, took := range tt.took {
				m.PluginCall("orgs", "Dispense", []string{"ok", "error"}[i%2], took)
			}
			calls, p99 := m.PluginCalls("orgs")
			if int(calls) != len(tt.took) || p99 < tt.least || p99 > tt.most {
				t.Errorf("%d calls, p99 %v; want %d, and between %v and %v", calls, p99, len(tt.took), tt.least, tt.most)
			}
		})
	}
	// A slow one of a thousand changes nothing.
	m := telemetry.New()
	for i := range 1000 {
		took := 400 * time.Microsecond
		if i == 0 {
			took = 5 * time.Second
		}
		m.PluginCall("orgs", "Dispense", "ok", took)
	}
	if _, p99 := m.PluginCalls("orgs"); p99 < 250*time.Microsecond || p99 > 500*time.Microsecond {
		t.Errorf("one slow call of a thousand: p99 %v", p99)
	}
}

// `vestibule plugin list` once waited for the database, once for each plugin.
func TestPluginCallsAskNothingElse(t *testing.T) {
	m := telemetry.New()
	m.Watch(telemetry.Watched{
		Ready: func(context.Context) map[string]string { t.Error("asked for readiness"); return nil },
		Outbox: func(context.Context) ([]outbox.Backlog, error) {
			t.Error("asked for the outbox")
			return nil, nil
		},
	})
	m.PluginCall("orgs", "Dispense", "ok", time.Millisecond)
	if calls, _ := m.PluginCalls("orgs"); calls != 1 {
		t.Errorf("%d calls, want 1", calls)
	}
}
