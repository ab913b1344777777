package config_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// What keeps a request from the database is answered with 503 once database.wait is
// over: all connections in use, under the defaults of production, or a lock that
// somebody else holds. Nobody waits for ever, and nothing of it is a 500.
func TestDatabaseWait(t *testing.T) {
	var all sync.WaitGroup // they take little but time, so they take it together
	for _, driver := range []string{"sqlite", "postgres", "mysql"} {
		for _, trouble := range []struct {
			name, wait string
			make       func(t *testing.T, s served) (end func())
		}{
			{"all connections in use", "", exhaust},
			{"a lock", `wait = "2s"`, lockUsers},
		} {
			s := serveOn(t, driver, trouble.wait, `discover = ["shelves"]`, nil)
			all.Go(func() {
				t.Run(driver+"/"+trouble.name, func(t *testing.T) { s.makesWait(t, trouble.make) })
			})
		}
	}
	all.Wait()
}

func (s served) makesWait(t *testing.T, trouble func(t *testing.T, s served) (end func())) {
	end := trouble(t, s)
	defer end()
	var all sync.WaitGroup
	for _, login := range []string{"ada@example.com", "nobody@example.com"} {
		all.Go(func() { s.signInInVain(t, login) })
	}
	all.Wait()
	if status := s.get(t, "/odata/shelves"); status != 200 {
		t.Errorf("queries, which have connections of their own, answer %d", status)
	}
	end()
	if status := s.signIn(t); status != 200 {
		t.Errorf("sign-in answers %d afterwards", status)
	}
}

func (s served) signInInVain(t *testing.T, login string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // nobody waits for ever; the log tells how long it was
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "POST", s.base+"/auth/login", strings.NewReader(fmt.Sprintf(`{"login":%q,"password":"engine-of-analysis-1843"}`, login)))
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

// exhaust takes all connections of the sign-in, those too that a worker gives back
// meanwhile.
func exhaust(t *testing.T, s served) (end func()) {
	t.Helper()
	var taken []*sql.Conn
	for _, pool := range slices.Compact([]*sql.DB{s.db.Reader().DB, s.db.Writer().DB}) {
		for range pool.Stats().MaxOpenConnections {
			c, err := pool.Conn(t.Context())
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
func lockUsers(t *testing.T, s served) (end func()) {
	t.Helper()
	statements := map[string][2]string{
		"sqlite":   {"PRAGMA busy_timeout = 60000; BEGIN IMMEDIATE", "ROLLBACK"}, // the host's workers write, too
		"postgres": {"BEGIN; LOCK TABLE users IN ACCESS EXCLUSIVE MODE", "ROLLBACK"},
		"mysql":    {"LOCK TABLES users WRITE", "UNLOCK TABLES"},
	}[s.driver]
	c, err := s.open(t).Conn(t.Context())
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
	})
}
