package config_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
)

// Sign-in and queries have pools of their own on one file. Whichever notices first that it was exchanged, none of them
// reads or writes the new one, and neither harms it.
func TestAnExchangeIsNoticedByAllPools(t *testing.T) {
	write(t, map[string]string{"config.hcl": `
route "home" {
  path     = "/"
  redirect = "/a"
}
odata {
  guard    = "none"
  discover = ["kept"]
}
`})
	prepare := func(file string) {
		breakView(t, "sqlite", file)
		db, err := sqlite.Open(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Migrate(t.Context())
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for _, queriesFirst := range []bool{false, true} {
		prepare("vestibule.db")
		cfg, _ := load(t, nil)
		opts, log, err := options(t, cfg)
		if err != nil {
			t.Fatal(err, log)
		}
		source := opts.OData.Source.(interface {
			io.Closer
			Version(ctx context.Context) string
			Ready(ctx context.Context) error
		})
		if source.Version(t.Context()) == "" || source.Ready(t.Context()) != nil {
			t.Fatal("queries cannot read")
		}
		prepare("next.db")
		before, err := os.ReadFile("next.db")
		if err := errors.Join(err, os.Rename("next.db", "vestibule.db")); err != nil {
			t.Fatal(err)
		}
		looks := []func(context.Context) error{opts.Store.Ready, source.Ready}
		if queriesFirst {
			slices.Reverse(looks)
		}
		for _, look := range looks {
			if err := look(t.Context()); err == nil || !strings.Contains(err.Error(), "restart the host") {
				t.Errorf("queries first: %v: %v", queriesFirst, err)
			}
		}
		if _, err := opts.Store.AddUser(t.Context(), "ada@example.com", "", "x"); !errors.Is(err, auth.ErrUnavailable) {
			t.Errorf("writing: %v", err)
		}
		if now := source.Version(t.Context()); now != "" {
			t.Errorf("queries have the version %q", now)
		}
		if err := errors.Join(source.Close(), opts.Store.Close()); err != nil {
			t.Error(err)
		}
		if after, err := os.ReadFile("vestibule.db"); err != nil || !bytes.Equal(before, after) {
			t.Errorf("the new file was written to, %v", err)
		}
		for _, log := range []string{"vestibule.db-wal", "vestibule.db-shm"} {
			if _, err := os.Stat(log); err == nil {
				t.Errorf("%s of the old file lies beside the new one", log)
			}
		}
		if err := os.Remove("vestibule.db"); err != nil {
			t.Fatal(err)
		}
	}
}
