package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// The lock of migrations belongs to a transaction, which a pooler leaves on its connection, and which the server lets stand
// still for longer than others.
func TestMigrationsAreLockedByATransaction(t *testing.T) {
	db := migrated(t, dbtest.Postgres(t))
	others, err := db.Writer().BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := others.ExecContext(t.Context(), `SET LOCAL idle_in_transaction_session_timeout = 0; LOCK TABLE vestibule_schema`); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := db.Migrate(t.Context())
		done <- err
	}()
	state, begin := "", time.Now()
	for time.Since(begin) < 5*time.Second { // beyond idle_in_transaction_session_timeout
		err := db.Reader().GetContext(t.Context(), &state, `SELECT COALESCE(max(a.state), '') FROM pg_locks l JOIN pg_stat_activity a USING (pid)
			WHERE l.locktype = 'advisory' AND l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if state != "idle in transaction" {
		t.Errorf("the connection with the lock is %q", state)
	}
	if err := errors.Join(others.Rollback(), <-done); err != nil {
		t.Error(err)
	}
	var left int
	if err := db.Reader().GetContext(t.Context(), &left, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`); err != nil || left > 0 {
		t.Errorf("%d locks are left, %v", left, err)
	}
}
