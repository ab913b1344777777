package host_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
	"github.com/vestibule-dev/vestibule/v2/internal/sqlitefile"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// thingsFile makes a database with rows enough for many pages.
func thingsFile(t *testing.T, file string, rows int) {
	t.Helper()
	db := sqlx.MustOpen("sqlite", file+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)")
	db.MustExec("CREATE TABLE things (id INTEGER PRIMARY KEY, word TEXT NOT NULL)")
	db.MustExec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO things SELECT i, hex(zeroblob(99)) FROM n`, rows)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// ready waits until /readyz has this status: the host looks once a second.
func (s *testSite) ready(t *testing.T, want int) {
	t.Helper()
	var a answer
	for range 200 {
		if a = s.browser(t).get("/readyz"); a.StatusCode == want {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("/readyz is %d %s, want %d\n%s", a.StatusCode, a.body, want, s.log)
}

// The operator learns that the file of queries is another one now, although nobody asks for rows.
func TestTheFileOfQueriesIsAnotherOne(t *testing.T) {
	file := filepath.Join(t.TempDir(), "data.db")
	thingsFile(t, file, 2000)
	source, err := sqlsource.New(t.Context(), sqlsource.Database{Dialect: "sqlite", DSN: file}, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = source.Close() })
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.OData = &host.ODataOptions{Model: source.Model(), Source: source}
	})
	b := s.browser(t)
	ready := func(want int) { t.Helper(); s.ready(t, want) }
	ready(200)
	thingsFile(t, file+".small", 3)
	content, err := os.ReadFile(file + ".small")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	ready(503)
	if a := b.get("/odata/things"); a.StatusCode != 503 {
		t.Errorf("things: %d %s", a.StatusCode, a.body)
	}
	if err := os.Rename(file+".small", file); err != nil {
		t.Fatal(err)
	}
	ready(200)
	if a := b.get("/odata/things/$count"); a.body != "3" {
		t.Errorf("things: %d %s", a.StatusCode, a.body)
	}
	for _, want := range []string{"another file was copied over the database of odata", "another file was renamed over the database of odata"} {
		if n := strings.Count(s.log.String(), want); n != 1 {
			t.Errorf("%d lines say that %s:\n%s", n, want, s.log)
		}
	}
}

// A host whose sign-in is in a file that was exchanged answers 503 until it is restarted, queries of the same file
// included, and tells the operator what to do. It neither reads nor writes the new file, nor signs anybody in by the old one.
func TestTheFileOfTheSignInIsAnotherOne(t *testing.T) {
	dir := t.TempDir()
	file, next := filepath.Join(dir, "app.db"), filepath.Join(dir, "next.db")
	serve := func(t *testing.T) *testSite {
		t.Helper()
		db := opener(t, func(ctx context.Context) (*store.DB, error) { return sqlite.Open(ctx, file) })()
		source, err := sqlsource.New(t.Context(), sqlsource.Database{Dialect: "sqlite", DSN: file, Writer: db.Writer()}, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = source.Close() })
		return newSite(t, db, func(o *host.Options) {
			o.OData = &host.ODataOptions{Model: source.Model(), Source: source}
		})
	}
	for _, name := range []string{file, next} {
		thingsFile(t, name, 10)
		db, err := sqlite.Open(t.Context(), name)
		if err == nil {
			_, err = db.Migrate(t.Context())
		}
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(next)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("exchanged", func(t *testing.T) {
		s := serve(t)
		s.ready(t, 200)
		b := s.browser(t)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		if a := b.get("/odata/things/$count"); a.body != "10" {
			t.Fatalf("things: %d %s", a.StatusCode, a.body)
		}
		if err := os.Rename(next, file); err != nil {
			t.Fatal(err)
		}
		time.Sleep(sqlitefile.LookEvery) // what queries saw before the rename is believed for as long
		b.login(adaEmail, adaPassword, false).want(t, 503, "database_unavailable")
		if line := s.lastLine(t, "request failed"); !strings.Contains(line, "another file was put in the place") || !strings.Contains(line, "restart the host") {
			t.Errorf("the log says %s", line)
		}
		for _, path := range []string{"/dashboard", "/odata/things", "/odata/things/$count"} {
			if a := b.get(path); a.StatusCode != 503 {
				t.Errorf("%s: %d %s", path, a.StatusCode, a.body)
			}
		}
		s.ready(t, 503)
		if _, cause, _ := strings.Cut(s.log.String(), "not ready"); !strings.Contains(cause, "restart the host") {
			t.Errorf("the log says %s", cause)
		}
	})
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the new file was written to, %v", err)
	}
	t.Run("restarted", func(t *testing.T) {
		s := serve(t)
		s.ready(t, 200)
		b := s.browser(t)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		if a := b.get("/odata/things/$count"); a.body != "10" {
			t.Errorf("things: %d %s", a.StatusCode, a.body)
		}
	})
}
