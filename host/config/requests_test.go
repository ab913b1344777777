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
	dsn, user := dbtest.Postgres(t), fmt.Sprintf("limited%d", time.Now().UnixNano())
	db := sqlx.MustOpen("pgx", dsn)
	defer func() { _ = db.Close() }()
	db.MustExecContext(t.Context(), "CREATE TABLE things (id INTEGER PRIMARY KEY); REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE ROLE "+user+" LOGIN; GRANT SELECT, INSERT ON things TO "+user)
	defer db.MustExec("DROP OWNED BY " + user + "; DROP ROLE " + user)
	write(t, map[string]string{"config.hcl": fmt.Sprintf(`database {
  driver = "postgres"
  dsn    = %q
}
route "home" {
  path     = "/"
  redirect = "/a"
}
odata {
  guard = "none"
  database {
    driver = "postgres"
    dsn    = %q
  }
  entity_set "Things" {
    table = "things"
    write {
      create = true
      filter = "id gt 0"
    }
  }
}
`, dsn, strings.Replace(dsn, "postgres@", user+"@", 1))})
	for _, step := range []struct{ run, want string }{
		{"", "permission denied for schema public"},
		{"CREATE TABLE vestibule_requests (id BYTEA NOT NULL PRIMARY KEY, print BYTEA NOT NULL, ends BIGINT NOT NULL, answer BYTEA); CREATE INDEX vestibule_requests_ends ON vestibule_requests (ends)", "permission denied for table vestibule_requests"},
		{"GRANT SELECT, INSERT, UPDATE ON vestibule_requests TO " + user, "permission denied for table vestibule_requests"},
		{"GRANT DELETE ON vestibule_requests TO " + user, ""},
	} {
		db.MustExecContext(t.Context(), step.run)
		cfg, found := load(t, nil)
		if found != nil {
			t.Fatal(found)
		}
		if got := strings.Join(lines(cfg.Verify(t.Context())), "\n"); strings.Contains(got, "permission denied") != (step.want != "") || !strings.Contains(got, step.want) {
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
