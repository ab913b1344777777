package proc

import (
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"syscall"
)

// errTooSlow says that the time for a start was over.
var errTooSlow = errors.New("the start took too long")

// explainExec says why a program cannot be executed, and what to do.
func explainExec(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, statErr := Sum(path); statErr == nil {
			return fmt.Errorf("%s names an interpreter or a loader that does not exist: install it, or correct its first line", path)
		}
		return fmt.Errorf("%s does not exist: build it, or correct command", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not be executed by this user: chmod +x it, and check the directories above it", path)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%s is no program for %s/%s%s: build it for this machine",
			path, runtime.GOOS, runtime.GOARCH, builtFor(path))
	case errors.Is(err, syscall.E2BIG):
		return fmt.Errorf("the arguments and env of %s are too long: shorten them", path)
	}
	return fmt.Errorf("%s cannot be executed: %w", path, err)
}

// builtFor tells which machine a program is for, as far as its file says so.
func builtFor(path string) string {
	if f, err := elf.Open(path); err == nil {
		defer func() { _ = f.Close() }()
		return " but for " + strings.ToLower(strings.TrimPrefix(f.Machine.String(), "EM_")) + " (ELF)"
	}
	if f, err := macho.Open(path); err == nil {
		defer func() { _ = f.Close() }()
		return " but for " + f.Cpu.String() + " (macOS)"
	}
	return ""
}

// explainStart says why a process that was executed did not get ready. tail is
// the last that it wrote on standard error.
func explainStart(err error, tail string) error {
	if tail != "" {
		tail = "; it printed: " + tail
	}
	text := err.Error()
	switch {
	case errors.Is(err, errTooSlow):
		return fmt.Errorf("it was not ready in time: make it start faster, or find out what it waits for%s", tail)
	case strings.Contains(text, "exited before we could connect"), strings.Contains(text, "Unrecognized remote plugin message"):
		return fmt.Errorf("it ended before it was ready: run its command by hand to see why%s", tail)
	case strings.Contains(text, "timeout while waiting"):
		return fmt.Errorf("it printed no handshake in time: it must call pluginsdk.Serve, and start faster%s", tail)
	case strings.Contains(text, "incompatible API version"), strings.Contains(text, "incompatible core API"):
		return fmt.Errorf("it speaks another version of the protocol than this host: rebuild it with an SDK that fits (%s)%s",
			firstLine(text), tail)
	case strings.Contains(text, "unsupported plugin protocol"):
		return fmt.Errorf("it speaks net/rpc and not gRPC: build it with pluginsdk, or see docs/plugins.md%s", tail)
	}
	return fmt.Errorf("%s%s", firstLine(text), tail)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
