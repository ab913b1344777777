package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sys/unix"
)

// prefix begins the name of a private folder. With ten digits, and 38 bytes of go-plugin's
// below it, the path of a socket has 103 bytes where the base has 45, as macOS allows.
const prefix = "vestplug-"

// A folder is a private directory, which all sockets and copies of programs are in. Its
// lock ends with the host, however that ends: one without a lock is left from a host that
// was killed.
type folder struct {
	path string
	lock *os.File
}

// newFolder makes a private folder below base, after what killed hosts left there is gone.
func newFolder(base string, log hclog.Logger) (folder, error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return folder{}, fmt.Errorf("make the directory for the sockets of plugins: %w", err)
	}
	sweep(base, log)
	for try := 1; ; try++ {
		path, err := os.MkdirTemp(base, prefix)
		if err != nil {
			return folder{}, fmt.Errorf("make a directory for the sockets of plugins: %w", err)
		}
		lock := lockOf(path)
		if lock != nil || try == 5 { // on a file system without locks, where nobody sweeps
			return folder{path, lock}, nil
		}
		_ = os.Remove(path) // which the sweep of another host has locked, and removes, too
	}
}

// lockOf locks a folder, and returns nil if it is not this user's alone, or if a host has it.
func lockOf(path string) *os.File {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil || !isOurs(path) {
		_ = f.Close()
		return nil
	}
	return f
}

// isOurs reports whether a directory is there, and this user's alone.
func isOurs(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// remove removes the folder with all that is in it.
func (f folder) remove() error {
	err := os.RemoveAll(f.path)
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
}

// sweep ends the plugins of hosts that were killed, and removes their folders below base.
func sweep(base string, log hclog.Logger) {
	entries, _ := os.ReadDir(base) // newFolder says what is wrong with it
	for _, e := range entries {
		path := filepath.Join(base, e.Name())
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		lock := lockOf(path)
		if lock == nil {
			continue
		}
		ended := endUsers(path)
		for pass := 0; pass < 100 && endUsers(path) > 0; pass++ { // they may have been starting others
			time.Sleep(10 * time.Millisecond)
		}
		err := folder{path, lock}.remove()
		log.Warn("a host was killed, and what it left is removed", "folder", path, "processes", ended, "error", err)
	}
}
