package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// A launcher removes what is left from a host that was killed, with the processes that are
// still there, and nothing else: not what a living host has, and no folder that only looks
// like one.
func TestSweep(t *testing.T) {
	base := t.TempDir()
	living, err := newFolder(base, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	dead, err := newFolder(base, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.lock.Close(); err != nil { // as the kernel does
		t.Fatal(err)
	}
	shared := filepath.Join(base, prefix+"shared")
	if err := os.Mkdir(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(base, "vestibule1")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, prefix+"link")
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	child, mine := sleeper(t, dead.path), sleeper(t, living.path)
	next, err := newFolder(base, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{living.path: true, dead.path: false, shared: true, other: true, link: true, next.path: true} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	if runtime.GOOS == "linux" {
		if err := child.Wait(); err == nil {
			t.Error("a process of the host that was killed was not")
		}
	}
	if err := mine.Process.Signal(syscall.Signal(0)); err != nil {
		t.Error("a process of a living host was killed:", err)
	}
	for _, f := range []folder{living, next} {
		if err := f.remove(); err != nil {
			t.Error(err)
		}
	}
}

// sleeper starts a process that has a socket directory in a folder, and ends it with the test.
func sleeper(t *testing.T, folder string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "300")
	cmd.Env = append(os.Environ(), "PLUGIN_UNIX_SOCKET_DIR="+folder+"/plugin-dir1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Skip("there is no program sleep")
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	return cmd
}
