package engine_test

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
	"github.com/vestibule-dev/vestibule/v2/internal/sqlitefile"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// openNamed opens a database of the journal mode with one row in things, for versions, and a second connection that writes.
func openNamed(t testing.TB, mode string) (db *engine.SQLite, writer *sqlx.DB, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "app.db")
	writer, err := sqlx.Open("sqlite", file+"?_pragma=busy_timeout(5000)&_pragma=synchronous(0)&_pragma=journal_mode("+mode+")")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = writer.Close() })
	writer.SetMaxOpenConns(1)
	writer.MustExec("CREATE TABLE things (n INTEGER)")
	writer.MustExec("INSERT INTO things VALUES (0)")
	if db, err = engine.OpenSQLite(file, 0, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.NameVersions(nil, nil); err != nil {
		t.Fatal(err)
	}
	return db, writer, file
}

// TestVersionOfEveryCommit holds that each commit has a version of its own, and that nothing else has.
func TestVersionOfEveryCommit(t *testing.T) {
	for _, mode := range []string{"wal", "delete"} {
		t.Run(mode, func(t *testing.T) {
			db, writer, _ := openNamed(t, mode)
			given := map[string]bool{}
			for i := range 200 {
				switch {
				case i%50 == 49:
					writer.MustExec("PRAGMA wal_checkpoint(TRUNCATE)")
					_ = db.Version(t.Context()) // may be a new one, although nothing changed
					continue
				case i%70 == 69:
					writer.MustExec("VACUUM")
				default:
					writer.MustExec("UPDATE things SET n = n + 1")
				}
				time.Sleep(sqlitefile.LookEvery) // a file that is seen to be written to later has a new version, too
				v := db.Version(t.Context())
				if v == "" || given[v] {
					t.Fatalf("commit %d has the version %q", i, v)
				}
				given[v] = true
				if again := db.Version(t.Context()); again != v {
					t.Fatalf("nothing was committed between %q and %q", v, again)
				}
			}
		})
	}
}

// besideAWriter reads by each of readers until it has the last of 300 commits, and holds that what has one version is always
// the same. A reader returns an empty version where it cannot tell.
func besideAWriter(t *testing.T, writer *sqlx.DB, readers ...func() (n int64, version string)) {
	t.Helper()
	const commits = 300
	var all sync.WaitGroup
	all.Go(func() {
		for range commits {
			writer.MustExec("UPDATE things SET n = n + 1")
		}
	})
	var mu sync.Mutex
	seen := map[string]int64{}
	for _, read := range readers {
		all.Go(func() {
			for n := int64(0); n < commits; {
				var version string
				if n, version = read(); version == "" {
					continue
				}
				mu.Lock()
				if was, ok := seen[version]; ok && was != n {
					t.Errorf("the version %q has %d and %d", version, was, n)
				}
				seen[version] = n
				mu.Unlock()
			}
		})
	}
	all.Wait()
}

// readVersion returns the one row and the version that the transaction says it has.
func readVersion(t *testing.T, db *engine.SQLite, need engine.Need) (n int64, version string) {
	t.Helper()
	tx := begin(t.Context(), t, db, need)
	n = number(t, tx, "SELECT n FROM things")
	version = tx.Version()
	if err := tx.Close(); err != nil {
		t.Error(err)
	}
	return n, version
}

// TestVersionBesideAWriter holds that what is read between two equal versions is always the same.
func TestVersionBesideAWriter(t *testing.T) {
	db, writer, _ := openNamed(t, "wal")
	between := func() (n int64, version string) {
		before := db.Version(t.Context())
		n, _ = readVersion(t, db, engine.Need{})
		if before != db.Version(t.Context()) {
			return n, ""
		}
		return n, before
	}
	besideAWriter(t, writer, between, between, between)
}

// TestVersionOfOneStatement holds that a statement by itself reads what a transaction with a snapshot of the same version
// reads, beside a writer, and that it has that version where nobody writes.
func TestVersionOfOneStatement(t *testing.T) {
	db, writer, _ := openNamed(t, "wal")
	snapshot := func() (int64, string) { return readVersion(t, db, engine.Need{Snapshot: true}) }
	statement := func() (int64, string) { return readVersion(t, db, engine.Need{Version: true}) }
	besideAWriter(t, writer, snapshot, statement, snapshot, statement)
	before := db.Version(t.Context())
	tx := begin(t.Context(), t, db, engine.Need{Version: true})
	writer.MustExec("UPDATE things SET n = n + 1")
	if n, got := number(t, tx, "SELECT n FROM things"), tx.Version(); (n == 300) != (got == before) {
		t.Errorf("with a commit between its beginning and its statement, %d has the version %q, and 300 has %q", n, got, before)
	}
	if err := tx.Close(); err != nil {
		t.Error(err)
	}
	for _, mode := range []string{"wal", "delete"} {
		db, _, _ := openNamed(t, mode)
		want := db.Version(t.Context())
		for i, need := range []engine.Need{{Snapshot: true}, {Version: true}, {Version: true}} {
			if _, got := readVersion(t, db, need); got != want || got == "" {
				t.Errorf("%s, read %d: the version is %q, want %q", mode, i, got, want)
			}
		}
	}
}

// BenchmarkVersion names a state that does not change. The baseline asks a connection for its data_version.
func BenchmarkVersion(b *testing.B) {
	db, _, file := openNamed(b, "wal")
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = db.Version(b.Context())
		}
	})
	b.Run("baseline", func(b *testing.B) {
		c, err := sqlite3.Open(file)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		stmt, err := c.Prepare("PRAGMA data_version")
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := stmt.Step(); err != nil {
				b.Fatal(err)
			}
			_ = stmt.Value(0).Int()
			stmt.Reset()
		}
	})
}
