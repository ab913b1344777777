package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/keyring"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// day is how far the clock runs ahead here, before it is put right.
const day = 24 * time.Hour

func clockRules() []rule {
	return []rule{
		{"a window that began ahead ends a window from now", windowAhead},
		{"mails are spaced from now where the last one went ahead", spacingAhead},
		{"a mail that was queued ahead is due, and ages", mailAhead},
		{"a mail that was put back ahead waits for the longest pause", retryAhead},
		{"a mail that is held ahead waits for a lease", leaseAhead},
		{"events that were queued ahead are due in their order", eventsAhead},
		{"a visit ahead is replaced by the next one", visitAhead},
		{"a use of a token ahead is shown as now, and replaced by the next one", useAhead},
		{"a reset link that was made ahead works", resetAhead},
		{"keys that were made ahead are changed in time", keysAhead},
	}
}

// ahead runs a function while the clock of every pool is a day ahead.
func (e *env) ahead(f func()) {
	e.Helper()
	right := e.now
	e.now = right.Add(day)
	f()
	e.now = right
}

func windowAhead(_ *testing.T, e *env, db *store.DB) {
	e.ahead(func() { e.hit(db, login, e.now, 1, e.now.Add(window)) })
	e.hit(db, login, e.now, 2, e.now.Add(window)) // the attempt still counts
	e.hit(db, login, e.now.Add(time.Second), 3, e.now.Add(window))
	e.hit(db, login, e.now.Add(window), 1, e.now.Add(2*window))
}

func spacingAhead(t *testing.T, e *env, db *store.DB) {
	c := auth.Counter{Kind: "resend", Login: "ada@example.com"}
	space := func(now time.Time, want bool) {
		t.Helper()
		if got, err := db.Throttle().Space(e.ctx, c, now, spacing); err != nil || got != want {
			t.Errorf("space: %v, %v; want %v", got, err, want)
		}
	}
	e.ahead(func() { space(e.now, true) })
	space(e.now, false)
	space(e.now.Add(spacing.First), true)
}

func (e *env) oldestMail(db *store.DB) time.Duration {
	e.Helper()
	list, err := db.Outbox().Backlog(e.ctx)
	e.must(err)
	return list[0].Oldest
}

func mailAhead(t *testing.T, e *env, db *store.DB) {
	e.ahead(func() {
		e.enqueue(db, "1")
		e.enqueue(db, "2")
	})
	for range 2 {
		if m := e.lease(db, e.now); m.ID == "" || m.Created.Sub(e.now).Abs() > time.Second {
			t.Fatalf("leased %+v, want a mail that was queued now", m)
		}
	}
	e.now = e.now.Add(30 * time.Second)
	if got := e.oldestMail(db); got != 30*time.Second {
		t.Errorf("the oldest mail waits for %v, want 30 s", got)
	}
}

func retryAhead(t *testing.T, e *env, db *store.DB) {
	e.enqueue(db, "1")
	m := e.lease(db, e.now)
	e.must(db.Outbox().Retry(e.ctx, m, e.now.Add(day), "550"))
	e.noneDue(db, e.now)
	e.noneDue(db, e.now.Add(15*time.Minute-time.Millisecond))
	if got := e.lease(db, e.now.Add(15*time.Minute)); got.ID != m.ID || got.Attempt != 2 {
		t.Errorf("leased %+v, want the mail again", got)
	}
}

func leaseAhead(t *testing.T, e *env, db *store.DB) {
	e.enqueue(db, "1")
	m := e.lease(db, e.now.Add(day))
	e.noneDue(db, e.now)
	e.noneDue(db, e.now.Add(time.Minute-time.Millisecond))
	if got := e.lease(db, e.now.Add(time.Minute)); got.ID != m.ID || got.Attempt != 2 {
		t.Errorf("leased %+v, want the mail again", got)
	}
}

func eventsAhead(t *testing.T, e *env, db *store.DB) {
	var want, got []string
	e.announce(db, "1", "audit")
	e.ahead(func() {
		e.announce(db, "1", "audit")
		e.announce(db, "1", "audit", "webhook")
	})
	e.now = e.now.Add(time.Second)
	e.announce(db, "1", "audit")
	var rows []string
	e.must(db.Reader().SelectContext(e.ctx, &rows, `SELECT id FROM vestibule_outbox WHERE locale = 'audit' ORDER BY created`))
	for _, row := range rows {
		want = append(want, row[:32])
	}
	e.now = e.now.Add(time.Minute)
	for range want {
		one := e.leaseEvent(db, "audit")
		if one.ID == "" || one.Created.After(e.now.Add(time.Second)) {
			t.Fatalf("leased %+v, want an event of about now", one)
		}
		got = append(got, one.Event())
		e.must(db.Outbox().Done(e.ctx, one.ID))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events out of order: %s", diff)
	}
	if two := e.leaseEvent(db, "webhook"); two.Event() != want[2] {
		t.Errorf("the other listener gets %+v", two)
	}
}

func visitAhead(t *testing.T, e *env, db *store.DB) {
	var r auth.SessionRow
	e.ahead(func() { r = e.session(db, e.record(1, "7")) })
	infos, err := db.ListSessions(e.ctx, "7", 10)
	e.must(err)
	if len(infos) != 1 || !infos[0].Seen.Equal(e.now) || !infos[0].Created.Equal(e.now) {
		t.Errorf("listed %+v, want it seen now", infos)
	}
	e.must(db.Sessions().TouchSession(e.ctx, r.Hash, e.now))
	r.Seen = e.now
	e.stored(db, r)
}

func useAhead(_ *testing.T, e *env, db *store.DB) {
	want := e.token(db, 1, "7")
	e.must(db.Tokens().Touch(e.ctx, want.Hash, e.now.Add(day)))
	used := func(want time.Time) {
		e.Helper()
		list, err := db.Tokens().List(e.ctx, "7", 10)
		e.must(err)
		if len(list) != 1 || !list[0].Used.Equal(want) {
			e.Errorf("used %+v, want %v", list, want)
		}
	}
	used(e.now)
	e.must(db.Tokens().Touch(e.ctx, want.Hash, e.now))
	e.now = e.now.Add(time.Hour)
	used(e.now.Add(-time.Hour))
}

func resetAhead(_ *testing.T, e *env, db *store.DB) {
	var token auth.ResetToken
	e.ahead(func() { _, token = e.issued(db, hash(1)) })
	found, err := db.ResetTokens().Find(e.ctx, token.Email, token.Hash, e.now.Add(-time.Hour))
	e.must(err)
	e.claim(e.ctx, db, found, "one", true)
}

func keysAhead(_ *testing.T, e *env, db *store.DB) {
	const every = 30 * day
	guests := func(number byte) (secrets []byte) {
		e.Helper()
		keys, err := db.GuestKeys().CurrentKeys(e.ctx, keyring.Key{Created: e.now, Secret: hash(number)}, every, every)
		e.must(err)
		for _, key := range keys {
			secrets = append(secrets, key.Secret[0])
		}
		return secrets
	}
	assertions := func(number byte) (secrets []byte) {
		e.Helper()
		keys, err := db.AssertionKeys().CurrentKeys(e.ctx, keyring.Key{Created: e.now, Secret: hash(number)}, every, 2*day)
		e.must(err)
		for _, key := range keys {
			secrets = append(secrets, key.Secret[0])
		}
		return secrets
	}
	guests(1)
	assertions(1)
	e.now = e.now.Add(every)
	right := e.now
	e.now = right.Add(365 * day)
	both := []byte{hash(2)[0], hash(1)[0]}
	e.equal(both, guests(2))
	assertions(2)
	e.now = right
	e.equal(both, guests(3)) // nothing that is in use goes away
	assertions(3)
	e.now = right.Add(every)
	e.equal([]byte{hash(4)[0], hash(2)[0]}, guests(4))
	e.equal(hash(4)[0], assertions(4)[0])
}
