package main

import (
	"os"
	"runtime"
	"syscall"
)

// apart has the plugin served while the thread that the process began with ends: the
// kernel then calls the process a zombie, although it works.
func apart(f *fault) {
	runtime.LockOSThread() // main stays on its thread, which is the first unless it was moved
	if syscall.Gettid() != os.Getpid() {
		fail(syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
	}
	f.apart = true
}
