package sqlitefile

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// MapLogIndex maps the index of a database's log. A connection of this process must have it open for as long as it is
// mapped: without one another process may cut the file off, and reading what is mapped would end the process. It uses that
// connection's descriptor: one of its own it could never close, as that would drop the locks of the process.
func MapLogIndex(file string) LogIndex {
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
		fd, err := strconv.Atoi(one.Name())
		if err != nil || !leads(filepath.Join(own, one.Name()), file+"-shm") {
			continue
		}
		index, err := syscall.Mmap(fd, 0, os.Getpagesize(), syscall.PROT_READ, syscall.MAP_SHARED)
		if err != nil {
			continue
		}
		if leads(filepath.Join(own, one.Name()), file+"-shm") {
			return index
		}
		_ = syscall.Munmap(index) // the connection was closed meanwhile, and another file has got its number
	}
	return nil
}

// leads tells whether a link leads to a file.
func leads(link, file string) bool {
	name, err := os.Readlink(link)
	return err == nil && name == file
}

// Unmap gives the memory back.
func (w LogIndex) Unmap() error {
	if w == nil {
		return nil
	}
	return syscall.Munmap(w)
}
