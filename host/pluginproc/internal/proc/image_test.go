package proc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

func newTestLauncher(t *testing.T, base string) *Launcher {
	t.Helper()
	l, err := NewLauncher(base, Options{
		Logger: hclog.NewNullLogger(), Now: time.Now, StartTimeout: 5 * time.Second, Dropped: func(string, int) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		for _, f := range l.folders {
			if _, err := os.Stat(f.path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left", f.path)
			}
		}
	})
	return l
}

// Where the file system of the sockets does not allow to execute files, programs run from
// the temporary directory.
func TestProgramBesideNoexec(t *testing.T) {
	base := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", base).CombinedOutput(); err != nil {
		t.Skipf("nothing can be mounted: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", base).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	link := filepath.Join("/tmp", filepath.Base(filepath.Dir(base))+"noexec") // short, as a socket's path must be
	if err := os.Symlink(base, link); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(link) })
	l := newTestLauncher(t, link)
	path, sum := trueProgram(t)
	im, err := l.OpenImage(Program{Name: "x", Command: []string{path}, SHA256: sum})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(im.Remove)
	if out, err := exec.Command(im.path).CombinedOutput(); err != nil || !strings.HasPrefix(im.path, os.TempDir()) {
		t.Errorf("%s: %v: %s", im.path, err, out)
	}
	t.Setenv("TMPDIR", link)
	if _, err := newTestLauncher(t, link).OpenImage(Program{Name: "x", Command: []string{path}, SHA256: sum}); err == nil ||
		!strings.Contains(err.Error(), "set server.run_dir, or TMPDIR, to a directory where they can") {
		t.Errorf("where no program can be executed: %v", err)
	}
}

// trueProgram returns a program that does nothing, and its checksum.
func trueProgram(t *testing.T) (path, sum string) {
	t.Helper()
	path, err := exec.LookPath("true")
	if err != nil {
		t.Skip("there is no program true")
	}
	sum, err = Sum(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, sum
}

// A script runs where it is, and is checked again once it runs: one that was
// exchanged in between is refused.
func TestScriptExchangedAtTheStart(t *testing.T) {
	l := newTestLauncher(t, "")
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho '# changed' >> \"$0\"\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	sum, err := Sum(path)
	if err != nil {
		t.Fatal(err)
	}
	prog := Program{Name: "x", Command: []string{path}, SHA256: sum}
	im, err := l.OpenImage(prog)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(im.Remove)
	if im.path != path {
		t.Errorf("the script runs from %s", im.path)
	}
	if err := im.Recheck(prog); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Launch(t.Context(), prog, im, pluginsdk.Setup{}); err == nil {
		t.Fatal("it started")
	}
	if err := im.Recheck(prog); err == nil || !strings.Contains(err.Error(), "has the checksum") {
		t.Errorf("the change was not seen: %v", err)
	}
	if !im.Outdated(prog) {
		t.Error("the image counts as current")
	}
}

// A copy is gone where a directory of its name is not this user's alone.
func TestCopyIsReplacedByOthers(t *testing.T) {
	l := newTestLauncher(t, "")
	path, sum := trueProgram(t)
	im, err := l.OpenImage(Program{Name: "x", Command: []string{path}, SHA256: sum})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(im.Remove)
	if im.Gone() {
		t.Error("the copy is gone at once")
	}
	if err := os.Chmod(filepath.Dir(im.path), 0o755); err != nil { // as one that others made, for this user to read
		t.Fatal(err)
	}
	if !im.Gone() {
		t.Error("what is there now would run")
	}
}

// A copy runs on when it is removed.
func TestCopyIsRemoved(t *testing.T) {
	l := newTestLauncher(t, "")
	path, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("there is no program sleep")
	}
	sum, err := Sum(path)
	if err != nil {
		t.Fatal(err)
	}
	im, err := l.OpenImage(Program{Name: "x", Command: []string{path}, SHA256: sum})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(im.path, l.folders[l.base].path) || filepath.Base(im.path) != filepath.Base(path) {
		t.Errorf("the copy is %s", im.path)
	}
	cmd := exec.Command(im.path, "0.1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	im.Remove()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(im.path)); !errors.Is(err, os.ErrNotExist) {
		t.Error("the copy is left")
	}
}
