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
	"github.com/vestibule-dev/vestibule/v2/internal/finding"
	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/handshake"
)

// A reason is why a process that was executed did not get ready, and what to do.
type reason struct{ what, remedy string }

// Error gives `what: remedy`.
func (r *reason) Error() string { return r.what + ": " + r.remedy }

// The reasons, apart from another protocol.
var (
	errTooSlow      = &reason{"it was not ready in time", "make it start faster, or find out what it waits for"}
	errEnded        = &reason{"it ended before it was ready", "run its command by hand to see why"}
	errNoHandshake  = &reason{"it printed no handshake", "it must call pluginsdk.Serve, and leave standard output open"}
	errNoConnection = &reason{"no connection to the socket that it announced came about", "it must serve gRPC over TLS there, as docs/plugins-reference.md says"}
	errNetRPC       = &reason{"it speaks net/rpc and not gRPC", "build it with pluginsdk, or see docs/plugins-reference.md"}
)

// A protocolError is a handshake of a protocol that this host does not speak.
type protocolError struct{ core, protocol string }

// Error names both versions and the remedy.
func (e *protocolError) Error() string {
	return fmt.Sprintf("it speaks another version of the protocol than this host: rebuild it with an SDK that fits (it has %s of core %s, the host %d of core %d)",
		words.Clean(e.protocol, 20), words.Clean(e.core, 20), handshake.Protocol, plugin.CoreProtocolVersion)
}

// explainExec says why a program cannot be executed, and what to do.
func explainExec(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, statErr := Sum(path); statErr == nil {
			return finding.Finding{What: path + " names an interpreter or a loader that does not exist", Remedy: "install it, or correct its first line"}
		}
		return finding.Finding{What: path + " does not exist", Remedy: "build it, or correct command"}
	case errors.Is(err, fs.ErrPermission):
		return finding.Finding{What: path + " may not be executed by this user", Remedy: "chmod +x it, and check the directories above it"}
	case errors.Is(err, syscall.ENOEXEC):
		return finding.Finding{
			What:   fmt.Sprintf("%s is no program for %s/%s%s", path, runtime.GOOS, runtime.GOARCH, builtFor(path)),
			Remedy: "build it for this machine",
		}
	case errors.Is(err, syscall.E2BIG):
		return finding.Finding{What: "the arguments and env of " + path + " are too long", Remedy: "shorten them"}
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
		tail = "; it printed: " + tail
	}
	found := finding.Finding{What: line + tail}
	var why *reason
	if errors.As(err, &why) {
		found.What, found.Remedy = why.what, why.remedy+tail
	}
	return &startError{found, err}
}

// A startError is a start that failed, in one line.
type startError struct {
	found finding.Finding
	cause error
}

// Error says why, and what to do.
func (e *startError) Error() string { return e.found.Error() }

// Finding returns what is wrong apart from the remedy.
func (e *startError) Finding() finding.Finding { return e.found }

// Unwrap returns the reason.
func (e *startError) Unwrap() error { return e.cause }
