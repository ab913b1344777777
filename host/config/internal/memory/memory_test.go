package memory_test

import (
	"fmt"
	"os"
	"testing"
	"testing/fstest"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/memory"
)

const mib = 1 << 20

// TestFind reads the files of machines and control groups as Linux writes them.
func TestFind(t *testing.T) {
	const (
		v2     = "31 24 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
		v1     = "30 24 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n34 24 0:30 / /sys/fs/cgroup/memory rw shared:12 - cgroup cgroup rw,memory\n"
		docker = "34 24 0:30 /docker/4711 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
		none   = "9223372036854771712\n" // of version 1, without a limit
	)
	for name, tt := range map[string]struct {
		group, mounts string
		files         map[string]string
		want          memory.Found
	}{
		"a machine":                  {"0::/\n", v2, nil, memory.Found{Bytes: 8 << 30, Where: "machine"}},
		"no files":                   {"", "", map[string]string{"/proc/meminfo": "?"}, memory.Found{Where: "machine"}},
		"a service":                  {"0::/system.slice/app.service\n", v2, map[string]string{"/sys/fs/cgroup/system.slice/app.service/memory.max": "536870912\n", "/sys/fs/cgroup/system.slice/memory.max": "max\n"}, memory.Found{Bytes: 512 * mib, Where: "cgroup /system.slice/app.service"}},
		"high below max":             {"0::/app\n", v2, map[string]string{"/sys/fs/cgroup/app/memory.max": "536870912\n", "/sys/fs/cgroup/app/memory.high": "268435456\n"}, memory.Found{Bytes: 256 * mib, Where: "cgroup /app"}},
		"the one around":             {"0::/pod/app\n", v2, map[string]string{"/sys/fs/cgroup/pod/memory.max": "268435456\n", "/sys/fs/cgroup/pod/app/memory.max": "536870912\n"}, memory.Found{Bytes: 256 * mib, Where: "cgroup /pod"}},
		"a container":                {"0::/\n", v2, map[string]string{"/sys/fs/cgroup/memory.max": "268435456\n"}, memory.Found{Bytes: 256 * mib, Where: "cgroup /"}},
		"more than there is":         {"0::/app\n", v2, map[string]string{"/sys/fs/cgroup/app/memory.max": "99999999999999\n"}, memory.Found{Bytes: 8 << 30, Where: "machine"}},
		"version 1":                  {"5:cpu,cpuacct:/x\n4:memory:/app\n0::/\n", v1, map[string]string{"/sys/fs/cgroup/memory/app/memory.limit_in_bytes": "268435456\n", "/sys/fs/cgroup/memory/memory.limit_in_bytes": none}, memory.Found{Bytes: 256 * mib, Where: "cgroup /app"}},
		"version 1, no limit":        {"4:memory:/app\n", v1, map[string]string{"/sys/fs/cgroup/memory/app/memory.limit_in_bytes": none}, memory.Found{Bytes: 8 << 30, Where: "machine"}},
		"version 1, docker":          {"4:memory:/docker/4711\n", docker, map[string]string{"/sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n"}, memory.Found{Bytes: 256 * mib, Where: "cgroup /"}},
		"a folder that is not shown": {"4:memory:/elsewhere\n", docker, map[string]string{"/sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n"}, memory.Found{Bytes: 256 * mib, Where: "cgroup /"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{}
			for file, text := range map[string]string{"/proc/meminfo": "MemTotal:        8388608 kB\nMemFree: 1 kB\n", "/proc/self/cgroup": tt.group, "/proc/self/mountinfo": tt.mounts} {
				root[file[1:]] = &fstest.MapFile{Data: []byte(text)}
			}
			for file, text := range tt.files {
				root[file[1:]] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := memory.Find(root); got != tt.want {
				t.Errorf("found %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestFindHere holds that the memory of a machine with Linux is found.
func TestFindHere(t *testing.T) {
	if _, err := os.Stat("/proc/meminfo"); err != nil {
		t.Skip("there is no /proc/meminfo")
	}
	if got := memory.Find(os.DirFS("/")); got.Bytes < 64*mib || got.Bytes > 1<<50 {
		t.Errorf("found %+v", got)
	}
}

// TestDefault holds the default: a quarter, within bounds.
func TestDefault(t *testing.T) {
	for found, want := range map[int64]int64{0: 1 << 30, 128 * mib: memory.Least, 512 * mib: 128 * mib, 2 << 30: 512 * mib, 64 << 30: 1 << 30} {
		if got := memory.Default(memory.Found{Bytes: found}); got != want {
			t.Errorf("of %d: %d, want %d", found, got, want)
		}
	}
}

// TestDivide holds for settings from the least on that the parts fit into what they are parts of, that each has something,
// and that more memory makes no part smaller.
func TestDivide(t *testing.T) {
	for _, use := range []memory.Use{{}, {1, 1, true}, {2, 20, true}, {64, 400, true}, {2, 20, false}, {64, 400, false}} {
		t.Run(fmt.Sprintf("%+v", use), func(t *testing.T) {
			var before memory.Parts
			for setting := int64(memory.Least); setting <= 4<<30; setting += 16 * mib {
				p := memory.Divide(setting, use)
				parts := []int64{p.Go, int64(p.Hashes), int64(p.SpoolBlocks), int64(p.Answers), int64(p.Seeks), int64(p.Plans), int64(p.Rows)}
				earlier := []int64{before.Go, int64(before.Hashes), int64(before.SpoolBlocks), int64(before.Answers), int64(before.Seeks), int64(before.Plans), int64(before.Rows)}
				for i, n := range parts {
					hashed := i > 0 && p.Hashes > before.Hashes // which takes from the others
					if n < 1 || n < earlier[i] && !hashed {
						t.Fatalf("%d MiB: %+v after %+v", setting/mib, p, before)
					}
				}
				if (p.SQLite > 0) != use.SQLite || p.Hashes > max(use.Processors, 1) {
					t.Fatalf("%d MiB: %+v", setting/mib, p)
				}
				heap := 19*mib*int64(p.Hashes) + 72<<10*int64(p.SpoolBlocks) + int64(p.Answers+p.Seeks) + 36<<10*int64(p.Plans)
				if heap+14*mib > p.Go || p.Go+p.SQLite+40*mib > setting {
					t.Fatalf("%d MiB: %+v take %d MiB of Go's", setting/mib, p, heap/mib)
				}
				before = p
			}
		})
	}
}
