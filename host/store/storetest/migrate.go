package storetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func migrateRules() []bareRule {
	return []bareRule{
		{"an empty database is not ready and says what is pending", emptyIsNotReady},
		{"a second migration has nothing to do", secondMigrationIsEmpty},
		{"many hosts may migrate at once", manyHostsMigrate},
		{"existing stock tables are not altered", stockTablesStay},
		{"a missing stock table is created beside an existing one", missingStockTable},
		{"a table that was dropped is told by its check", droppedTable},
		{"a write that fails is told by its check", failingWrite},
		{"hosts of this version work beside, and after, those of a later one", besideNewer},
		{"what waits in the outbox of the last release is delivered", afterLastRelease},
	}
}

func emptyIsNotReady(t *testing.T, e *env) {
	db := e.pool()
	want := []string{"apply 00001_tables.sql", "apply 00002_locks.sql", "apply 00003_guest_keys.sql", "apply 00004_audit.sql", "apply 00005_tokens.sql", "apply 00006_assertion_keys.sql", "apply 00007_device_values.sql", "apply 00008_mail_device.sql", "apply 00009_session_state.sql", "apply 00010_guesses.sql", "apply 00011_mail_base.sql", "apply 00012_outbox_listener.sql", "apply 00013_mail_texts.sql", "apply 00014_passkeys.sql", "apply 00015_invitations.sql", "apply 00016_identities.sql", "create table users", "create table password_reset_tokens"}
	for range 2 { // asking changes nothing
		got, err := db.Pending(e.ctx)
		e.must(err)
		e.equal(want, got)
	}
	if db.Ready(e.ctx) == nil {
		t.Fatal("an empty database is ready")
	}
	if _, err := db.Users().FindByID(e.ctx, "1"); err == nil {
		t.Fatal("found a user in no table")
	}
	done := e.migrate(db)
	e.equal(want, done)
	e.must(db.Ready(e.ctx))
	e.user(db, "ada@example.com")
}

func (e *env) notReady(check string, err error) {
	e.Helper()
	var not *store.NotReadyError
	if !errors.As(err, &not) || not.Check != check {
		e.Fatalf("%v, want the check %s to fail", err, check)
	}
}

func droppedTable(_ *testing.T, e *env) {
	db := e.migrated()
	e.must(db.TryWrite(e.ctx))
	e.sql(db, `DROP TABLE vestibule_audit`)
	e.notReady(store.CheckTables, db.Ready(e.ctx))
}

func failingWrite(_ *testing.T, e *env) {
	db := e.migrated()
	e.must(db.TryWrite(e.ctx))
	e.sql(db, `ALTER TABLE vestibule_schema DROP COLUMN tstamp`)
	e.must(db.Ready(e.ctx))
	e.notReady(store.CheckWrites, db.TryWrite(e.ctx))
}

func secondMigrationIsEmpty(t *testing.T, e *env) {
	db := e.migrated()
	e.user(db, "ada@example.com")
	done := e.migrate(db)
	if len(done) > 0 {
		t.Fatalf("second migration did %q", done)
	}
	e.counts(db, 1, `SELECT COUNT(*) FROM users`)
}

func manyHostsMigrate(t *testing.T, e *env) {
	var pools []*store.DB
	for range 4 {
		pools = append(pools, e.pool())
	}
	e.together(8, pools, func(_ int, db *store.DB) error {
		_, err := db.Migrate(e.ctx)
		return err
	})
	e.must(pools[0].Ready(e.ctx))
	e.user(pools[1], "ada@example.com")
}

func stockTablesStay(t *testing.T, e *env) {
	db := e.pool()
	e.sql(db, `CREATE TABLE users (id INTEGER NOT NULL, email VARCHAR(80), password VARCHAR(60), shoe_size INTEGER)`)
	e.sql(db, `CREATE TABLE password_reset_tokens (email VARCHAR(80), token VARCHAR(80), created_at VARCHAR(30))`)
	before, err := db.UserColumns(e.ctx)
	e.must(err)
	done := e.migrate(db)
	after, err := db.UserColumns(e.ctx)
	e.must(err)
	e.equal(before, after)
	if slices.Contains(done, "create table users") {
		t.Fatalf("migration did %q", done)
	}
	names := make([]string, len(after))
	for i, c := range after {
		names[i] = c.Name
	}
	e.equal([]string{"id", "email", "password", "shoe_size"}, names)
}

func missingStockTable(t *testing.T, e *env) {
	db := e.pool()
	e.sql(db, `CREATE TABLE users (id INTEGER NOT NULL PRIMARY KEY, email VARCHAR(80), password VARCHAR(60))`)
	done := e.migrate(db)
	e.equal([]string{"apply 00001_tables.sql", "apply 00002_locks.sql", "apply 00003_guest_keys.sql", "apply 00004_audit.sql", "apply 00005_tokens.sql", "apply 00006_assertion_keys.sql", "apply 00007_device_values.sql", "apply 00008_mail_device.sql", "apply 00009_session_state.sql", "apply 00010_guesses.sql", "apply 00011_mail_base.sql", "apply 00012_outbox_listener.sql", "apply 00013_mail_texts.sql", "apply 00014_passkeys.sql", "apply 00015_invitations.sql", "apply 00016_identities.sql", "create table password_reset_tokens"}, done)
}
