package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// thingsFile makes a database with rows enough for many pages.
func thingsFile(t *testing.T, file string, rows int) {
	t.Helper()
	db := sqlx.MustOpen("sqlite", file+"?_pragma=journal_mode(WAL)")
	db.MustExec("CREATE TABLE things (id INTEGER PRIMARY KEY, word TEXT NOT NULL)")
	db.MustExec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO things SELECT i, hex(zeroblob(99)) FROM n`, rows)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
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
	ready := func(want int) {
		t.Helper()
		var a answer
		for range 200 { // the host looks once a second
			if a = b.get("/readyz"); a.StatusCode == want {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Errorf("/readyz is %d %s, want %d\n%s", a.StatusCode, a.body, want, s.log)
	}
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
