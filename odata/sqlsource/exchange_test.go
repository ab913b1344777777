package sqlsource_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlitefile"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// exchangeFile makes a database in WAL mode whose rows carry a word, and returns a connection that keeps the log.
func exchangeFile(t *testing.T, file, word string, rows int) *sqlx.DB {
	t.Helper()
	db := sqlx.MustOpen("sqlite", file+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)")
	t.Cleanup(func() { _ = db.Close() })
	db.MustExec("CREATE TABLE things (id INTEGER PRIMARY KEY, word TEXT NOT NULL)")
	db.MustExec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO things SELECT i, ? || '-' || i || hex(zeroblob(200)) FROM n`, rows, word)
	return db
}

// Another file under the name of the database was never seen.
func TestAFileThatIsExchangedByRename(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "app.db")
	writer := exchangeFile(t, file, "word0", 2000)
	for _, forget := range []bool{false, true} {
		t.Run(fmt.Sprint("forget ", forget), func(t *testing.T) {
			s := open(t, sqlsource.Database{Dialect: "sqlite", DSN: file, Forget: forget}, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}})
			word := func() string { return s.get("things?$count=true&$top=1&$skip=7") }
			before, version := word(), s.Version(t.Context())
			for i := range 3 {
				next := fmt.Sprintf("next%v%d", forget, i)
				if err := exchangeFile(t, filepath.Join(dir, next), next, 10+i).Close(); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(filepath.Join(dir, next), file); err != nil {
					t.Fatal(err)
				}
				got, now := word(), s.Version(t.Context())
				if !strings.Contains(got, next) || got == before || !forget && now == version {
					t.Errorf("version %q: got %.200s", now, got)
				}
				before, version = got, now
			}
		})
	}
	if err := writer.Close(); err != nil {
		t.Error(err)
	}
}

// The log that an application began behind the first read was left beside the next file, whose pages it then replaced.
func TestAFileWhoseLogBeganLater(t *testing.T) {
	dir := t.TempDir()
	file, next := filepath.Join(dir, "app.db"), filepath.Join(dir, "next.db")
	writer := exchangeFile(t, file, "old", 300)
	writer.MustExec("PRAGMA journal_mode = DELETE")
	s := open(t, sqlsource.Database{Dialect: "sqlite", DSN: file}, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}})
	const page = "things?$top=300&$orderby=id"
	if got := s.get(page); !strings.Contains(got, "old-300") {
		t.Fatalf("got %.100s", got)
	}
	writer.MustExec("PRAGMA journal_mode = WAL; UPDATE things SET word = 'of the log' WHERE id = 1")
	if got := s.get(page); !strings.Contains(got, "of the log") {
		t.Fatalf("got %.100s", got)
	}
	for _, db := range []*sqlx.DB{writer, exchangeFile(t, next, "new", 300)} {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(next, file); err != nil {
		t.Fatal(err)
	}
	if got := s.get(page); strings.Count(got, "new-") != 300 {
		t.Errorf("%d of 300 rows of the new file: %.200s", strings.Count(got, "new-"), got)
	}
}

// Exchanges while clients read: each answer is of one file.
func TestExchangesUnderLoad(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "app.db")
	if err := exchangeFile(t, file, "w", 300).Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, sqlsource.Database{Dialect: "sqlite", DSN: file}, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}})
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_ = s.Version(t.Context())
				}
			}
		})
	}
	for i := range 20 {
		next := fmt.Sprint("w", i, "x")
		if err := exchangeFile(t, filepath.Join(dir, next), next, 300).Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, next), file); err != nil {
			t.Fatal(err)
		}
		time.Sleep(sqlitefile.LookEvery) // what was seen before the rename is believed for as long
		if got := s.get("things?$top=300"); !strings.Contains(got, next+"-1") {
			t.Errorf("got %.100s", got)
		}
	}
	close(done)
	readers.Wait()
}

// A file that is copied over the database is noticed, and none of its rows are mixed with those of the old one. A file of
// the name's own puts an end to it.
func TestAFileThatIsCopiedOver(t *testing.T) {
	for _, test := range []struct {
		name    string
		other   func(db *sqlx.DB)
		noticed bool
	}{
		{"shorter", func(db *sqlx.DB) { db.MustExec("DELETE FROM things WHERE id > 3; VACUUM; PRAGMA schema_version = 1") }, true},
		{"with another schema", func(db *sqlx.DB) { db.MustExec("PRAGMA schema_version = 0") }, true},
		{"without a log", func(db *sqlx.DB) { db.MustExec("PRAGMA journal_mode = DELETE") }, true},
		{"of the same length and schema", func(*sqlx.DB) {}, false}, // nothing tells it apart from what a checkpoint writes
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "app.db")
			writer := exchangeFile(t, file, "old", 2000)
			writer.MustExec("PRAGMA wal_checkpoint(TRUNCATE)")
			other := exchangeFile(t, file+".new", "new", 2000)
			other.SetMaxOpenConns(1)
			test.other(other)
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
			s := open(t, sqlsource.Database{Dialect: "sqlite", DSN: file}, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}})
			const page = "things?$filter=id le 3&$top=3&$orderby=word"
			before, version := s.get(page), s.Version(t.Context())
			content, err := os.ReadFile(file + ".new")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(sqlitefile.LookEvery)
			got, err := s.get(page), s.Ready(t.Context())
			exchanged, copied := s.FileChanges()
			switch {
			case exchanged != 0 || (copied == 1) != test.noticed || errors.Is(err, engine.ErrCopied) != test.noticed:
				t.Errorf("%d exchanged, %d copied: %v", exchanged, copied, err)
			case test.noticed && !strings.HasPrefix(got, "503"):
				t.Errorf("got %.200s", got)
			case !test.noticed && got != strings.ReplaceAll(before, "old", "new"):
				t.Errorf("got %.200s\nwant the rows of the new file as in %.200s", got, before)
			case !test.noticed && s.Version(t.Context()) == version:
				t.Error("what is remembered of the old file has the same name still")
			}
			if err := os.Rename(file+".new", file); err != nil {
				t.Fatal(err)
			}
			if got := s.get(page); !strings.Contains(got, "new-1") || s.Ready(t.Context()) != nil {
				t.Errorf("got %.200s after another file was renamed over it", got)
			}
		})
	}
}

// A checkpoint, a VACUUM and a new table are no other file.
func TestWritingIsNoCopying(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.db")
	db := exchangeFile(t, file, "old", 2000)
	s := open(t, sqlsource.Database{Dialect: "sqlite", DSN: file}, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}})
	for _, write := range []string{
		"PRAGMA wal_checkpoint(TRUNCATE)", "DELETE FROM things WHERE id > 10", "PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM",
		"PRAGMA wal_checkpoint(TRUNCATE)", "CREATE TABLE more (id)", "PRAGMA wal_checkpoint(RESTART)", "DROP TABLE more",
		"PRAGMA wal_checkpoint(TRUNCATE)", "INSERT INTO things VALUES (77, 'x')", "PRAGMA wal_checkpoint(PASSIVE)",
	} {
		db.MustExec(write)
		if got := s.get("things?$filter=id eq 1&$select=id"); got != "[1]" || s.Ready(t.Context()) != nil {
			t.Errorf("behind %s: %s, %v", write, got, s.Ready(t.Context()))
		}
	}
}
