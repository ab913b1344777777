package postgres_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// A real standby is not taken for the primary, and is as soon as it is promoted: when
// the primary has gone, and where it is the only server.
func TestStandby(t *testing.T) {
	dsn := dbtest.Followed(t)
	first := migrated(t, dsn)
	if _, err := first.AddUser(t.Context(), "ada@example.com", "Ada", "x"); err != nil {
		t.Fatal(err)
	}
	standby := dbtest.Standby(t, dsn)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	host := func(dsn string) string { u, _ := url.Parse(dsn); return u.Query().Get("host") }
	primary := dbtest.NewProxy(t, "unix", filepath.Join(host(dsn), ".s.PGSQL.5432"))
	name, port, _ := strings.Cut(primary.Address(), ":")
	both := open(t, "host="+host(standby)+","+name+" port=5432,"+port+" user=postgres sslmode=disable dbname="+strings.TrimPrefix(u.Path, "/"))
	if err := both.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	alone := open(t, standby)
	if err := alone.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "takes no writes") {
		t.Fatal("a standby is ready:", err)
	}
	primary.Cut()
	if _, err := alone.Writer().Exec(`SELECT pg_promote()`); err != nil {
		t.Fatal(err)
	}
	if err := alone.Ready(t.Context()); err != nil {
		t.Error("the standby has been promoted:", err)
	}
	if _, err := both.AddUser(t.Context(), "bob@example.com", "Bob", "x"); err != nil {
		t.Fatal("the other server has been promoted:", err)
	}
	for _, login := range []string{"ada@example.com", "bob@example.com"} {
		if _, err := both.Users().FindByLogin(t.Context(), "email", login); err != nil {
			t.Error(login, err)
		}
	}
}

// The connections of a pool once stayed on a server that took no writes any more, while
// others took them behind the same address.
func TestReadOnlyConnectionIsLeft(t *testing.T) {
	dsn := dbtest.Postgres(t)
	db := migrated(t, dsn)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(u.Path, "/")
	if _, err := db.Writer().Exec(`ALTER DATABASE ` + name + ` SET default_transaction_read_only = on`); err != nil {
		t.Fatal(err)
	}
	old := open(t, dsn) // has connected by now
	if _, err := db.Writer().Exec(`ALTER DATABASE ` + name + ` RESET default_transaction_read_only`); err != nil {
		t.Fatal(err)
	}
	if err := old.Outbox().Queue(t.Context(), outbox.Item{UserID: "1", Purpose: "password_reset", Locale: "en"}); err != nil {
		t.Fatal(err)
	}
}

// A mail whose lease got no answer, and was made, once waited until the lease ended.
func TestLeaseWithoutAnswer(t *testing.T) {
	dsn := dbtest.Postgres(t)
	direct := migrated(t, dsn)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	proxy := dbtest.NewProxy(t, "unix", filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432"))
	db := open(t, "postgres://postgres@"+proxy.Address()+u.Path+"?sslmode=disable")
	if err := db.Outbox().Queue(t.Context(), outbox.Item{UserID: "1", Purpose: "password_reset", Locale: "en"}); err != nil {
		t.Fatal(err)
	}
	slow := `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(1843); RETURN NEW; END $$;
		CREATE TRIGGER slow BEFORE UPDATE ON vestibule_outbox FOR EACH ROW EXECUTE FUNCTION slow()`
	if _, err := direct.Writer().Exec(slow); err != nil {
		t.Fatal(err)
	}
	lock, err := direct.Writer().Beginx() // while it lasts, no lease is made
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Rollback() }()
	if _, err := lock.Exec(`SELECT pg_advisory_xact_lock(1843)`); err != nil {
		t.Fatal(err)
	}
	until := func(query string) {
		t.Helper()
		for n := 0; n == 0; time.Sleep(10 * time.Millisecond) {
			if err := direct.Reader().Get(&n, query); err != nil {
				t.Fatal(err)
			}
		}
	}
	leased, now := make(chan error, 1), time.Now().Add(time.Minute)
	go func() {
		_, err := db.Outbox().Lease(t.Context(), outbox.Claim{Free: []string{""}, Known: []string{""}, Now: now, Until: now.Add(time.Hour)})
		leased <- err
	}()
	until(`SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'`)
	proxy.Cut()
	if err := <-leased; err == nil {
		t.Fatal("leased without an answer")
	}
	if err := lock.Commit(); err != nil {
		t.Fatal(err)
	}
	until(`SELECT COUNT(*) FROM vestibule_outbox WHERE held > 0`)
	proxy.Restore()
	m, err := db.Outbox().Lease(t.Context(), outbox.Claim{Free: []string{""}, Known: []string{""}, Now: now, Until: now.Add(time.Hour)})
	if err != nil || m.UserID != "1" || m.Attempt != 2 {
		t.Errorf("%+v, %v", m, err)
	}
}
