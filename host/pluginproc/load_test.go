package pluginproc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
)

// Sign-ins go on while the plugin is killed six times and exchanged five times.
// LONG=1 makes ten thousand of them, and otherwise it is one in ten. A call is made
// again once, so that each meets one disturbance at most: the next one waits until
// the calls that met the last have ended.
func TestNoSignInFailsUnderKillsAndSwaps(t *testing.T) {
	calls, pause := 1_000, 10*time.Millisecond // so that kills do not follow each other too closely
	if os.Getenv("LONG") != "" {
		calls, pause = 10_000, 0
	}
	spec := faulty(t, "ok", "0")
	h := started(t, pluginproc.Options{}, spec)
	var done atomic.Int64
	var underWay sync.RWMutex
	var disturb sync.WaitGroup
	disturb.Go(func() {
		for i := range 11 {
			for done.Load() < int64(calls*(i+1)/12) && !t.Failed() {
				time.Sleep(time.Millisecond)
			}
			underWay.Lock()
			underWay.Unlock() //nolint:staticcheck // it waits for those who hold it, and keeps nobody out
			if i%2 == 0 {
				if pid := h.pid(); pid > 0 { // 0 while it is down, which would be the group of this test
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
				continue
			}
			next := spec
			next.Command = append([]string(nil), spec.Command...)
			next.Command[2] = fmt.Sprint(i)
			if err := h.Reload(t.Context(), []pluginproc.Spec{next}); err != nil {
				t.Error("swap:", err)
			}
		}
	})
	var work sync.WaitGroup
	for range 16 {
		work.Go(func() {
			for done.Add(1) <= int64(calls) && !t.Failed() {
				underWay.RLock()
				_, err := h.Dispenser().Dispense(t.Context(), person("any"), request())
				underWay.RUnlock()
				if err != nil {
					t.Error("a sign-in failed:", err)
				}
				time.Sleep(pause)
			}
		})
	}
	work.Wait()
	disturb.Wait()
	if n := h.counts.get("restart"); n < 5 {
		t.Errorf("the plugin was started again %d times only; the test does not test much", n)
	}
}

// Swaps leave nothing behind: what one of them left would be there a hundred times.
// SWAPS=1000 makes a thousand of them, which takes two minutes of a processor.
func TestSwapsLeaveNothingBehind(t *testing.T) {
	swaps := 20
	if os.Getenv("LONG") != "" {
		swaps = 100
	}
	if n, err := strconv.Atoi(os.Getenv("SWAPS")); err == nil {
		swaps = n
	}
	spec := faulty(t, "ok", "0")
	h := started(t, pluginproc.Options{}, spec)
	swap := func(i int) {
		next := spec
		next.Command = append([]string(nil), spec.Command...)
		next.Command[2] = fmt.Sprint(i)
		if err := h.Reload(t.Context(), []pluginproc.Spec{next}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.dispense(t, "any"); err != nil {
			t.Fatal(err)
		}
	}
	swap(-2)
	swap(-1)
	before := measure(h)
	for i := range swaps {
		swap(i)
	}
	var after usage
	if !within(patience, func() bool { after = measure(h); return after == before || after.below(before) }) {
		t.Errorf("after %d swaps: %+v, before: %+v", swaps, after, before)
	}
}

// A usage is what a leak would show in.
type usage struct{ files, goroutines, left, children int }

func (u usage) below(v usage) bool {
	return u.files <= v.files && u.goroutines <= v.goroutines && u.left <= v.left && u.children <= v.children
}

func measure(h *host) usage {
	u := usage{goroutines: runtime.NumGoroutine(), left: -1}
	if fds, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.files = len(fds)
	}
	_ = filepath.WalkDir(h.runDir, func(string, os.DirEntry, error) error { u.left++; return nil })
	u.children = len(childrenOf(os.Getpid()))
	return u
}

// hostVariable makes the test binary a host of its own, for a test that kills it.
const hostVariable = "PLUGINPROC_TEST_HOST"

// runAsHost starts the plugins that the variable describes, prints their process
// ids, and waits to be killed.
func runAsHost(specs string) {
	var list []pluginproc.Spec
	if err := json.Unmarshal([]byte(specs), &list); err != nil {
		panic(err)
	}
	m, err := pluginproc.New(list, pluginproc.Options{RunDir: os.Getenv("PLUGINPROC_TEST_DIR")})
	if err != nil {
		panic(err)
	}
	if err := m.Start(context.Background()); err != nil {
		panic(err)
	}
	for _, st := range m.Status() {
		fmt.Println(st.PID)
	}
	fmt.Println("ready")
	select {}
}

// When the host is killed its plugins end at once, also those that do not watch their
// lifeline and frozen ones. The next host ends what they started, and removes the files.
func TestKilledHostLeavesNothing(t *testing.T) {
	for _, start := range []string{"ok", "forks", "ignores-stop", "spins", "frozen"} {
		t.Run(start, func(t *testing.T) {
			t.Parallel()
			spec := faulty(t, strings.Replace(start, "frozen", "ok", 1))
			dir, err := os.MkdirTemp("/tmp", "vk")
			if err != nil {
				t.Fatal(err)
			}
			pids, cmd := asHost(t, nil, dir, spec)
			if start == "frozen" {
				if err := syscall.Kill(pids[0], syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // killed
			if !within(patience, func() bool { return gone(pids[0]) }) {
				t.Errorf("plugin %d lives", pids[0])
			}
			h := started(t, pluginproc.Options{RunDir: dir}, faulty(t, "ok"))
			childrenEnd(t, spec)
			if folders, err := os.ReadDir(dir); err != nil || len(folders) != 1 {
				t.Errorf("%v, want the folder of the new host alone (%v)", folders, err)
			}
			if !strings.Contains(h.log.String(), "a host was killed, and what it left is removed") {
				t.Error("the log does not say so")
			}
		})
	}
}

// As process 1 a host reaps what its plugins leave, in their group and away from it.
func TestHostAsProcess1Reaps(t *testing.T) {
	t.Parallel()
	through := container(t)
	spec := faulty(t, "forks")
	spec.Env = nil
	dir, err := os.MkdirTemp("/tmp", "v1")
	if err != nil {
		t.Fatal(err)
	}
	_, cmd := asHost(t, through, dir, spec)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		_ = os.RemoveAll(dir)
	})
	host := childrenOf(cmd.Process.Pid)
	if len(host) != 1 {
		t.Fatalf("%d hosts", len(host))
	}
	plugin := childrenOf(host[0])
	left := childrenOf(plugin[0])
	if len(plugin) != 1 || len(left) != 2 {
		t.Fatalf("%d plugins, and %d processes that they started", len(plugin), len(left))
	}
	for _, pid := range append(plugin, left...) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Error(err)
		}
	}
	for _, pid := range left {
		if !within(patience, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }) {
			t.Errorf("process %d was not reaped", pid)
		}
	}
}

// container returns a command that makes another one process 1 of processes of its own, as in a
// container without an init.
func container(t *testing.T) []string {
	t.Helper()
	through := []string{"unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"}
	if out, err := exec.Command(through[0], append(through[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no process can be process 1: %v: %s", err, out)
	}
	return through
}

// Hosts that share a run_dir, each process 1 of a container, as in an emptyDir that outlives
// them. What a killed one left, with the copy of a pinned program, is gone once the next one
// has started. What a living host has stays, and its plugin goes on.
func TestKilledContainersLeaveNothing(t *testing.T) {
	t.Parallel()
	through, spec := container(t), faulty(t, "forks")
	sum, err := pluginproc.Sum(spec.Command[0])
	if err != nil {
		t.Fatal(err)
	}
	spec.SHA256, spec.Env = sum, nil
	dir, err := os.MkdirTemp("/tmp", "ve")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var hosts []*exec.Cmd
	kill := func(cmd *exec.Cmd) {
		for _, host := range childrenOf(cmd.Process.Pid) {
			_ = syscall.Kill(host, syscall.SIGKILL) // it may have ended
		}
		_ = cmd.Wait() // once all of its processes have ended
	}
	t.Cleanup(func() {
		for _, cmd := range hosts {
			kill(cmd)
		}
	})
	// start starts a host, and returns its folder.
	start := func(before ...string) string {
		t.Helper()
		_, cmd := asHost(t, through, dir, spec)
		hosts = append(hosts, cmd)
		for _, folder := range entries(t, dir) {
			if !slices.Contains(before, folder) {
				return folder
			}
		}
		t.Fatal("the host has no folder")
		return ""
	}
	living := start()
	killed := start(living)
	plugin := childrenOf(childrenOf(hosts[0].Process.Pid)[0])
	for range 3 {
		kill(hosts[len(hosts)-1])
		next := start(living, killed)
		if folders := entries(t, dir); len(folders) != 2 || !slices.Contains(folders, living) || !slices.Contains(folders, next) {
			t.Errorf("%v, want that of the living host, %s, and that of the new one, %s", folders, living, next)
		}
		copies, err := filepath.Glob(dir + "/*/bin*/faultplugin")
		if err != nil || len(copies) != 2 {
			t.Errorf("copies %v (%v), want one of each host", copies, err)
		}
		killed = next
	}
	if len(plugin) != 1 || gone(plugin[0]) {
		t.Errorf("the plugin %v of the living host ended", plugin)
	}
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// childrenOf returns the processes that a process has started.
func childrenOf(pid int) []int {
	var pids []int
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range tasks {
		text, _ := os.ReadFile(file) // a thread may end
		for _, field := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// asHost runs the test binary as a host, through another program or by itself, and returns
// its plugins' process ids.
func asHost(t *testing.T, through []string, dir string, specs ...pluginproc.Spec) ([]int, *exec.Cmd) {
	t.Helper()
	text, err := json.Marshal(specs)
	if err != nil {
		t.Fatal(err)
	}
	command := append(slices.Clone(through), os.Args[0])
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), hostVariable+"="+string(text), "PLUGINPROC_TEST_DIR="+dir)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if lines.Text() == "ready" {
			return pids, cmd
		}
		var pid int
		if _, err := fmt.Sscan(lines.Text(), &pid); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	t.Fatal("the host did not get ready")
	return nil, nil
}
