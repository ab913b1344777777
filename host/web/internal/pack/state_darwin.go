package pack

import (
	"io/fs"
	"syscall"
)

// stateOf is the state of a file; zero for one that is no file of the system.
func stateOf(info fs.FileInfo) state {
	own, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return state{}
	}
	return state{number: own.Ino, changed: own.Ctimespec.Nano()}
}
