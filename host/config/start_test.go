package config_test

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

var noSuch = regexp.MustCompile(`(:\d+\)?/)`)

// A database that is away when the host starts is waited for, and one that does not
// exist is not.
func TestStartWaitsForTheDatabase(t *testing.T) {
	for _, driver := range []string{"postgres", "mysql"} {
		t.Run(driver, func(t *testing.T) {
			proxy, dsn := dbtest.BehindProxy(t, driver)
			start := func(dsn, wait string) error {
				write(t, map[string]string{"config.hcl": fmt.Sprintf("database {\n  driver = %q\n  dsn = %q\n  start_wait = %q\n}\n", driver, dsn, wait)})
				cfg, found := load(t, nil)
				if found != nil {
					t.Fatal(found)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				opts, err := cfg.Options(ctx, hclog.NewNullLogger())
				if err == nil {
					_ = opts.OData.Source.(io.Closer).Close()
					_ = opts.Store.Close()
				}
				return err
			}
			proxy.Cut()
			if err := start(dsn, "300ms"); err == nil || !strings.Contains(err.Error(), "config.hcl:") {
				t.Errorf("a database that stays away: %v", err)
			}
			time.AfterFunc(time.Second, proxy.Restore)
			if err := start(dsn, "50s"); err != nil {
				t.Errorf("a database that comes back: %v", err)
			}
			if err := start(noSuch.ReplaceAllString(dsn, "${1}no_such_"), "1h"); err == nil {
				t.Error("opened a database that does not exist")
			}
		})
	}
}
