package proc

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vestibule-dev/vestibule/v2/internal/finding"
)

// An Image is a program that was checked and is ready to be executed, maybe
// several times. With a checksum in config.hcl it is a private copy, made while
// the checksum was taken: the bytes that were checked are the bytes that run,
// also when the file changes later.
type Image struct {
	path   string            // what is executed
	copied bool              // into a private directory
	Sum    string            // hexadecimal SHA-256 of the program
	files  map[string]string // the same of further files, by path
	close  func()            // removes the copy
}

// OpenImage checks a program and its further files.
func (l *Launcher) OpenImage(s Program) (*Image, error) {
	path := s.Command[0]
	f, err := os.Open(path)
	if err != nil {
		return nil, explainExec(path, err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, finding.Finding{What: path + " is not a file", Remedy: "correct command"}
	}
	if err := unix.Access(path, unix.X_OK); err != nil {
		return nil, explainExec(path, err)
	}
	im := &Image{path: path, close: func() {}}
	if s.SHA256 != "" && !isScript(f) {
		err = l.copyOf(im, f)
	} else {
		im.Sum, err = sumOf(f, io.Discard)
	}
	if err == nil {
		err = sameSum(path, im.Sum, s.SHA256, "sha256")
	}
	if err == nil {
		im.files, err = sumFiles(s)
	}
	if err != nil {
		im.close()
		return nil, err
	}
	return im, nil
}

// Path returns the path of the program that is executed.
func (im *Image) Path() string { return im.path }

// Remove removes the copy, which a process that runs goes on running.
func (im *Image) Remove() { im.close() }

// Recheck compares the files that are executed in place with what they were
// when the image was opened. It is asked after a start, and refuses a process
// whose files were exchanged between the check and the start.
func (im *Image) Recheck(s Program) error {
	if s.SHA256 != "" && im.path == s.Command[0] {
		sum, err := Sum(im.path)
		if err != nil {
			return err
		}
		if err := sameSum(im.path, sum, s.SHA256, "sha256"); err != nil {
			return err
		}
	}
	if len(s.Checksums) == 0 {
		return nil
	}
	_, err := sumFiles(s)
	return err
}

// Outdated tells whether the files on disk are others than those of the image.
func (im *Image) Outdated(s Program) bool {
	sum, err := Sum(s.Command[0])
	if err != nil || sum != im.Sum {
		return true
	}
	files, err := sumFiles(s)
	return err != nil || !maps.Equal(files, im.files)
}

// sumFiles takes the checksums of the files that belong to a plugin beside its
// program: those with a checksum, which must have it, and arguments
// that name a file, such as a script.
func sumFiles(s Program) (map[string]string, error) {
	files := map[string]string{}
	for _, path := range slices.Sorted(maps.Keys(s.Checksums)) {
		sum, err := Sum(path)
		if err != nil {
			return nil, err
		}
		if err := sameSum(path, sum, s.Checksums[path], "checksums", path); err != nil {
			return nil, err
		}
		files[path] = sum
	}
	for _, arg := range s.Command[1:] {
		if !filepath.IsAbs(arg) {
			arg = filepath.Join(s.Dir, arg)
		}
		if info, err := os.Stat(arg); err != nil || !info.Mode().IsRegular() || files[arg] != "" {
			continue
		}
		sum, err := Sum(arg)
		if err != nil {
			return nil, err
		}
		files[arg] = sum
	}
	return files, nil
}

// sameSum compares the checksum of the file at path; setting leads to the wanted one
// in the block of the plugin.
func sameSum(path, got, want string, setting ...string) error {
	if want == "" || strings.EqualFold(got, want) {
		return nil
	}
	return finding.Finding{
		Path: setting, What: fmt.Sprintf("%s has the checksum %s and not %s as config.hcl says", path, got, strings.ToLower(want)),
		Remedy: `do not run it unless you know why; for a new build put the output of "vestibule plugin sum" into config.hcl`,
	}
}

// Gone reports whether the image was a copy and is not there any more, or is in a directory
// that others can write by now: its name is free once something has cleaned up.
func (im *Image) Gone() bool {
	if !im.copied {
		return false
	}
	_, err := os.Stat(im.path)
	return err != nil || !isOurs(filepath.Dir(im.path))
}

// copyOf makes the image a copy of the program, in a private directory that programs can
// be executed in: that of the sockets, or else one below the temporary directory.
func (l *Launcher) copyOf(im *Image, f *os.File) error {
	for _, base := range []string{l.base, os.TempDir()} {
		home, err := l.home(base)
		if err != nil {
			return err
		}
		if err := im.copyTo(home, f); err != nil {
			return err
		}
		if unix.Access(im.path, unix.X_OK) == nil {
			return nil
		} // else the file system is mounted noexec
		im.close()
	}
	return finding.Finding{
		What:   fmt.Sprintf("programs cannot be executed in %s, nor in %s", l.base, os.TempDir()),
		Remedy: "set server.run_dir, or TMPDIR, to a directory where they can",
	}
}

// copyTo copies the program into a directory of its own below home.
func (im *Image) copyTo(home string, f *os.File) error {
	im.copied = true
	dir, err := os.MkdirTemp(home, "bin")
	if err != nil {
		return fmt.Errorf("make a directory for the program: %w", err)
	}
	im.close = func() { _ = os.RemoveAll(dir) }
	im.path = filepath.Join(dir, filepath.Base(f.Name()))
	// A fork in another goroutine must not inherit the descriptor: a file that
	// is open for writing cannot be executed (ETXTBSY).
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	to, err := os.OpenFile(im.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o500)
	if err != nil {
		return fmt.Errorf("copy the program: %w", err)
	}
	im.Sum, err = sumOf(f, to)
	if err := errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("copy the program: %w", err)
	}
	return nil
}

func isScript(f *os.File) bool {
	var head [2]byte
	_, err := f.ReadAt(head[:], 0)
	return err == nil && string(head[:]) == "#!"
}

// sumOf copies f to w and returns its checksum.
func sumOf(f *os.File, w io.Writer) (string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("read %s: %w", f.Name(), err)
	}
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(h, w), f); err != nil {
		return "", fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
