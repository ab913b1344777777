package config_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A holding source lets every request that has a connection wait with it.
type holding struct {
	odata.Source
	opened  chan struct{}
	release chan struct{}
}

func (h holding) Open(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
	rows, err := h.Source.Open(ctx, p)
	if err == nil {
		h.opened <- struct{}{}
		<-h.release
	}
	return rows, err
}

// Queries that hold all of their connections once kept people from signing in,
// and made /readyz fail.
func TestQueriesDoNotHoldUpSignInAndReadyz(t *testing.T) {
	for _, driver := range []string{"sqlite", "postgres", "mysql"} {
		t.Run(driver, func(t *testing.T) {
			dsn := map[string]func(testing.TB) string{
				"sqlite": func(testing.TB) string { return "app.db" }, "postgres": dbtest.Postgres, "mysql": dbtest.MySQL,
			}[driver](t)
			write(t, map[string]string{"config.hcl": fmt.Sprintf(`
database {
  driver          = %q
  dsn             = %q
  max_connections = 2
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/elsewhere"
}
odata {
  guard    = "none"
  discover = ["shelves"]
  limits {
    concurrent = 2
  }
}
`, driver, dsn)})
			base, held := serveHeld(t, driver, dsn)
			for range 2 { // as many as there are connections
				go func() {
					if res, err := http.Get(base + "/odata/shelves"); err == nil {
						_ = res.Body.Close()
					}
				}()
			}
			<-held.opened
			<-held.opened
			defer close(held.release)
			if status := get(t, base+"/readyz"); status != 200 {
				t.Errorf("readyz answers %d", status)
			}
			res, err := http.Post(base+"/auth/login", "application/json", strings.NewReader(`{"login":"ada@example.com","password":"engine-of-analysis-1843"}`))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			if body, err := io.ReadAll(res.Body); err != nil || res.StatusCode != 200 {
				t.Errorf("sign-in answers %d: %s %v", res.StatusCode, body, err)
			}
		})
	}
}

func get(t *testing.T, url string) int {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// serveHeld serves config.hcl with a user and a table of shelves.
func serveHeld(t *testing.T, driver, dsn string) (base string, held holding) {
	t.Helper()
	base, held, _ = serveStore(t, driver, dsn)
	return base, held
}

// serveStore also returns the store of the sign-in.
func serveStore(t *testing.T, driver, dsn string) (base string, held holding, db *store.DB) {
	t.Helper()
	cfg, found := load(t, nil)
	if found != nil {
		t.Fatal(found)
	}
	if _, err := cfg.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	name := map[string]string{"sqlite": "sqlite", "postgres": "pgx", "mysql": "mysql"}[driver]
	plain, err := sql.Open(name, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = plain.Close() }()
	if _, err := plain.Exec(`CREATE TABLE shelves (id INTEGER PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
	opts, err := cfg.Options(t.Context(), hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	hash, err := password.New(password.Options{}).Hash(t.Context(), "", "", "engine-of-analysis-1843")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opts.Store.AddUser(t.Context(), "ada@example.com", "Ada", hash); err != nil {
		t.Fatal(err)
	}
	source := opts.OData.Source
	held = holding{source, make(chan struct{}), make(chan struct{})}
	opts.OData.Source = held
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
	return server.URL, held, opts.Store
}
