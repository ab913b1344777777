package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/session"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
)

// prepareFile makes a database with one person in it.
func prepareFile(t *testing.T, file, email string) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.AddUser(t.Context(), email, "", "x"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// Another file under the database's name was never seen: people were still looked up,
// and signed in, in a file that had no name any more.
func TestAFileThatIsExchangedByRename(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "app.db")
	db := open(t, file)
	if err := db.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		old, next := fmt.Sprintf("old%d@example.com", i), fmt.Sprintf("new%d@example.com", i)
		if _, err := db.AddUser(t.Context(), old, "", "x"); err != nil { // stays in the log
			t.Fatal(err)
		}
		aside := filepath.Join(dir, fmt.Sprint("aside", i))
		prepareFile(t, filepath.Join(dir, "next.db"), next)
		if err := os.Rename(file, aside); err != nil {
			t.Fatal(err)
		}
		if err := db.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be found") {
			t.Errorf("without a file: %v", err)
		}
		if err := os.Rename(filepath.Join(dir, "next.db"), file); err != nil {
			t.Fatal(err)
		}
		if err := db.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := db.Users().FindByLogin(t.Context(), "email", next); err != nil {
			t.Errorf("who is in the new file: %v", err)
		}
		if _, err := db.Users().FindByLogin(t.Context(), "email", old); err == nil {
			t.Error("who was in the old file is found")
		}
		if _, err := db.AddUser(t.Context(), "added@example.com", "", "x"); err != nil {
			t.Error(err)
		}
		var verdict string
		if err := db.Reader().GetContext(t.Context(), &verdict, "PRAGMA integrity_check"); err != nil || verdict != "ok" {
			t.Errorf("the new file is %q, %v", verdict, err)
		}
		kept := open(t, aside)
		if _, err := kept.Users().FindByLogin(t.Context(), "email", old); err != nil {
			t.Errorf("the old file lost what its log had: %v", err)
		}
	}
}

// Sessions are read by connections of their own, which must not go on with the old file either.
func TestSessionsOfAFileThatIsExchanged(t *testing.T) {
	dir := t.TempDir()
	file, next := filepath.Join(dir, "app.db"), filepath.Join(dir, "next.db")
	db := open(t, file)
	begin := func(db *store.DB, key string) {
		t.Helper()
		now := time.Now()
		r := session.Record{Hash: []byte(key), UserID: key, Created: now, Seen: now, Expires: now.Add(time.Hour)}
		if err := db.Sessions().CreateSession(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	find := func(key string) error {
		r, err := db.Sessions().FindSession(t.Context(), []byte(key))
		if err == nil && r.UserID != key {
			t.Errorf("the session of %s is that of %s", key, r.UserID)
		}
		return err
	}
	for i := range 3 {
		old, fresh := fmt.Sprint("old", i), fmt.Sprint("fresh", i)
		begin(db, old)
		for range 3 { // so that its row is kept
			if err := find(old); err != nil {
				t.Errorf("before: %v", err)
			}
		}
		other, err := sqlite.Open(t.Context(), next)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		begin(other, fresh)
		if err := errors.Join(other.Close(), os.Rename(next, file)); err != nil {
			t.Fatal(err)
		}
		if err := find(old); !errors.Is(err, session.ErrGone) {
			t.Errorf("the session of the old file: %v", err)
		}
		if err := find(fresh); err != nil {
			t.Errorf("the session of the new file: %v", err)
		}
		if err := db.Sessions().DeleteSession(t.Context(), []byte(fresh)); err != nil {
			t.Fatal(err)
		}
		if err := find(fresh); !errors.Is(err, session.ErrGone) {
			t.Errorf("a session that has ended: %v", err)
		}
	}
}

func TestANewFileWithoutOurTablesIsNotReady(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "app.db")
	db := open(t, file)
	if err := db.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+".next", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".next", file); err != nil {
		t.Fatal(err)
	}
	if err := db.Ready(t.Context()); err == nil {
		t.Error("ready without tables")
	}
}
