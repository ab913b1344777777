package proc

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// reap waits for the end of the process, ends its group and what left the
// group, and reaps it only then: until that its number, and that of its group,
// cannot be another's.
func (r *runner) reap() error {
	for unix.Waitid(unix.P_PID, r.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	close(r.dead)
	r.killGroup()
	killDescendants(r.pid, instanceKey+"="+r.instance, r.tag)
	return r.cmd.Wait()
}

// tagged gives a process, and with it all that it starts from then on, a number by
// which they are known whatever else they leave: group, session, parent, environment
// and open files. It is the limit of file locks, RLIMIT_LOCKS, which no kernel since
// 2.4.25 looks at, which children inherit, and which nobody without privileges can raise
// again. A cgroup would need a delegated one, which few hosts have. tagged returns 0 where
// it may not set the limit, or where a lower one is set.
//
// PR_SET_CHILD_SUBREAPER is no way to find more. It gives a process the orphans among its
// descendants. The guard would get none, since plugins are children of the host. The host
// would get those of every program that it, or who embeds it, has started, without a word
// on which plugin they are of, and would have to reap them beside os/exec. A reaper for
// each plugin is one more process that can be killed. What runs as another user the host
// may not kill, and what systemd or cron starts descends from neither.
//
// What it does not catch: what is started within the moment between a plugin's first
// instruction and this call, what runs as another user, what lowers the limit for itself,
// and what somebody else starts when a plugin asks for it, such as systemd or cron.
func tagged(pid int) uint64 {
	var random [8]byte
	_, _ = rand.Read(random[:])                             // never fails
	tag := binary.LittleEndian.Uint64(random[:])>>4 | 1<<60 // 18 or 19 digits
	var now unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &now) != nil || now.Max < tag {
		return 0
	}
	if unix.Prlimit(pid, unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: tag, Max: tag}, nil) != nil {
		return 0
	}
	return tag
}

// killDescendants ends every process whose environment holds the entry or that has
// the tag as a resource limit (see tagged), except for the one that is waited for. It looks again as long as it finds
// some, because they may have been starting others.
func killDescendants(except int, entry string, tag uint64) {
	mark, limit := append([]byte(entry), 0), fmt.Appendf(nil, " %d ", tag)
	killed := map[int]bool{except: true, os.Getpid(): true}
	for again, passes := true, 0; again && passes < 5; passes++ {
		again = false
		procs, err := os.ReadDir("/proc")
		if err != nil {
			return
		}
		for _, p := range procs {
			pid, err := strconv.Atoi(p.Name())
			if err != nil || killed[pid] {
				continue
			}
			if holds(pid, "environ", mark) || tag != 0 && holds(pid, "limits", limit) {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
				killed[pid], again = true, true
			}
		}
	}
}

// holds tells whether a file that the kernel has about a process holds a text.
func holds(pid int, file string, text []byte) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	return err == nil && bytes.Contains(data, text)
}

// beFirstToGo makes the kernel prefer the plugin to the host when memory runs
// out, because the plugin is the one that can be started again.
func beFirstToGo(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("500"), 0) // best effort
}
