package config_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/config"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// A view whose table was dropped kept the host from starting.
func TestABrokenView(t *testing.T) {
	for _, driver := range []string{"sqlite", "mysql"} {
		for name, c := range map[string]struct{ odata, want, not string }{
			"nobody names it": {
				`  discover = ["*"]`,
				`the view "stale" is passed over: `, `"fine"`,
			},
			"a set names it": {
				`  entity_set "Old" {
    table = "stale"
    key   = ["a"]
  }`,
				`config.hcl:12:13: entity_set "Old": the database cannot read the view "stale": correct the view`, "SQL logic error",
			},
			"discover names it": {
				`  discover = ["stale"]`,
				`the database cannot read the view "stale": correct the view`, "SQL logic error",
			},
		} {
			t.Run(driver+" "+name, func(t *testing.T) {
				dsn := "app.db"
				if driver == "mysql" {
					dsn = dbtest.MySQL(t)
				}
				write(t, map[string]string{"config.hcl": fmt.Sprintf("database {\n  driver = %q\n  dsn = %q\n}\nroute \"home\" {\n  path = \"/\"\n  redirect = \"/a\"\n}\nodata {\n  guard = \"none\"\n%s\n}\n", driver, dsn, c.odata)})
				breakView(t, driver, dsn)
				cfg, found := load(t, nil)
				if found != nil {
					t.Fatal(found)
				}
				got := strings.Join(lines(cfg.Verify(t.Context())), "\n")
				if strings.Count(got, c.want) != 1 || strings.Contains(got, c.not) {
					t.Errorf("got %s\nwant %s", got, c.want)
				}
				opts, log, err := options(t, cfg)
				if refused := err != nil; refused != (name != "nobody names it") {
					t.Errorf("start: %v", err)
				}
				if err == nil {
					if warned := strings.Count(log.String(), "is passed over"); warned != 1 {
						t.Errorf("%d warnings in the log:\n%s", warned, log)
					}
					if err := errors.Join(opts.Store.Close(), opts.OData.Source.(io.Closer).Close()); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// options is what serve starts with, and its log.
func options(t *testing.T, cfg *config.Config) (host.Options, *bytes.Buffer, error) {
	t.Helper()
	var log bytes.Buffer
	opts, err := cfg.Options(t.Context(), hclog.New(&hclog.LoggerOptions{Output: &log}))
	return opts, &log, err
}

func breakView(t *testing.T, driver, dsn string) {
	t.Helper()
	db, err := sqlx.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, s := range []string{
		"CREATE TABLE kept (id INTEGER PRIMARY KEY)", "CREATE TABLE old (a INTEGER)", "CREATE VIEW fine AS SELECT id FROM kept",
		"CREATE VIEW stale AS SELECT a FROM old", "DROP TABLE old",
	} {
		db.MustExecContext(t.Context(), s)
	}
}

// TestColumnsThatAreLeftOut holds that check and the start warn of a column that no client sees, unless the operator hides it.
func TestColumnsThatAreLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		odata string
		warns int
	}{
		"discovered": {`  discover = ["places"]`, 1},
		"hidden":     {"  entity_set \"Places\" {\n    table = \"places\"\n    hide  = [\"at\"]\n  }", 0},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := dbtest.MySQL(t)
			write(t, map[string]string{"config.hcl": fmt.Sprintf("database {\n  driver = \"mysql\"\n  dsn = %q\n}\nroute \"home\" {\n  path = \"/\"\n  redirect = \"/a\"\n}\nodata {\n  guard = \"none\"\n%s\n}\n", dsn, c.odata)})
			db := sqlx.MustOpen("mysql", dsn)
			defer func() { _ = db.Close() }()
			db.MustExecContext(t.Context(), "CREATE TABLE places (id BIGINT PRIMARY KEY, at POINT)")
			cfg, found := load(t, nil)
			if found != nil {
				t.Fatal(found)
			}
			const want = `is without the column "at": OData has no form for values of type point`
			if got := strings.Join(lines(cfg.Verify(t.Context())), "\n"); strings.Count(got, want) != c.warns {
				t.Errorf("check says %s", got)
			}
			opts, log, err := options(t, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(log.String(), "is without the column") != c.warns {
				t.Errorf("the log has %s", log)
			}
			if err := errors.Join(opts.Store.Close(), opts.OData.Source.(io.Closer).Close()); err != nil {
				t.Error(err)
			}
		})
	}
}
