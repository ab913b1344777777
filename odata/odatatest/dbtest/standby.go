package dbtest

import (
	"net/url"
	"path/filepath"
	"testing"
)

// Followed is [Postgres] on a server of its own, which [Standby] can follow and which ends
// with the test.
func Followed(t testing.TB) string {
	t.Helper()
	e := postgresEngine()
	srv := following(t, e)
	if err := admin(e.driver, postgresDSN(srv.dir, "postgres"), "CREATE DATABASE followed"); err != nil {
		t.Fatalf("create the test's database: %v", err)
	}
	return postgresDSN(srv.dir, "followed")
}

// Standby starts a hot standby of the server that [Followed] has given a database on,
// with all that is there by now, and returns the data source name of that database there.
// It follows until somebody promotes it (SELECT pg_promote()), and ends with the test. It
// takes a second or two.
func Standby(t testing.TB, dsn string) string {
	t.Helper()
	e, followed, err := standbyOf(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return followed(following(t, e))
}

// standbyOf is the engine of a standby of the server of a database, and what that database is called there.
func standbyOf(dsn string) (engine, func(*server) string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return engine{}, nil, err
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
	return e, func(srv *server) string {
		q.Set("host", srv.dir)
		u.RawQuery = q.Encode()
		return u.String()
	}, nil
}

// following starts a server that ends with the test.
func following(t testing.TB, e engine) *server {
	t.Helper()
	programs, ok := e.find()
	if !ok {
		if required() {
			t.Fatalf("%s is missing and REQUIRE_DB is set: %s", e.name, e.remedy)
		}
		t.Skipf("%s is missing: %s", e.name, e.remedy)
	}
	srv, err := start(e, programs)
	if err != nil {
		t.Fatalf("start a server of its own: %v", err)
	}
	t.Cleanup(func() { _ = srv.lifeline.Close() }) // the guardian stops it
	return srv
}
