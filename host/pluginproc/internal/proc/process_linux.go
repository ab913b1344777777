package proc

import (
	"bytes"
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
	killMarked(instanceKey + "=" + r.instance)
	return r.cmd.Wait()
}

// killMarked ends every process whose environment holds the entry: children that
// left the process group but not their environment.
func killMarked(entry string) {
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	mark := append([]byte(entry), 0)
	for _, p := range procs {
		pid, err := strconv.Atoi(p.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile("/proc/" + p.Name() + "/environ")
		if err == nil && bytes.Contains(env, mark) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
		}
	}
}

// beFirstToGo makes the kernel prefer the plugin to the host when memory runs
// out, because the plugin is the one that can be started again.
func beFirstToGo(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("500"), 0) // best effort
}
