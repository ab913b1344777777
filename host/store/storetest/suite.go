package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// A Fixture makes an empty database and returns a function that opens a pool on
// it, as one more host would.
type Fixture func(t testing.TB) (open func(ctx context.Context) (*store.DB, error))

// A rule is one promise of the store. It is given a database with all tables, which the
// next rule gets emptied: a rule changes rows, never tables. A bare rule begins with a
// database of its own that has no tables.
type (
	rule struct {
		name string
		test func(t *testing.T, e *env, db *store.DB)
	}
	bareRule struct {
		name string
		test func(t *testing.T, e *env)
	}
)

// Run tests every rule on databases that the fixture makes.
func Run(t *testing.T, fixture Fixture) {
	shared := fixture(t)
	for _, group := range []struct {
		name  string
		rules []rule
		bare  []bareRule
	}{
		{name: "migrate", bare: migrateRules()},
		{name: "tx", rules: txRules()},
		{name: "users", rules: userRules(), bare: alteringRules()},
		{name: "existing", bare: existingRules()},
		{name: "throttle", rules: throttleRules()},
		{name: "reset", rules: resetRules()},
		{name: "invitations", rules: invitationRules()},
		{name: "remember", rules: deviceRules()},
		{name: "sessions", rules: sessionRules()},
		{name: "tokens", rules: tokenRules()},
		{name: "passkeys", rules: passkeyRules()},
		{name: "identities", rules: identityRules()},
		{name: "outbox", rules: outboxRules()},
		{name: "events", rules: eventRules()},
		{name: "clock", rules: clockRules()},
		{name: "admin", rules: adminRules()},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, r := range group.bare {
				t.Run(r.name, func(t *testing.T) { r.test(t, newEnv(t, fixture)) })
			}
			for _, r := range group.rules {
				t.Run(r.name, func(t *testing.T) {
					e := envOf(t, fixture, shared)
					db := e.migrated()
					e.empty(db)
					r.test(t, e, db)
				})
			}
		})
	}
}

// env is what a rule works with.
type env struct {
	testing.TB
	ctx     context.Context
	open    func(ctx context.Context) (*store.DB, error)
	fixture Fixture
	// now is the time of every pool.
	now time.Time
}

func newEnv(t testing.TB, fixture Fixture) *env {
	return envOf(t, fixture, fixture(t))
}

// envOf works with the database that open opens.
func envOf(t testing.TB, fixture Fixture, open func(context.Context) (*store.DB, error)) *env {
	return &env{
		TB: t, ctx: t.Context(), open: open, fixture: fixture,
		now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
	}
}

// pool opens one more pool on the database.
func (e *env) pool() *store.DB {
	e.Helper()
	db, err := e.open(e.ctx)
	if err != nil {
		e.Fatalf("open: %v", err)
	}
	e.Cleanup(func() { e.must(db.Close()) })
	return db.With(store.Settings{Now: func() time.Time { return e.now }})
}

// migrated opens a pool on the database with all tables.
func (e *env) migrated() *store.DB {
	e.Helper()
	db := e.pool()
	e.migrate(db)
	return db
}

// empty removes all rows but those that migrations write: their own list and the locks.
func (e *env) empty(db *store.DB) {
	e.Helper()
	tables := map[string]string{
		"sqlite3": `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
		"pgx":     `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`,
		"mysql":   `SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()`,
	}
	query, known := tables[db.Writer().DriverName()]
	if !known {
		e.Fatalf("no query for the tables of %q", db.Writer().DriverName())
	}
	var names []string
	e.must(db.Writer().SelectContext(e.ctx, &names, query))
	for _, name := range names {
		if name != "vestibule_schema" && name != "vestibule_locks" {
			e.sql(db, "DELETE FROM "+name)
		}
	}
}

// migrate returns what it did.
func (e *env) migrate(db *store.DB) []string {
	e.Helper()
	done, err := db.Migrate(e.ctx)
	e.must(err)
	return done
}

// sql runs statements of the host application's, with "?" for parameters.
func (e *env) sql(db *store.DB, query string, args ...any) {
	e.Helper()
	w := db.Writer()
	if _, err := w.ExecContext(e.ctx, w.Rebind(query), args...); err != nil {
		e.Fatalf("%s: %v", query, err)
	}
}

// counts checks the number that a query yields.
func (e *env) counts(db *store.DB, want int, query string, args ...any) {
	e.Helper()
	var n int
	if err := db.Reader().GetContext(e.ctx, &n, db.Reader().Rebind(query), args...); err != nil || n != want {
		e.Errorf("%s: %d, %v; want %d", query, n, err, want)
	}
}

// user adds a person.
func (e *env) user(db *store.DB, email string) auth.User {
	e.Helper()
	u, err := db.AddUser(e.ctx, email, "Ada", "$2y$04$hash-of-"+email)
	if err != nil {
		e.Fatalf("add user %s: %v", email, err)
	}
	return u
}

// find returns the user as stored.
func (e *env) find(db *store.DB, id string) auth.User {
	e.Helper()
	u, err := db.Users().FindByID(e.ctx, id)
	e.must(err)
	return u
}

func (e *env) equal(want, got any) {
	e.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		e.Error(diff)
	}
}

func (e *env) notFound(err error, what ...any) {
	e.Helper()
	if !errors.Is(err, auth.ErrNotFound) {
		e.Errorf("%q: %v, want not found", what, err)
	}
}

// errOf drops a result that a rule has no use for.
func errOf[T any](_ T, err error) error { return err }

func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// together runs f n times at once, on each of the pools in turn, and waits.
func (e *env) together(n int, pools []*store.DB, f func(i int, db *store.DB) error) {
	e.Helper()
	start := make(chan struct{})
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = f(i, pools[i%len(pools)])
		})
	}
	close(start)
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			e.Fatalf("caller %d of %d: %v", i, n, err)
		}
	}
}

// wins runs f for many callers at once and returns how many of them won.
func (e *env) wins(pools []*store.DB, f func(i int, db *store.DB) (bool, error)) int {
	e.Helper()
	var n atomic.Int32
	e.together(callers, pools, func(i int, db *store.DB) error {
		won, err := f(i, db)
		if won {
			n.Add(1)
		}
		return err
	})
	return int(n.Load())
}

// hash is a stand-in for a SHA-256 that begins with the bytes given.
func hash(first ...byte) []byte {
	h := make([]byte, 32)
	copy(h, first)
	return h
}

// rounds is how often a race is run: enough to lose it, if it can be lost.
func rounds() int {
	if testing.Short() {
		return 4
	}
	return 40
}

const callers = 50

func numbered(format string, n int) string { return fmt.Sprintf(format, n) }
