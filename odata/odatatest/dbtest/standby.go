package dbtest

import (
	"net/url"
	"path/filepath"
	"testing"
)

// Standby starts a hot standby of the server that [Postgres] has given a database on,
// and returns the data source name of that database there. It follows until somebody
// promotes it (SELECT pg_promote()), and ends with the test. It takes a second or two.
func Standby(t testing.TB, dsn string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	e := postgresEngine()
	e.programs = [][]string{{"pg_basebackup"}, {"postgres"}}
	e.install = func(bin []string, dir string) []string {
		return []string{
			bin[0], "-D", filepath.Join(dir, "data"), "-h", q.Get("host"), "-p", q.Get("port"), "-U", "postgres",
			"--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync",
		}
	}
	programs, ok := e.find()
	if !ok {
		if required() {
			t.Fatalf("%s is missing and REQUIRE_DB is set: %s", e.name, e.remedy)
		}
		t.Skipf("%s is missing: %s", e.name, e.remedy)
	}
	srv, err := start(e, programs)
	if err != nil {
		t.Fatalf("start a standby: %v", err)
	}
	t.Cleanup(func() { _ = srv.lifeline.Close() }) // the guardian stops it
	q.Set("host", srv.dir)
	u.RawQuery = q.Encode()
	return u.String()
}
