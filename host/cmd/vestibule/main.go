package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	// An image has nothing but this program: what systems bring otherwise, the time
	// zones and whom TLS trusts, is in it, and is used only where the system has none.
	_ "time/tzdata"

	_ "golang.org/x/crypto/x509roots/fallback"

	"github.com/vestibule-dev/vestibule/v2/host/config"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(run(context.Background(), console{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:]))
}

// A console is where a command reads from and prints to.
type console struct {
	in       io.Reader
	out, err io.Writer
}

// run runs the command that the arguments name and returns its exit code.
func run(ctx context.Context, c console, args []string) int {
	root := rootCommand(c)
	root.SetArgs(append([]string{}, args...)) // nil would be the arguments of the process
	err := oneDash(root, args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	var wrong *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &wrong):
		fmt.Fprintf(c.err, "vestibule: %s\n%s\n", wrong.what, wrong.hint)
		return exitUsage
	}
	tellError(c.err, err)
	return exitFailed
}

// tellError prints why a command failed, unless that was said already.
func tellError(w io.Writer, err error) {
	var found config.Findings
	switch {
	case errors.Is(err, errReported):
	case errors.As(err, &found) && err.Error() == found.Error():
		report(w, found)
	default:
		fmt.Fprintf(w, "vestibule: %s\n", oneLine(err))
	}
}

// errReported is returned by commands that have said already what is wrong.
var errReported = errors.New("reported")

// A usageError is a command line that makes no sense.
type usageError struct{ what, hint string }

func (e *usageError) Error() string { return e.what }

// oneLine is the text of an error; findings keep a line each.
func oneLine(err error) string {
	var lines []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// report prints findings, a line each, and reports whether one of them is an
// error.
func report(w io.Writer, findings config.Findings) (failed bool) {
	for _, f := range findings {
		fmt.Fprintln(w, f)
	}
	return findings.Failed()
}
