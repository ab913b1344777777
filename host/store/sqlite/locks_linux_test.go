package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jmoiron/sqlx"
)

// locks counts the locks of this process on a file.
func locks(t *testing.T, file string) int {
	t.Helper()
	var of syscall.Stat_t
	text, err := os.ReadFile("/proc/locks")
	if err == nil {
		err = syscall.Stat(file, &of)
	}
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, fmt.Sprintf(" %d ", os.Getpid())) && strings.Contains(line, fmt.Sprintf(":%d ", of.Ino)) {
			n++
		}
	}
	return n
}

// A program may have its own connections to the file before it opens ours. Whoever closes a descriptor of the file in that
// process drops their locks (https://www.sqlite.org/howtocorrupt.html, 2.2), and another process may then take the log away.
func TestOpenKeepsTheLocksOfTheProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.db")
	own := sqlx.MustOpen("sqlite", file+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)")
	t.Cleanup(func() { _ = own.Close() })
	own.MustExec("CREATE TABLE things (n INTEGER)")
	before := locks(t, file)
	if before == 0 {
		t.Skip("no locks of files are told here")
	}
	open(t, file)
	if after := locks(t, file); after < before {
		t.Errorf("of %d locks %d are left", before, after)
	}
}
