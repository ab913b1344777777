package sqlsource_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// exchangeFile makes a database in WAL mode whose rows carry a word, and returns a connection that keeps the log.
func exchangeFile(t *testing.T, file, word string, rows int) *sqlx.DB {
	t.Helper()
	db := sqlx.MustOpen("sqlite", file+"?_pragma=journal_mode(WAL)")
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
		if got := s.get("things?$top=300"); !strings.Contains(got, next+"-1") {
			t.Errorf("got %.100s", got)
		}
	}
	close(done)
	readers.Wait()
}
