package config_test

import (
	"os"
	"strings"
	"testing"
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
