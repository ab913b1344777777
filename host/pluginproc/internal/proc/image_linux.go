package proc

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// inMemory puts the program into sealed memory, for hosts whose temporary
// directory does not allow to execute files.
func (im *Image) inMemory(f *os.File) error {
	im.close()
	im.close = func() {}
	fd, err := unix.MemfdCreate("plugin", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return fmt.Errorf("put the program into memory: %w", err)
	}
	to := os.NewFile(uintptr(fd), "plugin")
	im.close = func() { _ = to.Close() }
	if im.Sum, err = sumOf(f, to); err == nil {
		seals := unix.F_SEAL_WRITE | unix.F_SEAL_GROW | unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("put the program into memory: %w", err), to.Close())
	}
	im.path = fmt.Sprintf("/proc/self/fd/%d", fd)
	return nil
}
