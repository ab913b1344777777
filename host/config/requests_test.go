package config_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// A user of the database who may neither make the table of repeated requests nor use one that is there is found by check, and
// keeps the host from starting.
func TestRequestsOfAUserWithoutTheRight(t *testing.T) {
	user := fmt.Sprintf("limited%d", time.Now().UnixNano())
	t.Run("postgres", func(t *testing.T) {
		dsn := dbtest.Postgres(t)
		db := sqlx.MustOpen("pgx", dsn)
		defer func() { _ = db.Close() }()
		db.MustExecContext(t.Context(), "CREATE TABLE things (id INTEGER PRIMARY KEY); REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE ROLE "+user+" LOGIN; GRANT SELECT, INSERT ON things TO "+user)
		defer db.MustExec("DROP OWNED BY " + user + "; DROP ROLE " + user)
		requestsNeedRights(t, db, "postgres", dsn, strings.Replace(dsn, "postgres@", user+"@", 1), user, "permission denied", "permission denied for schema public", []string{
			"CREATE TABLE vestibule_requests (id BYTEA NOT NULL PRIMARY KEY, print BYTEA NOT NULL, ends BIGINT NOT NULL, answer BYTEA)",
			"CREATE INDEX vestibule_requests_ends ON vestibule_requests (ends)",
		})
	})
	t.Run("mysql", func(t *testing.T) {
		dsn := dbtest.MySQL(t)
		db := sqlx.MustOpen("mysql", dsn)
		defer func() { _ = db.Close() }()
		for _, statement := range []string{"CREATE TABLE things (id INTEGER PRIMARY KEY)", "CREATE USER " + user, "GRANT SELECT, INSERT ON things TO " + user} {
			db.MustExecContext(t.Context(), statement)
		}
		defer db.MustExec("DROP USER " + user)
		_, host, _ := strings.Cut(dsn, "@")
		requestsNeedRights(t, db, "mysql", dsn, user+"@"+host, user, "command denied", "CREATE command denied", []string{
			"CREATE TABLE vestibule_requests (id BINARY(32) NOT NULL PRIMARY KEY, print BINARY(32) NOT NULL, ends BIGINT NOT NULL, answer MEDIUMBLOB, INDEX (ends))",
		})
		db.MustExecContext(t.Context(), "DROP TABLE vestibule_requests")
		db.MustExecContext(t.Context(), "GRANT CREATE ON vestibule_requests TO "+user)
		cfg, found := load(t, nil)
		if found != nil {
			t.Fatal(found)
		}
		if got := lines(cfg.Verify(t.Context())); len(got) > 0 {
			t.Errorf("with the right to create that table alone: check: %q", got)
		}
		if there := 0; db.Get(&there, "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'vestibule_requests' AND table_schema = DATABASE()") != nil || there != 0 {
			t.Error("check has made the table")
		}
	})
}

// requestsNeedRights gives a user one right after the other, and compares what check and a start say of each with words of the
// database. table makes the table of requests.
func requestsNeedRights(t *testing.T, db *sqlx.DB, driver, dsn, limited, user, denied, create string, table []string) {
	t.Helper()
	write(t, map[string]string{"config.hcl": fmt.Sprintf(`database {
  driver = %[1]q
  dsn    = %[2]q
}
route "home" {
  path     = "/"
  redirect = "/a"
}
odata {
  guard = "none"
  database {
    driver = %[1]q
    dsn    = %[3]q
  }
  entity_set "Things" {
    table = "things"
    write {
      create = true
      filter = "id gt 0"
    }
  }
}
`, driver, dsn, limited)})
	for _, step := range []struct {
		run  []string
		want string
	}{
		{nil, create},
		{table, denied},
		{[]string{"GRANT SELECT, INSERT, UPDATE ON vestibule_requests TO " + user}, denied},
		{[]string{"GRANT DELETE ON vestibule_requests TO " + user}, ""},
	} {
		for _, statement := range step.run {
			db.MustExecContext(t.Context(), statement)
		}
		cfg, found := load(t, nil)
		if found != nil {
			t.Fatal(found)
		}
		if got := strings.Join(lines(cfg.Verify(t.Context())), "\n"); strings.Contains(got, denied) != (step.want != "") || !strings.Contains(got, step.want) {
			t.Errorf("%s: check: got %q, want %q", step.run, got, step.want)
		}
		opts, _, err := options(t, cfg)
		if (err != nil) != (step.want != "") || err != nil && !strings.Contains(err.Error(), step.want) {
			t.Errorf("%s: start: got %v, want %q", step.run, err, step.want)
		}
		if err == nil {
			if err := opts.OData.Source.(io.Closer).Close(); err != nil {
				t.Error(err)
			}
			if err := opts.Store.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
