package config_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// served is a running host with a database of its own, a user, and a table of shelves.
type served struct {
	base, driver, dsn string
	db                *store.DB
}

// hold is what [serveOn] does with the source of queries; nil for nothing.
type hold func(odata.Source) odata.Source

// serveOn serves a host. database and odata are what stands in these blocks beside driver, dsn and guard; prepare makes
// further tables.
func serveOn(t *testing.T, driver, database, odata string, wrap hold, prepare ...string) served {
	t.Helper()
	dsn := map[string]func(testing.TB) string{
		"sqlite": func(t testing.TB) string { return filepath.Join(t.TempDir(), "app.db") }, "postgres": dbtest.Postgres, "mysql": dbtest.MySQL,
	}[driver](t)
	return serveAt(t, driver, dsn, database, odata, wrap, prepare...)
}

// serveAt is serveOn for a database that is there.
func serveAt(t *testing.T, driver, dsn, database, odata string, wrap hold, prepare ...string) served {
	t.Helper()
	s := served{driver: driver, dsn: dsn}
	write(t, map[string]string{"config.hcl": fmt.Sprintf(`
database {
  driver = %q
  dsn    = %q
  %s
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/elsewhere"
}
odata {
  guard = "none"
  %s
}
`, driver, s.dsn, database, odata)})
	cfg, found := load(t, nil)
	if found != nil {
		t.Fatal(found)
	}
	if _, err := cfg.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	plain := s.open(t)
	for _, statement := range append(prepare, `CREATE TABLE shelves (id INTEGER PRIMARY KEY)`) {
		if _, err := plain.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	opts, err := cfg.Options(t.Context(), hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	s.db = opts.Store
	hash, err := password.New(password.Options{}).Hash(t.Context(), "", "", "engine-of-analysis-1843")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opts.Store.AddUser(t.Context(), "ada@example.com", "Ada", hash); err != nil {
		t.Fatal(err)
	}
	source := opts.OData.Source
	if wrap != nil {
		opts.OData.Source = wrap(source)
	}
	h, err := host.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := h.Handler()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	s.base = server.URL
	t.Cleanup(func() {
		server.Close()
		if err := h.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if err := source.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
		_ = opts.Store.Close()
	})
	return s
}

// open opens the database once more, with a plain driver. On SQLite it waits for the
// host, which writes when it likes.
func (s served) open(t *testing.T) *sql.DB {
	t.Helper()
	dsn := s.dsn
	if s.driver == "sqlite" {
		dsn += "?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(map[string]string{"sqlite": "sqlite", "postgres": "pgx", "mysql": "mysql"}[s.driver], dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// get answers with the status.
func (s served) get(t *testing.T, path string) int {
	t.Helper()
	res, err := http.Get(s.base + path)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// asAda is what a sign-in of the user posts.
const asAda = `{"login":"ada@example.com","password":"engine-of-analysis-1843"}`

// signIn answers with the status of a sign-in.
func (s served) signIn(t *testing.T) int {
	t.Helper()
	res, err := http.Post(s.base+"/auth/login", "application/json", strings.NewReader(asAda))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}
