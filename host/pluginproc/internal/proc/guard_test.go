package proc

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// sleeper starts a process group that would outlive the test.
func sleeper(t *testing.T, mark string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "300")
	cmd.Env = append(os.Environ(), instanceKey+"="+mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Skip("there is no program sleep")
	}
	return cmd
}

// When its input ends, the guard kills the groups that it was given, also those
// given before the guard itself was killed and restarted, and no others.
func TestGuard(t *testing.T) {
	g := &guard{dir: t.TempDir() + "/x"}
	if err := os.Mkdir(g.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	one, two, done, other := sleeper(t, "one"), sleeper(t, "two"), sleeper(t, "done"), sleeper(t, "other")
	if err := g.add(one.Process.Pid, "one"); err != nil {
		t.Skip("there is no shell:", err)
	}
	if err := g.add(done.Process.Pid, "done"); err != nil {
		t.Fatal(err)
	}
	g.remove(done.Process.Pid, "done")
	if err := syscall.Kill(-g.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-g.exited
	if err := g.add(two.Process.Pid, "two"); err != nil {
		t.Fatal(err)
	}
	if err := g.stop(); err != nil {
		t.Fatal(err)
	}
	for name, cmd := range map[string]*exec.Cmd{"one": one, "two": two} {
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			t.Errorf("%s lives", name)
			_ = cmd.Process.Kill()
		}
	}
	for name, cmd := range map[string]*exec.Cmd{"done": done, "other": other} {
		if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("%s was ended: %v", name, err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	if _, err := os.Stat(g.dir); err == nil {
		t.Error("the directory is left")
	}
}
