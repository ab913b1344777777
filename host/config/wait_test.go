package config_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// What keeps a request from the database is answered with 503 once database.wait is
// over: all connections in use, under the defaults of production, or a lock that
// somebody else holds. Nobody waits for ever, and nothing of it is a 500.
func TestDatabaseWait(t *testing.T) {
	for _, driver := range []string{"sqlite", "postgres", "mysql"} {
		for _, trouble := range []struct {
			name, wait string
			make       func(t *testing.T, db *store.DB, driver, dsn string) (end func())
			limit      time.Duration
		}{
			{"all connections in use", "", exhaust, 10 * time.Second},
			{"a lock", `wait = "2s"`, lockUsers, 2 * time.Second},
		} {
			t.Run(driver+"/"+trouble.name, func(t *testing.T) {
				dsn := map[string]func(testing.TB) string{
					"sqlite": func(testing.TB) string { return "app.db" }, "postgres": dbtest.Postgres, "mysql": dbtest.MySQL,
				}[driver](t)
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
  guard    = "none"
  discover = ["shelves"]
}
`, driver, dsn, trouble.wait)})
				base, held, db := serveStore(t, driver, dsn)
				go func() {
					for range held.opened { // what is opened goes on at once
					}
				}()
				close(held.release)
				defer close(held.opened)
				end := trouble.make(t, db, driver, dsn)
				defer end()
				var all sync.WaitGroup
				for _, login := range []string{"ada@example.com", "nobody@example.com"} {
					all.Go(func() { signInInVain(t, base, login, trouble.limit) })
				}
				all.Wait()
				if status := get(t, base+"/odata/shelves"); status != 200 {
					t.Errorf("queries, which have connections of their own, answer %d", status)
				}
				end()
				res, err := http.Post(base+"/auth/login", "application/json", strings.NewReader(`{"login":"ada@example.com","password":"engine-of-analysis-1843"}`))
				if err != nil {
					t.Fatal(err)
				}
				_ = res.Body.Close()
				if res.StatusCode != 200 {
					t.Errorf("sign-in answers %d afterwards", res.StatusCode)
				}
			})
		}
	}
}

func signInInVain(t *testing.T, base, login string, limit time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), limit+3*time.Second) // 1 s, and what a busy machine takes
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "POST", base+"/auth/login", strings.NewReader(fmt.Sprintf(`{"login":%q,"password":"engine-of-analysis-1843"}`, login)))
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("Content-Type", "application/json")
	start := time.Now()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Errorf("%s: %v after %v", login, err, time.Since(start))
		return
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 503 || !strings.Contains(string(body), "database_unavailable") || res.Header.Get("Retry-After") == "" {
		t.Errorf("%s: %d %s %v", login, res.StatusCode, body, err)
	}
	t.Logf("%s: 503 after %v", login, time.Since(start).Round(time.Millisecond))
}

// exhaust takes all connections of the sign-in.
func exhaust(t *testing.T, db *store.DB, _, _ string) (end func()) {
	t.Helper()
	var taken []*sqlx.Conn
	for _, pool := range []*sqlx.DB{db.Reader(), db.Writer()} {
		for pool.Stats().InUse < pool.Stats().MaxOpenConnections {
			c, err := pool.Connx(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			taken = append(taken, c)
		}
	}
	return func() {
		for _, c := range taken {
			_ = c.Close()
		}
	}
}

// lockUsers locks the users over a connection of its own; on SQLite all writing is.
func lockUsers(t *testing.T, _ *store.DB, driver, dsn string) (end func()) {
	t.Helper()
	name := map[string]string{"sqlite": "sqlite", "postgres": "pgx", "mysql": "mysql"}[driver]
	statements := map[string][2]string{
		"sqlite":   {"BEGIN IMMEDIATE", "ROLLBACK"},
		"postgres": {"BEGIN; LOCK TABLE users IN ACCESS EXCLUSIVE MODE", "ROLLBACK"},
		"mysql":    {"LOCK TABLES users WRITE", "UNLOCK TABLES"},
	}[driver]
	other, err := sql.Open(name, dsn)
	if err != nil {
		t.Fatal(err)
	}
	c, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ExecContext(t.Context(), statements[0]); err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() {
		if _, err := c.ExecContext(context.WithoutCancel(t.Context()), statements[1]); err != nil {
			t.Error(err)
		}
		_ = c.Close()
		_ = other.Close()
	})
}
