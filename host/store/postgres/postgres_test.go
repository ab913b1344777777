package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/postgres"
	"github.com/vestibule-dev/vestibule/v2/host/store/storetest"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

func fixture(t testing.TB) func(context.Context) (*store.DB, error) {
	dsn := dbtest.Postgres(t) + "&connect_timeout=10" // a busy machine is not what the rules are about
	return func(ctx context.Context) (*store.DB, error) { return postgres.Open(ctx, dsn) }
}

func TestStore(t *testing.T) { storetest.Run(t, fixture) }

func TestAbandonedTransaction(t *testing.T) { storetest.Abandoned(t, fixture) }

func TestLostCommit(t *testing.T) {
	proxy, dsn := dbtest.BehindProxy(t, "postgres")
	storetest.LostCommit(t, migrated(t, dsn), func() { // the commit is sent, and nobody reads it
		proxy.Cut()
		proxy.Restore()
	})
}

func BenchmarkStore(b *testing.B) { storetest.Bench(b, fixture) }

func open(t *testing.T, dsn string) *store.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func migrated(t *testing.T, dsn string) *store.DB {
	t.Helper()
	db := open(t, dsn)
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

// A sequence is not rolled back, so the trigger fails the first three times only.
func TestSerializationFailureIsRetried(t *testing.T) {
	db := migrated(t, dbtest.Postgres(t))
	for _, statement := range []string{
		`CREATE SEQUENCE tries`,
		`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF nextval('tries') <= 3 THEN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END IF;
			RETURN NEW; END $$`,
		`CREATE TRIGGER fail BEFORE INSERT ON vestibule_outbox FOR EACH ROW EXECUTE FUNCTION fail()`,
	} {
		if _, err := db.Writer().Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Outbox().Queue(t.Context(), outbox.Item{UserID: "1", Purpose: "password_reset", Locale: "en"}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Writer().Exec(`ALTER SEQUENCE tries RESTART`); err != nil {
		t.Fatal(err)
	}
	calls := 0
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		calls++
		return db.Outbox().Queue(ctx, outbox.Item{UserID: "2", Purpose: "password_reset", Locale: "en"})
	})
	if err != nil || calls != 4 {
		t.Fatalf("%v after %d calls, want 4", err, calls)
	}
	var n int
	if err := db.Reader().Get(&n, `SELECT COUNT(*) FROM vestibule_outbox`); err != nil || n != 2 {
		t.Fatalf("%d mails, %v; want 2", n, err)
	}
}

func TestSeveralHosts(t *testing.T) {
	dsn := dbtest.Postgres(t)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	dir, name := u.Query().Get("host"), strings.TrimPrefix(u.Path, "/")
	several := "host=/nowhere," + dir + " port=5432,5432 user=postgres sslmode=disable dbname=" + name
	db := migrated(t, several)
	if err := db.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A standby answers like this, and must not be taken for the primary.
	if _, err := db.Writer().Exec(`ALTER DATABASE ` + name + ` SET default_transaction_read_only = on`); err != nil {
		t.Fatal(err)
	}
	if db, err := postgres.Open(t.Context(), several); err == nil {
		_ = db.Close()
		t.Fatal("took a server that only reads")
	}
	replica, err := postgres.Open(t.Context(), several+" target_session_attrs=any") // for OData, say
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = replica.Close() })
	if err := replica.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "takes no writes") {
		t.Fatal("a server that only reads is ready:", err)
	}
}

// Five sorts of one client were once fifteen processes of the server.
func TestSettingsOfConnections(t *testing.T) {
	dsn := dbtest.Postgres(t)
	open(t, dsn).Writer().MustExec(`DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET extra_float_digits = 0'; END $$`)
	open(t, dsn).Writer().MustExec(`DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET datestyle = German'; END $$`)
	for _, tt := range []struct {
		name string
		open func(context.Context, string) (*store.DB, error)
		dsn  string
		want string
		// digits are those of doubles: 0 rounds them.
		digits string
		// idle is how long a transaction may stand still: 0 is for ever.
		idle, jit string
	}{
		{"queries", postgres.OpenForQueries, dsn, "0", "1", "0", "off"},
		{"queries whose dsn says otherwise", postgres.OpenForQueries, dsn + "&max_parallel_workers_per_gather=3&jit=on", "3", "1", "0", "on"},
		{"sign-in", postgres.Open, dsn, "2", "0", "3s", "on"},
		{"queries whose dsn has another style of dates", postgres.OpenForQueries, dsn + "&datestyle=SQL", "0", "1", "0", "off"},
		{"sign-in whose dsn says otherwise", postgres.Open, dsn + "&idle_in_transaction_session_timeout=7000", "2", "0", "7s", "on"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db, err := tt.open(t.Context(), tt.dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			var got string
			if err := db.Reader().Get(&got, `SHOW max_parallel_workers_per_gather`); err != nil || got != tt.want {
				t.Errorf("%s workers, %v; want %s", got, err, tt.want)
			}
			if err := db.Reader().Get(&got, `SHOW extra_float_digits`); err != nil || got != tt.digits {
				t.Errorf("%s digits, %v; want %s", got, err, tt.digits)
			}
			if err := db.Reader().Get(&got, `SHOW idle_in_transaction_session_timeout`); err != nil || got != tt.idle {
				t.Errorf("a transaction may stand still for %s, %v; want %s", got, err, tt.idle)
			}
			if err := db.Reader().Get(&got, `SHOW jit`); err != nil || got != tt.jit {
				t.Errorf("jit is %s, %v; want %s", got, err, tt.jit)
			}
			if err := db.Reader().Get(&got, `SHOW datestyle`); err != nil || !strings.HasPrefix(got, "ISO, ") {
				t.Errorf("dates have the style %s, %v; want ISO", got, err)
			}
		})
	}
}

func TestAnotherSchemaOnTheSearchPath(t *testing.T) {
	dsn := dbtest.Postgres(t)
	if _, err := open(t, dsn).Writer().Exec(`CREATE SCHEMA app; CREATE TABLE public.users (other TEXT)`); err != nil {
		t.Fatal(err)
	}
	db := migrated(t, dsn+"&search_path=app")
	if _, err := db.AddUser(t.Context(), "ada@example.com", "Ada", "x"); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := db.Reader().Get(&n, `SELECT COUNT(*) FROM app.users`); err != nil || n != 1 {
		t.Fatalf("%d users in the schema, %v", n, err)
	}
}

func TestOpenFailsWithoutThePassword(t *testing.T) {
	for _, dsn := range []string{
		"postgres://ada:s3cret@127.0.0.1:1/none", "postgres://ada:s3cret@[::1/none", "host=/nowhere password=s3cret",
		"postgres://ada:s3cret@127.0.0.1:1/none?sslmode=perhaps",
	} {
		db, err := postgres.Open(t.Context(), dsn)
		if err == nil {
			_ = db.Close()
			t.Fatal("opened nothing")
		}
		if strings.Contains(err.Error(), "s3cret") || !strings.HasPrefix(err.Error(), "open database: ") {
			t.Errorf("error %q", err)
		}
	}
}

func TestColumnsOfMoreTypes(t *testing.T) {
	db := open(t, dbtest.Postgres(t))
	_, err := db.Writer().Exec(`CREATE DOMAIN mail AS VARCHAR(80); CREATE TYPE mood AS ENUM ('sad', 'happy');
		CREATE TABLE users (id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY, email mail, password TEXT,
			mood mood, tags TEXT[], small SMALLINT, seen TIMESTAMPTZ, at TIME, ratio REAL, link UUID, data JSON, gone INTEGER);
		ALTER TABLE users DROP COLUMN gone;
		INSERT INTO users (email, password, mood, tags, small, seen, at, ratio, link, data) VALUES ('Ada@example.com', 'x', 'happy',
			'{a,b}', 3, '2026-01-02 03:04:05+01', '12:30', 0.5, '0b6f8c1e-6d0a-4c8e-9d5e-2f1f0c3b7a99', '{"a":1}')`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	u, err := db.Users().FindByLogin(t.Context(), "email", "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"mood": "happy", "tags": "{a,b}", "small": int64(3), "seen": "2026-01-02T02:04:05Z", "ratio": 0.5,
		"link": "0b6f8c1e-6d0a-4c8e-9d5e-2f1f0c3b7a99", "at": "12:30:00",
	} {
		if got := u.Columns[name]; !strings.HasPrefix(fmt.Sprint(got), fmt.Sprint(want)) {
			t.Errorf("%s is %#v, want %#v", name, got, want)
		}
	}
	if err := db.Users().SetColumns(t.Context(), u.ID, map[string]any{"mood": "sad", "small": int64(4), "link": nil}); err != nil {
		t.Error(err)
	}
	if _, err := db.Users().FindByID(t.Context(), "99999999999"); !errors.Is(err, auth.ErrNotFound) {
		t.Error(err)
	}
}

// A session is found whatever has become of the connections that were open, however they give values, and of whatever
// type a column is: as a text, the time when the session was created has as many bytes as a number.
func TestSessionsAfterEndedConnections(t *testing.T) {
	const ended = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()`
	for name, test := range map[string]struct{ mode, end string }{
		"as usual": {end: ended}, "for a pooler": {"&default_query_exec_mode=simple_protocol", ended}, "without a cache": {"&default_query_exec_mode=exec", ended},
		"text for a number": {end: `ALTER TABLE vestibule_sessions ALTER COLUMN created TYPE text; ` + ended},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := dbtest.Postgres(t)
			db, other := migrated(t, dsn+test.mode), migrated(t, dsn)
			storetest.EndedConnections(t, db, func() error {
				_, err := other.Writer().Exec(test.end)
				return err
			})
		})
	}
}

func TestInterruptedRead(t *testing.T) {
	dsn := dbtest.Postgres(t)
	db, other := migrated(t, dsn), migrated(t, dsn)
	storetest.Interrupted(t, db, func() func() error {
		tx, err := other.Writer().Beginx()
		if err == nil {
			_, err = tx.Exec(`LOCK TABLE vestibule_sessions IN ACCESS EXCLUSIVE MODE`)
		}
		if err != nil {
			t.Fatal(err)
		}
		return tx.Rollback
	})
}
