package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// beside is how many MiB a busy host may take beyond server.memory, as docs/operations/sizing.md says.
const beside = 24

// TestMemoryStaysBelowTheSetting starts the real programs of the demo with small settings, and lets 28 clients ask for different
// pages, big answers and sign-ins at once, for five seconds or until each kind was answered. Without a limit the host has more
// than 250 MiB then.
func TestMemoryStaysBelowTheSetting(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("there is no /proc to read the memory of a process from")
	}
	k, err := newKit(t.Context(), "../..", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for setting, mib := range map[string]int{"96MiB": 96, "160MiB": 160} {
		t.Run(setting, func(t *testing.T) {
			d, err := k.start(setting)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := d.end(); err != nil {
					t.Error(err)
				}
			}()
			logsMemory(t, d, setting)
			c := &crowd{base: d.base, login: "demo@example.com", password: k.password, clients: 4 * len(kinds)}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			go c.stopAfter(ctx, 5*time.Second, cancel)
			if err := c.run(ctx); err != nil {
				t.Error(err)
			}
			for i, kind := range kinds {
				if n := c.answered[i].Load(); n == 0 {
					t.Errorf("no %s were answered", kind)
				} else {
					t.Logf("%s: %d", kind, n)
				}
			}
			most := memoryOf(d.cmd.Process.Pid, "VmHWM")
			t.Logf("at most %d MiB", most)
			if most > mib+beside {
				t.Errorf("the host had %d MiB, and the setting is %d", most, mib)
			}
		})
	}
}

// stopAfter stops the crowd when each kind was answered, but not before the time is over.
func (c *crowd) stopAfter(ctx context.Context, least time.Duration, stop func()) {
	time.Sleep(least)
	for i := range kinds {
		for c.answered[i].Load() == 0 && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
	}
	stop()
}

// logsMemory demands the one line of the log about the memory.
func logsMemory(t *testing.T, d *demo, setting string) {
	t.Helper()
	lines := 0
	for _, line := range d.log {
		var said map[string]any
		if json.Unmarshal([]byte(line), &said) != nil || said["@message"] != "memory" {
			continue
		}
		lines++
		where, _ := said["where"].(string)
		if said["server.memory"] != setting || where != "machine" && !strings.HasPrefix(where, "cgroup /") || said["go"] == nil || said["sqlite"] == nil {
			t.Errorf("it says %s", line)
		}
	}
	if lines != 1 {
		t.Errorf("%d lines tell of the memory", lines)
	}
}
