package config_test

import (
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/config"
)

// TestMoreMemoryThanThereIs holds that check warns of a setting that the machine does not have.
func TestMoreMemoryThanThereIs(t *testing.T) {
	if _, err := os.Stat("/proc/meminfo"); err != nil {
		t.Skip("there is no /proc/meminfo")
	}
	write(t, map[string]string{"config.hcl": "server {\n  memory = \"100000GiB\"\n}\n"})
	cfg, found := load(t, nil)
	if found != nil {
		t.Fatal(found)
	}
	for _, line := range lines(cfg.Verify(t.Context())) {
		if strings.HasPrefix(line, "config.hcl:2:12: warning: server.memory is 100000GiB, and the ") && strings.HasSuffix(line, ": give less, but at least 96MiB, or give the host more") {
			return
		}
	}
	t.Error("it does not warn")
}

func TestCollectSeldom(t *testing.T) {
	limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetMemoryLimit(limit); debug.SetGCPercent(percent) })
	for _, test := range []struct {
		name, variable string
		want           int
	}{
		{"usual", "", 400},
		{"a variable of Go comes first", "50", 100}, // the runtime has read it when the process started
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("GOGC", test.variable)
			usual := config.CollectSeldom()
			got := debug.SetGCPercent(100)
			debug.SetGCPercent(got)
			if got != test.want {
				t.Errorf("while starting: GOGC is %d, want %d", got, test.want)
			}
			usual()
			if got := debug.SetGCPercent(100); got != 100 {
				t.Errorf("afterwards: GOGC is %d, want 100", got)
			}
		})
	}
}
