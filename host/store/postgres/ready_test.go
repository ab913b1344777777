package postgres_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// TestTryWriteMakesNoSnapshot holds that the write of the readiness check reaches the log of the server and ends no total,
// which the snapshot keys, and that a server without the function has a row changed.
func TestTryWriteMakesNoSnapshot(t *testing.T) {
	t.Parallel()
	dbtest.Postgres(t) // skips without a server
	dsn, err := dbtest.Start("postgres", "-c", "autovacuum=off")
	if err != nil {
		t.Fatal(err)
	}
	db := migrated(t, dsn)
	state := func() (snapshot string, log int64) {
		t.Helper()
		err := db.Reader().QueryRow(`SELECT pg_current_snapshot()::text, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint`).Scan(&snapshot, &log)
		if err != nil {
			t.Fatal(err)
		}
		return snapshot, log
	}
	write := func(db *store.DB) {
		t.Helper()
		if err := db.TryWrite(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	snapshot, log := state()
	write(db)
	if s, l := state(); s != snapshot || l <= log {
		t.Errorf("snapshot %s, then %s; the log grew by %d bytes", snapshot, s, l-log)
	}
	for _, content := range []string{"text", "bytea"} {
		if _, err := db.Writer().Exec(`ALTER FUNCTION pg_catalog.pg_logical_emit_message(boolean, text, ` + content + `) RENAME TO gone`); err != nil {
			t.Fatal(err)
		}
	}
	unlike := open(t, dsn) // has prepared nothing
	for range 2 {
		snapshot, _ = state()
		write(unlike)
		if s, _ := state(); s == snapshot {
			t.Errorf("without the function nothing was committed: %s", s)
		}
	}
}
