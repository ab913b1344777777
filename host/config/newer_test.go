package config_test

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// Tables that a newer version has changed are told by check, migrate and serve, which
// goes on with those of its own line and refuses others.
func TestNewerTables(t *testing.T) {
	for _, tt := range []struct {
		name    string
		version int
		works   bool
		says    string
	}{
		{"of 2.x", 99_999, true, "migration 99999"},
		{"of 3.x", 100_000, false, "newer line of versions"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			write(t, map[string]string{"config.hcl": "route \"home\" {\n  path = \"/\"\n  redirect = \"/x\"\n}\n"})
			cfg, found := load(t, nil)
			if found != nil {
				t.Fatal(found)
			}
			if _, err := cfg.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			if steps, err := cfg.Migrate(t.Context()); err != nil || len(steps) > 0 {
				t.Fatalf("before: %v, %v", steps, err)
			}
			execute(t, "vestibule.db", "INSERT INTO vestibule_schema (version_id, is_applied) VALUES ("+strconv.Itoa(tt.version)+", 1)")

			findings := cfg.Verify(t.Context())
			if findings.Failed() == tt.works || !strings.Contains(errorText(findings.Err())+fmt.Sprint(findings), tt.says) {
				t.Errorf("check: %v", findings)
			}
			var log strings.Builder
			opts, err := cfg.Options(t.Context(), hclog.New(&hclog.LoggerOptions{Output: &log}))
			if (err == nil) != tt.works || !strings.Contains(log.String()+errorText(err), tt.says) {
				t.Errorf("serve: %v, log %s", err, log.String())
			}
			if err == nil {
				if err := opts.Store.Ready(t.Context()); err != nil {
					t.Errorf("not ready: %v", err)
				}
				_ = errors.Join(opts.OData.Source.(io.Closer).Close(), opts.Store.Close())
			}
			for name, migrate := range map[string]func() ([]string, error){
				"migrate":           func() ([]string, error) { return cfg.Migrate(t.Context()) },
				"migrate --dry-run": func() ([]string, error) { return cfg.Pending(t.Context()) },
			} {
				steps, err := migrate()
				if (err == nil) != tt.works || !strings.Contains(strings.Join(steps, " ")+errorText(err), tt.says) {
					t.Errorf("%s: %v, %v", name, steps, err)
				}
				if !tt.works && !errors.Is(err, store.ErrOtherLine) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
