package sqlite_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
	"github.com/vestibule-dev/vestibule/v2/host/store/storetest"
)

func fixture(t testing.TB) func(context.Context) (*store.DB, error) {
	file := filepath.Join(t.TempDir(), "test.db")
	return func(ctx context.Context) (*store.DB, error) { return sqlite.Open(ctx, file) }
}

func TestStore(t *testing.T) { storetest.Run(t, fixture) }

// open opens and migrates a database, and closes it when the test ends.
func open(t testing.TB, dsn string) *store.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

func pragma(t *testing.T, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}, name string,
) string {
	t.Helper()
	var value string
	if err := db.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestConnectionSettings(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	for name, want := range map[string]string{
		"busy_timeout": "1000", "journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "mmap_size": "0",
	} {
		if got := pragma(t, db.Writer(), name); got != want {
			t.Errorf("writer: %s is %s, want %s", name, got, want)
		}
		if got := pragma(t, db.Reader(), name); got != want {
			t.Errorf("reader: %s is %s, want %s", name, got, want)
		}
	}
	if _, err := db.Reader().Exec(`DELETE FROM users`); err == nil {
		t.Error("a reader wrote")
	}
	if n := db.Writer().Stats().MaxOpenConnections; n != 1 {
		t.Errorf("%d writers, want 1", n)
	}
}

func TestDSN(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ dsn, file string }{
		"path":                     {filepath.Join(dir, "a.db"), "a.db"},
		"path with odd characters": {filepath.Join(dir, "b ?#%41&mode=memory.db"), "b ?#%41&mode=memory.db"},
		"URI":                      {"file:" + filepath.Join(dir, "c.db"), "c.db"},
		"URI with host":            {"file://" + filepath.Join(dir, "d.db"), "d.db"},
		"URI with escapes":         {"file:" + filepath.Join(dir, "e%20f.db"), "e f.db"},
		"URI with settings":        {"file:" + filepath.Join(dir, "g.db") + "?_pragma=synchronous(NORMAL)", "g.db"},
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t, c.dsn)
			want := filepath.Join(dir, c.file)
			if db.Path() != want {
				t.Errorf("path is %q, want %q", db.Path(), want)
			}
			info, err := os.Stat(want)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("mode is %v, want readable by the owner only", info.Mode())
			}
			if strings.Contains(c.dsn, "NORMAL") && pragma(t, db.Writer(), "synchronous") != "1" {
				t.Error("the setting in the DSN had no effect")
			}
		})
	}
}

func TestRefusedDSN(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, dsn := range map[string]string{
		"empty":               "",
		"memory":              ":memory:",
		"memory URI":          "file::memory:?cache=shared",
		"memory mode":         "file:x.db?mode=memory",
		"missing directory":   filepath.Join(dir, "missing", "a.db"),
		"a directory":         dir,
		"not a database":      text,
		"read-only, missing":  "file:" + filepath.Join(dir, "none.db") + "?mode=ro",
		"unknown setting":     "file:" + filepath.Join(dir, "s.db") + "?_txlock=never",
		"malformed escape":    "file:" + filepath.Join(dir, "%zz.db"),
		"wrong value, by key": "file:" + filepath.Join(dir, "k.db") + "?_journal_mode=sometimes",
	} {
		t.Run(name, func(t *testing.T) {
			db, err := sqlite.Open(t.Context(), dsn)
			if err == nil {
				_ = db.Close()
				t.Fatal("opened")
			}
			if !strings.HasPrefix(err.Error(), "open database") {
				t.Errorf("error %q", err)
			}
		})
	}
}

func TestBackupWhileServing(t *testing.T) {
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "a.db"))
	if _, err := db.AddUser(t.Context(), "ada@example.com", "Ada", "x"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "it's a copy.db")
	// Somebody is in the middle of a change, which the copy must not have.
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		if err := db.Outbox().Queue(ctx, outbox.Item{UserID: "1", Purpose: "password_reset", Locale: "en"}); err != nil {
			return err
		}
		return db.Backup(t.Context(), file)
	})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	backup := open(t, file)
	if u, err := backup.Users().FindByLogin(t.Context(), "email", "ada@example.com"); err != nil || u.Name != "Ada" {
		t.Fatalf("%+v, %v", u, err)
	}
	if m, err := backup.Outbox().Lease(t.Context(), outbox.Claim{Free: []string{""}, Known: []string{""}, Now: time.Now(), Until: time.Now()}); err != nil || m.ID != "" {
		t.Fatalf("%+v, %v", m, err)
	}
	for range 20 { // every connection of the pool still refuses to write
		if _, err := db.Reader().Exec(`DELETE FROM users`); err == nil {
			t.Fatal("a reader wrote after the backup")
		}
	}
	if err := db.Backup(t.Context(), filepath.Join(dir, "missing", "copy.db")); err == nil {
		t.Fatal("backup into a missing directory")
	}
}

// The worker asks for mail all the time: with nothing due it must not wait for
// the one writer.
func TestLeaseOnlyReads(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	err := db.InTx(t.Context(), func(context.Context) error {
		if m, err := db.Outbox().Lease(t.Context(), outbox.Claim{Free: []string{""}, Known: []string{""}, Now: time.Now(), Until: time.Now()}); err != nil || m.ID != "" {
			t.Errorf("%+v, %v", m, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNotReadyWhileLocked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	db, other := open(t, file), open(t, file)
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := other.InTx(t.Context(), func(context.Context) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := db.Ready(ctx); err == nil {
			t.Error("ready, although somebody else holds the lock")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Two processes write to one file: the second waits, and is not turned away.
func TestWaitsForAnotherProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	one, two := open(t, file), open(t, file)
	inside := make(chan struct{})
	done := make(chan error)
	go func() {
		done <- one.InTx(t.Context(), func(ctx context.Context) error {
			close(inside)
			time.Sleep(100 * time.Millisecond)
			return one.Outbox().Queue(ctx, outbox.Item{UserID: "1", Purpose: "password_reset", Locale: "en"})
		})
	}()
	<-inside
	if err := two.Outbox().Queue(t.Context(), outbox.Item{UserID: "2", Purpose: "password_reset", Locale: "en"}); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestConflictIsGivenUp(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	impatient := open(t, "file:"+db.Path()+"?_pragma=busy_timeout(1)")
	tx, err := db.Writer().BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	busy := impatient.Outbox().Queue(t.Context(), outbox.Item{UserID: "1", Purpose: "password_reset", Locale: "en"})
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if busy == nil {
		t.Fatal("wrote while another process held the lock")
	}
	tries := 0
	err = db.InTx(t.Context(), func(context.Context) error {
		tries++
		return fmt.Errorf("wrapped: %w", busy)
	})
	if !errors.Is(err, busy) || tries != 10 {
		t.Fatalf("%v after %d tries, want 10", err, tries)
	}
	ctx, cancel := context.WithCancel(t.Context())
	tries = 0
	err = db.InTx(ctx, func(context.Context) error {
		tries++
		cancel()
		return busy
	})
	if err == nil || tries != 1 {
		t.Fatalf("%v after %d tries under a context that is over", err, tries)
	}
}

func BenchmarkStore(b *testing.B) { storetest.Bench(b, fixture) }

// Whatever is typed as a login finds one user or none, and is never an error.
func FuzzLogin(f *testing.F) {
	db := open(f, filepath.Join(f.TempDir(), "a.db"))
	if _, err := db.AddUser(f.Context(), "ada@example.com", "Ada", "x"); err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"ada@example.com", "ADA@EXAMPLE.COM", "1", "", "\x00", "\xff@", "'", "?", "ſ@K"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := db.Users().FindByLogin(t.Context(), "email", text)
		if err != nil && !errors.Is(err, auth.ErrNotFound) || err == nil && !strings.EqualFold(text, u.Email) {
			t.Errorf("login %q: %+v, %v", text, u, err)
		}
		u, err = db.Users().FindByID(t.Context(), text)
		if err != nil && !errors.Is(err, auth.ErrNotFound) || err == nil && text != u.ID {
			t.Errorf("id %q: %+v, %v", text, u, err)
		}
		c := auth.Counter{Kind: "login", Login: text, Client: text}
		if n, _, err := db.Throttle().Hit(t.Context(), c, time.Now(), time.Millisecond); err != nil || n < 1 {
			t.Errorf("counting %q: %d, %v", text, n, err)
		}
	})
}

// BenchmarkSessionTable fills the table of sessions as browsers do, and tells how large each makes the file, with the
// indexes; run it with -benchtime 100000x.
func BenchmarkSessionTable(b *testing.B) {
	db := open(b, filepath.Join(b.TempDir(), "bench.db"))
	size := func() (n int64) {
		if err := db.Reader().QueryRow("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()").Scan(&n); err != nil {
			b.Fatal(err)
		}
		return n
	}
	now, before := time.Now(), size()
	r := auth.SessionRow{
		Data: bytes.Repeat([]byte("x"), 60), Created: now, Seen: now, Expires: now.Add(24 * time.Hour), Address: "203.0.113.200",
		UserAgent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
	}
	for i := 0; b.Loop(); i++ {
		hash := sha256.Sum256([]byte(strconv.Itoa(i)))
		r.Hash, r.UserID = hash[:], strconv.Itoa(i)
		if err := db.Sessions().CreateSession(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(size()-before)/float64(b.N), "bytes/session")
}
