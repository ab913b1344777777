package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// ours are the tables that migrations of a later version of 2.x may add columns to.
func ours() []string {
	return []string{
		"vestibule_sessions", "vestibule_counters", "vestibule_remember_tokens", "vestibule_reset_claims", "vestibule_outbox", "vestibule_disabled_users",
		"vestibule_locks", "vestibule_guest_keys", "vestibule_audit", "vestibule_tokens", "vestibule_assertion_keys",
		"vestibule_secrets", "vestibule_user_handles", "vestibule_passkeys", "vestibule_spent", "vestibule_invitations", "vestibule_identities",
	}
}

// besideNewer lets a host of a later version migrate, as an upgrade of one host after
// the other does, while one of this version serves, and starts this version anew, as
// going back does. Both go on with the rows of each other.
func besideNewer(t *testing.T, e *env) {
	serving := e.migrated()
	e.work(serving, serving, 1) // so that its statements are prepared for the tables of now
	for _, table := range ours() {
		e.sql(serving, `ALTER TABLE `+table+` ADD COLUMN later INTEGER NOT NULL DEFAULT 0`)
	}
	e.sql(serving, `CREATE TABLE vestibule_later (id INTEGER)`)
	e.sql(serving, `INSERT INTO vestibule_schema (version_id, is_applied) VALUES (?, ?)`, 99_999, true)
	back := e.pool()
	for i, db := range []*store.DB{serving, back} {
		e.must(db.Ready(e.ctx))
		e.must(db.TryWrite(e.ctx))
		if newer, err := db.Newer(e.ctx); err != nil || !slices.Equal(newer, []int64{99_999}) {
			t.Errorf("newer: %v, %v", newer, err)
		}
		if done := e.migrate(db); len(done) > 0 {
			t.Errorf("an older version did %q", done)
		}
		e.work(db, []*store.DB{back, serving}[i], byte(10*(i+1)))
	}
	e.sql(serving, `INSERT INTO vestibule_schema (version_id, is_applied) VALUES (?, ?)`, 100_000, true)
	for _, db := range []*store.DB{serving, back} {
		e.notReady(store.CheckMigrations, db.Ready(e.ctx))
		if _, err := db.Newer(e.ctx); !errors.Is(err, store.ErrOtherLine) {
			t.Errorf("tables of 3.x: %v", err)
		}
	}
}

// afterLastRelease migrates an outbox whose rows the last release has written, before the
// column listener: mails without device and base, and an event that one of its hosts holds.
func afterLastRelease(_ *testing.T, e *env) {
	db := e.migrated()
	e.sql(db, `ALTER TABLE vestibule_outbox DROP COLUMN listener`)
	e.sql(db, `ALTER TABLE vestibule_outbox DROP COLUMN sealed`)
	for _, later := range []string{"vestibule_user_handles", "vestibule_passkeys", "vestibule_spent", "vestibule_invitations", "vestibule_identities"} {
		e.sql(db, `DROP TABLE `+later)
	}
	e.sql(db, `DELETE FROM vestibule_schema WHERE version_id >= ?`, 12)
	now := e.now.UnixMilli()
	for _, row := range []struct {
		id, purpose, locale string
		held, buried        int64
	}{
		{"mail", "password_reset", "de", 0, 0},
		{"buried", "password_reset", "de", 0, 1},
		{"held", "event:password_reset", "webhook", now + 30_000, 0},
		{"event", "event:password_reset", "audit", 0, 0},
	} {
		e.sql(db, `INSERT INTO vestibule_outbox (id, user_id, purpose, locale, attempts, created, due, held, buried, reason)
			VALUES (?, '1', ?, ?, 1, ?, ?, ?, ?, '')`, row.id, row.purpose, row.locale, now, now, row.held, row.buried)
	}
	db = e.pool()
	e.equal([]string{"apply 00012_outbox_listener.sql", "apply 00013_mail_texts.sql", "apply 00014_passkeys.sql", "apply 00015_invitations.sql", "apply 00016_identities.sql"}, e.migrate(db))
	named := func(item outbox.Item) string { return item.ID + " " + item.Listener }
	e.equal("mail ", named(e.lease(db, e.now)))
	e.noneDue(db, e.now)
	e.equal("event audit", named(e.leaseEvent(db, "audit", "webhook")))
	e.noEvent(db, "audit", "webhook")
	e.now = e.now.Add(31 * time.Second)
	e.equal("held webhook", named(e.leaseEvent(db, "audit", "webhook")))
}

// work does what sign-in does on one host, and reads it on another.
func (e *env) work(db, other *store.DB, n byte) {
	e.Helper()
	u := e.user(db, fmt.Sprintf("user%d@example.com", n))
	r := e.session(db, e.record(n, u.ID))
	e.stored(other, r)
	r.Data = []byte("new")
	e.must(other.Sessions().UpdateSession(e.ctx, r))
	r.Version = 2
	e.stored(db, r)
	d := e.device(db, n, u.ID)
	found, err := other.Devices().Find(e.ctx, d.Selector)
	e.must(err)
	e.equal(d, found)
	token := e.token(db, n, u.ID)
	kept, err := other.Tokens().Find(e.ctx, token.Hash)
	e.must(err)
	e.equal(token, kept)
	issued := e.issue(db, u, hash(n))
	e.claim(e.ctx, other, issued, "one", true)
	e.claim(e.ctx, db, issued, "two", false)
	e.enqueue(db, u.ID)
	e.must(other.Outbox().Done(e.ctx, e.lease(other, e.now).ID))
	e.announce(db, u.ID, "audit")
	e.must(other.Outbox().Done(e.ctx, e.leaseEvent(other, "audit").ID))
	e.must(db.Audit(e.ctx, "root", "user_disable", u.ID))
	e.must(db.SetDisabled(e.ctx, u.ID, true))
	if e.lives(other, r) {
		e.Errorf("the session of user %d outlived disabling", n)
	}
	backlog, err := other.Outbox().Backlog(e.ctx)
	e.must(err)
	e.equal([]outbox.Backlog{{Kind: "mail"}, {Kind: "event"}}, backlog)
}
