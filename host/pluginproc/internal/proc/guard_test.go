package proc

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
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
	g := newGuard(t.TempDir()+"/x", hclog.NewNullLogger())
	if err := os.Mkdir(g.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	one, two, done, other := sleeper(t, "one"), sleeper(t, "two"), sleeper(t, "done"), sleeper(t, "other")
	if err := g.add(ward{one.Process.Pid, "one", 0}); err != nil {
		t.Skip("there is no shell:", err)
	}
	if err := g.add(ward{done.Process.Pid, "done", 0}); err != nil {
		t.Fatal(err)
	}
	g.remove(ward{done.Process.Pid, "done", 0})
	if err := syscall.Kill(-g.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-g.exited
	if err := g.add(ward{two.Process.Pid, "two", 0}); err != nil {
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

// A guard that was killed is followed by another without anybody starting a plugin,
// and that one knows the groups, and the directory that was moved meanwhile.
func TestGuardIsWatched(t *testing.T) {
	dir := t.TempDir()
	g := newGuard(dir+"/x", hclog.NewNullLogger())
	if err := os.Mkdir(dir+"/y", 0o700); err != nil {
		t.Fatal(err)
	}
	one := sleeper(t, "watched")
	if err := g.add(ward{one.Process.Pid, "watched", 0}); err != nil {
		t.Skip("there is no shell:", err)
	}
	g.mu.Lock()
	first := g.pid
	g.mu.Unlock()
	if err := syscall.Kill(-first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	g.moveTo(dir + "/y")
	now := func() int {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.pid
	}
	for end := time.Now().Add(20 * time.Second); now() == first && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if now() == first {
		t.Fatal("there is no other guard")
	}
	if err := g.in.Close(); err != nil { // as when the host is killed
		t.Fatal(err)
	}
	<-g.exited
	_ = one.Wait() // killed
	if _, err := os.Stat(dir + "/y"); err == nil {
		t.Error("the directory is left")
	}
	if err := g.stop(); err != nil {
		t.Error(err)
	}
}
