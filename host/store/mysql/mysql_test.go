package mysql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/mysql"
	"github.com/vestibule-dev/vestibule/v2/host/store/storetest"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

func fixture(t testing.TB) func(context.Context) (*store.DB, error) {
	dsn := dbtest.MySQL(t) + "&timeout=10s" // a busy machine is not what the rules are about
	return func(ctx context.Context) (*store.DB, error) { return mysql.Open(ctx, dsn) }
}

func TestStore(t *testing.T) { storetest.Run(t, fixture) }

func TestAbandonedTransaction(t *testing.T) { storetest.Abandoned(t, fixture) }

func TestLostCommit(t *testing.T) {
	proxy, dsn := dbtest.BehindProxy(t, "mysql")
	storetest.LostCommit(t, migrated(t, dsn), func() { // the commit is sent, and nobody reads it
		proxy.Cut()
		proxy.Restore()
	})
}

func BenchmarkStore(b *testing.B) { storetest.Bench(b, fixture) }

func migrated(t *testing.T, dsn string) *store.DB {
	t.Helper()
	db, err := mysql.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestLockWaitTimeoutIsRetried(t *testing.T) {
	dsn := dbtest.MySQL(t)
	db, impatient := migrated(t, dsn), migrated(t, dsn+"&innodb_lock_wait_timeout=1")
	u, err := db.AddUser(t.Context(), "ada@example.com", "Ada", "x")
	if err != nil {
		t.Fatal(err)
	}
	held, tries := make(chan struct{}), 0
	done := make(chan error)
	go func() {
		done <- db.InTx(t.Context(), func(ctx context.Context) error {
			err := db.Users().SetColumns(ctx, u.ID, map[string]any{"name": "First"})
			close(held)
			for range 100 { // until the other has given up once
				if time.Sleep(15 * time.Millisecond); ctx.Err() != nil {
					break
				}
			}
			return err
		})
	}()
	<-held
	err = impatient.InTx(t.Context(), func(ctx context.Context) error {
		tries++
		return impatient.Users().SetColumns(ctx, u.ID, map[string]any{"name": "Second"})
	})
	if err != nil || tries < 2 {
		t.Errorf("%v after %d tries", err, tries)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if u, err = db.Users().FindByID(t.Context(), u.ID); err != nil || u.Name != "Second" {
		t.Errorf("%q, %v", u.Name, err)
	}
}

// A migration that was cut off in the middle is finished: DDL is not undone here.
func TestInterruptedMigration(t *testing.T) {
	dsn := dbtest.MySQL(t)
	db := migrated(t, dsn)
	for _, statement := range []string{
		`DELETE FROM vestibule_schema WHERE version_id > 0`, `DROP TABLE vestibule_outbox`,
		`DROP INDEX vestibule_remember_tokens_user ON vestibule_remember_tokens`,
	} {
		if _, err := db.Writer().Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if done, err := db.Migrate(t.Context()); err != nil || len(done) == 0 {
		t.Fatalf("%q, %v", done, err)
	}
	if pending, err := db.Pending(t.Context()); err != nil || len(pending) > 0 {
		t.Fatalf("still to do: %q, %v", pending, err)
	}
	if err := db.Outbox().Queue(t.Context(), outbox.Item{UserID: "1", Purpose: "password_reset", Locale: "en"}); err != nil {
		t.Fatal(err)
	}
}

// Transactions that lock rows may not stand still, those of queries may.
func TestIdleTransactions(t *testing.T) {
	dsn := dbtest.MySQL(t)
	for _, tt := range []struct {
		name string
		open func(context.Context, string) (*store.DB, error)
		dsn  string
		want int
	}{
		{"sign-in", mysql.Open, dsn, 3},
		{"sign-in whose dsn says otherwise", mysql.Open, dsn + "&idle_transaction_timeout=7", 7},
		{"queries", mysql.OpenForQueries, dsn, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db, err := tt.open(t.Context(), tt.dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			var got int
			if err := db.Reader().Get(&got, `SELECT @@idle_transaction_timeout`); err != nil || got != tt.want {
				t.Errorf("%d s, %v; want %d", got, err, tt.want)
			}
		})
	}
}

// Queries read and write instants in UTC, unless the DSN says otherwise.
func TestTimeZoneOfQueries(t *testing.T) {
	dsn := dbtest.MySQL(t)
	server, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	if _, err := server.Exec("SET GLOBAL time_zone = 'SYSTEM'"); err != nil { // which is UTC, too
		t.Fatal(err)
	}
	for dsn, want := range map[string]string{dsn: "+00:00", dsn + "&time_zone=%27%2B05:45%27": "+05:45"} {
		db, err := mysql.OpenForQueries(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := db.Reader().Get(&got, `SELECT @@session.time_zone`); err != nil || got != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
		_ = db.Close()
	}
}

func TestSettingsWinOverTheDSN(t *testing.T) {
	dsn := strings.Replace(dbtest.MySQL(t), "clientFoundRows=true", "clientFoundRows=false&parseTime=false&sql_mode=''", 1)
	db := migrated(t, dsn)
	u, err := db.AddUser(t.Context(), "ada@example.com", "Ada", "x")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the same values once more are rows found, though not changed
		if err := db.Users().SetPassword(t.Context(), u.ID, "x", "t"); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Users().SetColumns(t.Context(), u.ID, map[string]any{"name": strings.Repeat("x", 256)}); err == nil {
		t.Fatal("a value was cut off")
	}
}

func TestNotReadyWhileReadOnly(t *testing.T) {
	dsn := dbtest.MySQL(t)
	if err := migrated(t, dsn).Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	reading, err := mysql.Open(t.Context(), dsn+"&tx_read_only=1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reading.Close() })
	if err := reading.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "takes no writes") {
		t.Fatal("a server that only reads is ready:", err)
	}
}

func TestOpenFailsWithoutThePassword(t *testing.T) {
	for _, dsn := range []string{
		"", "ada:s3cret@tcp(127.0.0.1:1)/", "ada:s3cret@tcp(127.0.0.1:1)/none", "ada:s3cret@tcp(127.0.0.1:1/none",
		"ada:s3cret@tcp(127.0.0.1:1)/none?parseTime=perhaps",
	} {
		db, err := mysql.Open(t.Context(), dsn)
		if err == nil {
			_ = db.Close()
			t.Fatalf("opened %q", dsn)
		}
		if strings.Contains(err.Error(), "s3cret") || !strings.HasPrefix(err.Error(), "open database: ") {
			t.Errorf("error %q", err)
		}
	}
}

// words keeps what the driver logs.
type words struct{ atomic.Pointer[string] }

func (w *words) Write(b []byte) (int, error) {
	text := string(b)
	w.Store(&text)
	return len(b), nil
}

// What waits for the server ends with its context, and takes its connection out of the pool without a word in the log,
// whatever the driver does when the connection is closed. It comes before the test that ends connections, whose pool says later
// that it has found them closed.
func TestWatchedConnection(t *testing.T) {
	type driven interface {
		driver.QueryerContext
		driver.SessionResetter
		Watch(context.Context) (context.Context, func() error)
	}
	ended := func(cancel func(), end func() error) error {
		cancel()
		return end()
	}
	ask := func(ctx context.Context, c driven, query string) {
		if rows, err := c.QueryContext(ctx, query, nil); err == nil {
			t.Errorf("%s has an answer", query)
			_ = rows.Close()
		}
	}
	uses := map[string]func(ctx context.Context, c driven, cancel func(), end func() error) error{
		"it reads": func(ctx context.Context, c driven, cancel func(), end func() error) error {
			time.AfterFunc(10*time.Millisecond, cancel)
			ask(ctx, c, `SELECT SLEEP(60)`)
			return end()
		},
		"it writes": func(ctx context.Context, c driven, cancel func(), end func() error) error {
			err := ended(cancel, end)
			ask(ctx, c, `SELECT 1`)
			return err
		},
		"it looks whether the server is there": func(ctx context.Context, c driven, cancel func(), end func() error) error {
			err := ended(cancel, end)
			if c.ResetSession(ctx) == nil {
				ask(ctx, c, `SELECT 2`)
			}
			return err
		},
	}
	logged := &words{}
	log.SetOutput(logged)
	defer log.SetOutput(os.Stderr)
	dsn := dbtest.MySQL(t)
	for _, timeouts := range []string{"", "&readTimeout=30s&writeTimeout=30s"} {
		db := migrated(t, dsn+timeouts)
		db.SetMaxConnections(1)
		last := int64(0)
		for name, use := range uses {
			conn, err := db.Reader().Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			id := last
			if err := conn.QueryRowContext(t.Context(), `SELECT CONNECTION_ID()`).Scan(&id); err != nil || id == last {
				t.Fatalf("%s%s: connection %d after %d, %v", name, timeouts, id, last, err)
			}
			last = id
			err = conn.Raw(func(c any) error {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				watched, end := c.(driven).Watch(ctx)
				return use(watched, c.(driven), cancel, end)
			})
			if !errors.Is(err, driver.ErrBadConn) {
				t.Errorf("%s%s: the end of watching gives %v", name, timeouts, err)
			}
			_ = conn.Close()
			if text := logged.Swap(nil); text != nil {
				t.Errorf("%s%s: the log has %q", name, timeouts, *text)
			}
		}
	}
}

// A session is found whatever has become of the connections that were open.
func TestSessionsAfterEndedConnections(t *testing.T) {
	dsn := dbtest.MySQL(t)
	db, other := migrated(t, dsn), migrated(t, dsn)
	storetest.EndedConnections(t, db, func() error {
		var ids []int64
		err := other.Reader().Select(&ids, `SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND db = DATABASE()`)
		for _, id := range ids {
			_, killed := other.Writer().Exec(fmt.Sprintf(`KILL %d`, id))
			err = errors.Join(err, killed)
		}
		return err
	})
}

func TestInterruptedRead(t *testing.T) {
	dsn := dbtest.MySQL(t)
	db, other := migrated(t, dsn), migrated(t, dsn)
	storetest.Interrupted(t, db, func() func() error {
		conn, err := other.Writer().Connx(t.Context())
		if err == nil {
			_, err = conn.ExecContext(t.Context(), `LOCK TABLES vestibule_sessions WRITE`)
		}
		if err != nil {
			t.Fatal(err)
		}
		return func() error {
			_, err := conn.ExecContext(t.Context(), `UNLOCK TABLES`)
			return errors.Join(err, conn.Close())
		}
	})
}
