package config_test

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
)

// Sign-in and queries have pools of their own on one file. Each notices that it was
// exchanged, in whatever order, and neither harms what the other has opened.
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
	prepare("vestibule.db")
	cfg, _ := load(t, nil)
	opts, log, err := options(t, cfg)
	if err != nil {
		t.Fatal(err, log)
	}
	source := opts.OData.Source.(interface {
		io.Closer
		Version(ctx context.Context) string
	})
	for round := range 6 {
		before := source.Version(t.Context())
		prepare("next.db")
		if err := os.Rename("next.db", "vestibule.db"); err != nil {
			t.Fatal(err)
		}
		if round%2 == 0 && source.Version(t.Context()) == before {
			t.Error("queries have the same version")
		}
		if err := opts.Store.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := opts.Store.AddUser(t.Context(), "ada@example.com", "", "x"); err != nil {
			t.Error(err)
		}
		if now := source.Version(t.Context()); now == before || now == "" {
			t.Errorf("version %q after %q", now, before)
		}
		var verdict string
		if err := opts.Store.Reader().GetContext(t.Context(), &verdict, "PRAGMA integrity_check"); err != nil || verdict != "ok" {
			t.Errorf("the file is %q, %v", verdict, err)
		}
	}
	if err := errors.Join(source.Close(), opts.Store.Close()); err != nil {
		t.Error(err)
	}
}
