package engine

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// mapIndex maps the index of a database's log, which a connection of this process must have open. It uses that connection's
// descriptor: one of its own it could never close, as that would drop the locks of the process.
func mapIndex(file string) walIndex {
	file, err := filepath.EvalSymlinks(file) // SQLite puts the log beside the file itself
	if err != nil {
		return nil
	}
	const own = "/proc/self/fd"
	list, err := os.ReadDir(own)
	if err != nil {
		return nil
	}
	for _, one := range list {
		name, err := os.Readlink(filepath.Join(own, one.Name()))
		fd, numeric := strconv.Atoi(one.Name())
		if err != nil || numeric != nil || name != file+"-shm" {
			continue
		}
		index, err := syscall.Mmap(fd, 0, os.Getpagesize(), syscall.PROT_READ, syscall.MAP_SHARED)
		if err == nil {
			return index
		}
	}
	return nil
}

// unmap gives the memory back.
func (w walIndex) unmap() error {
	if w == nil {
		return nil
	}
	return syscall.Munmap(w)
}
