package config_test

import (
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// Under the defaults of production, 32 connections of one client that do not read
// their long answers leave another client its pages and its sign-in, and /readyz.
func TestSlowReadersLeaveRoomUnderDefaults(t *testing.T) {
	for _, driver := range []string{"sqlite", "postgres", "mysql"} {
		t.Run(driver, func(t *testing.T) {
			dsn := map[string]func(testing.TB) string{
				"sqlite": func(testing.TB) string { return "app.db" }, "postgres": dbtest.Postgres, "mysql": dbtest.MySQL,
			}[driver](t)
			write(t, map[string]string{"config.hcl": fmt.Sprintf(`
database {
  driver = %q
  dsn    = %q
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/elsewhere"
}
odata {
  guard    = "none"
  discover = ["big", "shelves"]
}
`, driver, dsn)})
			makeBig(t, driver, dsn)
			base, held := serveHeld(t, driver, dsn)
			go func() {
				for range held.opened { // what is opened goes on at once
				}
			}()
			close(held.release)
			defer close(held.opened)
			for range 32 {
				c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
				_ = c.(*net.TCPConn).SetReadBuffer(4096)
				if _, err := fmt.Fprintf(c, "GET /odata/big?$top=1000000 HTTP/1.1\r\nHost: %s\r\n\r\n", strings.TrimPrefix(base, "http://")); err != nil {
					t.Fatal(err)
				}
			}
			innocent := &http.Client{Timeout: 8 * time.Second, Transport: &http.Transport{ // much less than a slow reader has
				DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext,
			}}
			ask := func(path, body string) {
				t.Helper()
				method := "GET"
				if body != "" {
					method = "POST"
				}
				r, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/json")
				res, err := innocent.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = res.Body.Close() }()
				if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode != 200 {
					t.Errorf("%s: %s %.200s %v", path, res.Status, text, err)
				}
			}
			for range 10 {
				ask("/odata/big?$top=5", "")
				ask("/odata/shelves", "")
				ask("/readyz", "")
			}
			ask("/auth/login", `{"login":"ada@example.com","password":"engine-of-analysis-1843"}`)
		})
	}
}

// makeBig makes a table of 8 MiB.
func makeBig(t *testing.T, driver, dsn string) {
	t.Helper()
	db, err := sql.Open(map[string]string{"sqlite": "sqlite", "postgres": "pgx", "mysql": "mysql"}[driver], dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, statement := range []string{
		`CREATE TABLE big (id INTEGER PRIMARY KEY, text VARCHAR(2048) NOT NULL)`,
		`INSERT INTO big VALUES (0, '` + strings.Repeat("x", 2048) + `')`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	for n := 1; n < 4096; n *= 2 {
		if _, err := db.Exec(fmt.Sprintf(`INSERT INTO big SELECT id + %d, text FROM big`, n)); err != nil {
			t.Fatal(err)
		}
	}
}
