package sqlsource_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlitefile"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// unprivileged makes the rest of a test's own goroutine bound by the permissions of files, as root is not.
func unprivileged(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	runtime.LockOSThread()
	t.Cleanup(func() {
		_ = syscall.Setfsuid(0)
		runtime.UnlockOSThread()
	})
	if err := syscall.Setfsuid(65534); err != nil {
		t.Skip("files cannot be used as somebody else:", err)
	}
}

// A file that came in the place of the database is not read where the log of the old one cannot be removed, and neither is
// the old one, however soon after the first error somebody asks.
func TestALogThatCannotBeRemoved(t *testing.T) {
	dir := t.TempDir()
	file, next := filepath.Join(dir, "app.db"), filepath.Join(dir, "next.db")
	writer := exchangeFile(t, file, "old", 10)
	if err := exchangeFile(t, next, "new", 10).Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, sqlsource.Database{Dialect: "sqlite", DSN: file}, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}})
	const page = "things?$top=10&$orderby=id"
	if got := s.get(page); !strings.Contains(got, "old-10") {
		t.Fatalf("got %.100s", got)
	}
	if err := os.Rename(next, file); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{filepath.Dir(dir), dir} { // that of the test is for its owner only
		if err := os.Chmod(d, 0o555); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755)) })
	unprivileged(t)
	time.Sleep(sqlitefile.LookEvery)
	for i := range 50 {
		if got := s.get(page); strings.Contains(got, "old-") || strings.Contains(got, "new-") {
			t.Fatalf("%d: got %.100s", i, got)
		}
	}
	if err := writer.Ping(); err != nil {
		t.Error(err)
	}
}
