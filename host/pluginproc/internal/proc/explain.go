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

	"github.com/hashicorp/go-plugin"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Why a process that was executed did not get ready, each with what to do.
var (
	errTooSlow     = errors.New("it was not ready in time: make it start faster, or find out what it waits for")
	errEnded       = errors.New("it ended before it was ready: run its command by hand to see why")
	errNoHandshake = errors.New("it printed no handshake: it must call pluginsdk.Serve, and leave standard output open")
	errNetRPC      = errors.New("it speaks net/rpc and not gRPC: build it with pluginsdk, or see docs/plugins.md")
)

// A protocolError is a handshake of a protocol that this host does not speak.
type protocolError struct{ core, protocol string }

// Error names both versions and the remedy.
func (e *protocolError) Error() string {
	return fmt.Sprintf("it speaks another version of the protocol than this host: rebuild it with an SDK that fits (it has %s of core %s, the host %d of core %d)",
		Clean(e.protocol, 20), Clean(e.core, 20), pluginsdk.ProtocolVersion, plugin.CoreProtocolVersion)
}

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

// withTail adds what a process wrote last to the reason why it did not get ready.
func withTail(err error, tail string) error {
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n") // go-plugin's errors have several
	if tail != "" {
		line += "; it printed: " + tail
	}
	return &startError{line, err}
}

// A startError is a start that failed, in one line.
type startError struct {
	text  string
	cause error
}

// Error says why, and what to do.
func (e *startError) Error() string { return e.text }

// Unwrap returns the reason.
func (e *startError) Unwrap() error { return e.cause }
