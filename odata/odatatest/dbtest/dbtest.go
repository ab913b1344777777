package dbtest

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // driver "mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
)

// adminTimeout bounds one CREATE or DROP DATABASE. It is generous because the
// machine may be busy with other test binaries.
const adminTimeout = 60 * time.Second

// shared holds the servers of this test binary. It is the package's only
// state: tests of one package share a server, as starting one costs a second.
var shared struct {
	postgres, mysql lazyServer
	started         []*server
	names           atomic.Int64
}

// Postgres returns a pgx data source name (URL form) of a fresh database on a
// PostgreSQL server of this test binary. The database's default collation is a
// linguistic one, as in most installations, so that code which relies on the
// default order of text is found out. The user is a superuser. The database is
// dropped, connections or not, when the test ends. Safe for parallel tests.
func Postgres(t testing.TB) string {
	t.Helper()
	e := postgresEngine()
	serve := e.serve
	e.serve = func(bin []string, dir string) []string { // nobody follows: half the work for a fresh database
		return append(serve(bin, dir), settings("wal_level=minimal", "max_wal_senders=0")...)
	}
	srv := shared.postgres.get(t, e)
	dsn := func(database string) string { return postgresDSN(srv.dir, database) }
	name := freshName()
	fresh(t, "pgx", dsn("postgres"),
		"CREATE DATABASE "+name,
		"DROP DATABASE "+name+" WITH (FORCE)")
	return dsn(name)
}

// MySQL returns a go-sql-driver data source name of a fresh database on a
// MariaDB server of this test binary: utf8mb4 with a collation that ignores
// case and trailing blanks, as most installations have it. The name carries
// clientFoundRows=true (RowsAffected counts matched rows, as the other engines
// do) and nothing else; whoever opens it adds what it needs, parseTime
// included, by "&name=value". The user has all privileges. The database is
// dropped when the test ends. Safe for parallel tests.
func MySQL(t testing.TB) string {
	t.Helper()
	srv := shared.mysql.get(t, mariadbEngine())
	dsn := func(database string) string { return mysqlDSN(srv.dir, database) }
	name := freshName()
	fresh(t, "mysql", dsn(""), "CREATE DATABASE "+name, "DROP DATABASE "+name)
	return dsn(name)
}

func postgresDSN(dir, database string) string {
	q := url.Values{"host": {dir}, "port": {"5432"}, "sslmode": {"disable"}}
	return "postgres://postgres@/" + database + "?" + q.Encode()
}

func mysqlDSN(dir, database string) string {
	return fmt.Sprintf("root@unix(%s)/%s?clientFoundRows=true", filepath.Join(dir, "sock"), database)
}

// lazyServer starts its server once and remembers the outcome, a failure too:
// the second test of a package should not wait for a second failed start.
type lazyServer struct {
	once sync.Once
	srv  *server
	err  error
}

func (l *lazyServer) get(t testing.TB, e engine) *server {
	t.Helper()
	programs, ok := e.find()
	if !ok {
		if required() {
			t.Fatalf("%s is missing and REQUIRE_DB is set: %s", e.name, e.remedy)
		}
		t.Skipf("%s is missing: %s", e.name, e.remedy)
	}
	l.once.Do(func() { l.srv, l.err = start(e, programs) })
	if l.err != nil {
		t.Fatalf("start %s: %v", e.name, l.err)
	}
	return l.srv
}

// required tells whether a missing server is a failure.
func required() bool {
	v := os.Getenv("REQUIRE_DB")
	return v != "" && v != "0"
}

func freshName() string {
	return fmt.Sprintf("t%d", shared.names.Add(1))
}

// fresh runs create now and drop when the test ends.
func fresh(t testing.TB, driver, dsn, create, drop string) {
	t.Helper()
	if err := admin(driver, dsn, create); err != nil {
		t.Fatalf("create the test's database: %v", err)
	}
	t.Cleanup(func() {
		if err := admin(driver, dsn, drop); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
}

// admin runs one statement on a connection of its own.
func admin(driver, dsn, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), adminTimeout)
	defer cancel()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(ctx, statement)
	return err
}
