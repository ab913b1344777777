package proc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

func newTestLauncher(t *testing.T) *Launcher {
	t.Helper()
	l, err := NewLauncher("", Options{
		Logger: hclog.NewNullLogger(), Now: time.Now, StartTimeout: 5 * time.Second, Dropped: func(string, int) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(l.dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left", l.dir)
		}
	})
	return l
}

// On a file system that does not allow to execute files, programs run from memory.
func TestProgramInMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux executes memory")
	}
	path, err := exec.LookPath("true")
	if err != nil {
		t.Skip("there is no program true")
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	im := &Image{close: func() {}}
	im.uses.Store(1)
	if err := im.inMemory(f); err != nil {
		t.Fatal(err)
	}
	defer im.Release()
	if want, err := Sum(path); err != nil || im.Sum != want {
		t.Errorf("the checksum is %s, want %s (%v)", im.Sum, want, err)
	}
	if out, err := exec.Command(im.path).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if err := os.WriteFile(im.path, []byte("x"), 0); err == nil {
		t.Error("the program can be written to")
	}
}

// A script runs where it is, and is checked again once it runs: one that was
// exchanged in between is refused.
func TestScriptExchangedAtTheStart(t *testing.T) {
	l := newTestLauncher(t)
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
	defer im.Release()
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

// A copy is removed with its last user, not before.
func TestCopyIsRemovedWithItsLastUser(t *testing.T) {
	l := newTestLauncher(t)
	path, err := exec.LookPath("true")
	if err != nil {
		t.Skip("there is no program true")
	}
	sum, err := Sum(path)
	if err != nil {
		t.Fatal(err)
	}
	im, err := l.OpenImage(Program{Name: "x", Command: []string{path}, SHA256: sum})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(im.path, l.dir) || filepath.Base(im.path) != filepath.Base(path) {
		t.Errorf("the copy is %s", im.path)
	}
	other := im.Retain()
	im.Release()
	if _, err := os.Stat(im.path); err != nil {
		t.Error(err)
	}
	other.Release()
	if _, err := os.Stat(filepath.Dir(im.path)); !errors.Is(err, os.ErrNotExist) {
		t.Error("the copy is left")
	}
}
