package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attributes put a process into a group of its own. The kernel kills it when the thread
// that started it ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// reap waits for the end of the process, ends its group, and reaps it only then: until that
// the number of the group cannot be another's.
func (r *runner) reap() error {
	for unix.Waitid(unix.P_PID, r.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	close(r.dead)
	r.killGroup()
	return r.cmd.Wait()
}

// endUsers kills the groups of all processes that have a socket directory in a folder, and
// returns the number of these processes.
func endUsers(folder string) int {
	mark := []byte("PLUGIN_UNIX_SOCKET_DIR=" + folder + "/")
	all, _ := os.ReadDir("/proc")
	found := 0
	for _, p := range all {
		environ, err := os.ReadFile("/proc/" + p.Name() + "/environ")
		if err != nil || !bytes.Contains(environ, mark) {
			continue
		}
		pid, _ := strconv.Atoi(p.Name()) // only processes have that file
		if group, err := syscall.Getpgid(pid); err == nil && group != syscall.Getpgrp() {
			_ = syscall.Kill(-group, syscall.SIGKILL) // it may have ended by itself
			found++
		}
	}
	return found
}

// reapOrphans reaps, as process 1, those that plugins left and the kernel gave to the host.
// A child that nobody else waits for is dead in two looks in a row.
func reapOrphans(closed <-chan struct{}) {
	dead := map[string]bool{}
	for tick := time.Tick(5 * time.Second); ; {
		select {
		case <-closed:
			return
		case <-tick:
		}
		before := dead
		dead = map[string]bool{}
		lists, _ := filepath.Glob("/proc/self/task/*/children")
		for _, list := range lists {
			text, _ := os.ReadFile(list) // a thread may end
			for _, pid := range strings.Fields(string(text)) {
				if stat, _ := os.ReadFile("/proc/" + pid + "/stat"); bytes.Contains(stat, []byte(") Z ")) {
					dead[pid] = true
				}
				if number, _ := strconv.Atoi(pid); dead[pid] && before[pid] {
					_, _ = unix.Wait4(number, nil, unix.WNOHANG, nil)
				}
			}
		}
	}
}

// residentMemory returns the resident memory of a process in bytes, and 0 if it has ended.
func residentMemory(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64) // the kernel writes digits
	return pages * int64(os.Getpagesize())
}

// beFirstToGo makes the kernel prefer the plugin to the host when memory runs
// out, because the plugin is the one that can be started again.
func beFirstToGo(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("500"), 0) // best effort
}
