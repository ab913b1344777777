package sqlite_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
	"github.com/vestibule-dev/vestibule/v2/internal/sqlitefile"
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

// Another file under the database's name was never seen: people were still looked up, and signed in, in a file that had
// no name any more. It is neither read nor written now, and the old one keeps what its log had.
func TestAFileThatIsExchangedByRename(t *testing.T) {
	dir := t.TempDir()
	file, aside, next := filepath.Join(dir, "app.db"), filepath.Join(dir, "aside.db"), filepath.Join(dir, "next.db")
	db := open(t, file)
	if err := db.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.AddUser(t.Context(), "old@example.com", "", "x"); err != nil { // stays in the log
		t.Fatal(err)
	}
	prepareFile(t, next, "new@example.com")
	before, err := os.ReadFile(next)
	if err := errors.Join(err, os.Rename(file, aside)); err != nil {
		t.Fatal(err)
	}
	if err := db.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be found") {
		t.Errorf("without a file: %v", err)
	}
	if err := os.Rename(next, file); err != nil {
		t.Fatal(err)
	}
	refused := func(when string) {
		t.Helper()
		_, read := db.Users().FindByLogin(t.Context(), "email", "old@example.com")
		_, list := db.ListUsers(t.Context(), "", 10)
		_, session := db.Sessions().FindSession(t.Context(), []byte("hash"))
		_, wrote := db.AddUser(t.Context(), "added@example.com", "", "x")
		for what, err := range map[string]error{"readiness": db.Ready(t.Context()), "reading": read, "listing": list, "a session": session, "writing": wrote} {
			if err == nil || !strings.Contains(err.Error(), "restart the host") {
				t.Errorf("%s: %s: %v", when, what, err)
			}
		}
		for _, err := range []error{read, session, wrote} { // as requests do
			if !errors.Is(err, auth.ErrUnavailable) {
				t.Errorf("%s: %v", when, err)
			}
		}
	}
	time.Sleep(sqlitefile.LookEvery) // what was seen before the rename is believed for as long
	refused("with another file")
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the new file was written to, %v", err)
	}
	if err := errors.Join(os.Rename(file, next), os.Rename(aside, file)); err != nil {
		t.Fatal(err)
	}
	refused("with the old file back")
	if err := errors.Join(os.Rename(file, aside), os.Rename(next, file)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for file, email := range map[string]string{file: "new@example.com", aside: "old@example.com"} {
		again := open(t, file)
		users, err := again.ListUsers(t.Context(), "", 10)
		var verdict string
		err = errors.Join(err, again.Reader().GetContext(t.Context(), &verdict, "PRAGMA integrity_check"))
		if err != nil || len(users) != 1 || users[0].Email != email || verdict != "ok" {
			t.Errorf("%s has the users %+v and is %q, %v", filepath.Base(file), users, verdict, err)
		}
	}
}

// A database that is closed before anybody noticed leaves no log beside the new file.
func TestAnExchangeThatNobodyNoticed(t *testing.T) {
	dir := t.TempDir()
	file, next := filepath.Join(dir, "app.db"), filepath.Join(dir, "next.db")
	db := open(t, file)
	if _, err := db.AddUser(t.Context(), "old@example.com", "", "x"); err != nil {
		t.Fatal(err)
	}
	prepareFile(t, next, "new@example.com")
	if err := errors.Join(os.Rename(next, file), db.Close()); err != nil {
		t.Fatal(err)
	}
	users, err := open(t, file).ListUsers(t.Context(), "", 10)
	if err != nil || len(users) != 1 || users[0].Email != "new@example.com" {
		t.Errorf("the new file has the users %+v, %v", users, err)
	}
}
