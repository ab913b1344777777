package storetest

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func outboxRules() []rule {
	return []rule{
		{"what was enqueued, decoys too, is leased once, the longest due first", leasedInOrder},
		{"what a mail is about comes back as it was queued, cut at 64 bytes", queuedAsGiven},
		{"a lease that ended is leased again", leaseEnds},
		{"a renewed lease ends later, and one that was lost is not renewed", leaseRenewed},
		{"a retried mail is due later", retriedLater},
		{"a buried mail is kept without its texts and not leased", buriedIsKept},
		{"a holder that lost its lease changes nothing", oldHolder},
		{"several hosts never lease one mail at the same time", leasedOnce},
		{"mails and events that wait, and those given up, are counted", countedBacklog},
	}
}

// purpose is that of every mail here; the store does not interpret it.
const purpose = "password_reset"

// claim is for an item of one of the listeners, for a minute, whose events are orphaned
// after a day.
func claim(now time.Time, listeners ...string) outbox.Claim {
	return outbox.Claim{Free: listeners, Known: listeners, Now: now, Until: now.Add(time.Minute), Orphaned: now.Add(-day)}
}

// lease leases a mail for a minute.
func (e *env) lease(db *store.DB, now time.Time) outbox.Item {
	e.Helper()
	m, err := db.Outbox().Lease(e.ctx, claim(now, ""))
	e.must(err)
	return m
}

func countedBacklog(t *testing.T, e *env, db *store.DB) {
	want := func(mail, event outbox.Backlog) {
		t.Helper()
		got, err := db.Outbox().Backlog(e.ctx)
		e.must(err)
		mail.Kind, event.Kind = "mail", "event"
		if diff := cmp.Diff([]outbox.Backlog{mail, event}, got); diff != "" {
			t.Error(diff)
		}
	}
	want(outbox.Backlog{}, outbox.Backlog{})
	e.enqueue(db, "1")
	e.now = e.now.Add(time.Minute)
	e.enqueue(db, "2")
	e.announce(db, "1", "audit", "webhook")
	e.now = e.now.Add(time.Second)
	want(outbox.Backlog{Waiting: 2, Oldest: 61 * time.Second}, outbox.Backlog{Waiting: 2, Oldest: time.Second})
	m := e.lease(db, e.now)
	want(outbox.Backlog{Waiting: 2, Oldest: 61 * time.Second}, outbox.Backlog{Waiting: 2, Oldest: time.Second})
	e.must(db.Outbox().Bury(e.ctx, m, e.now, "no such mailbox"))
	want(outbox.Backlog{Waiting: 1, Dead: 1, Oldest: time.Second}, outbox.Backlog{Waiting: 2, Oldest: time.Second})
}

func (e *env) noneDue(db *store.DB, now time.Time) {
	e.Helper()
	if m := e.lease(db, now); m != (outbox.Item{}) {
		e.Errorf("leased %+v, want none", m)
	}
}

func (e *env) enqueue(db *store.DB, userID string) {
	e.Helper()
	e.must(db.Outbox().Queue(e.ctx, outbox.Item{UserID: userID, Purpose: purpose, Locale: "de"}))
}

func leasedInOrder(t *testing.T, e *env, db *store.DB) {
	start := e.now
	for _, id := range []string{"1", "", "3"} {
		e.enqueue(db, id)
		e.now = e.now.Add(time.Second)
	}
	for i, id := range []string{"1", "", "3"} {
		got := e.lease(db, e.now)
		if diff := cmp.Diff(outbox.Item{ID: got.ID, UserID: id, Purpose: purpose, Locale: "de", Created: start.Add(time.Duration(i) * time.Second), Attempt: 1}, got); diff != "" || got.ID == "" {
			t.Fatalf("%+v %s", got, diff)
		}
		e.must(db.Outbox().Done(e.ctx, got.ID))
		e.must(db.Outbox().Done(e.ctx, got.ID)) // that it is gone is no error
	}
	e.noneDue(db, start.Add(24*time.Hour))
}

func queuedAsGiven(_ *testing.T, e *env, db *store.DB) {
	m := outbox.Item{UserID: "1", Purpose: purpose, Locale: "de", Device: "Firefox (Linux)", Base: "http://[::1]:8080", Sealed: "\x00\xff" + strings.Repeat("x", 40_000)}
	e.must(db.Outbox().Queue(e.ctx, m))
	got := e.lease(db, e.now)
	m.ID, m.Created, m.Attempt = got.ID, got.Created, 1
	e.equal(m, got)
	e.must(db.Outbox().Done(e.ctx, got.ID))
	e.must(db.Outbox().Queue(e.ctx, outbox.Item{UserID: "1", Purpose: purpose, Base: strings.Repeat("x", 65)}))
	e.equal(strings.Repeat("x", 64), e.lease(db, e.now).Base)
	// One of the release before, which knows no base.
	e.sql(db, `INSERT INTO vestibule_outbox (id, user_id, purpose, locale, attempts, created, due, held, buried, reason) VALUES ('old', '1', 'password_reset', 'en', 0, 0, 0, 0, 0, '')`)
	if got := e.lease(db, e.now); got.ID != "old" || got.Base != "" {
		e.Errorf("%+v", got)
	}
}

func leaseEnds(t *testing.T, e *env, db *store.DB) {
	e.enqueue(db, "1")
	first := e.lease(db, e.now)
	e.noneDue(db, e.now.Add(59*time.Second))
	if got := e.lease(db, e.now.Add(time.Minute)); got.ID != first.ID || got.Attempt != 2 {
		t.Fatalf("%+v", got)
	}
}

func leaseRenewed(t *testing.T, e *env, db *store.DB) {
	e.enqueue(db, "1")
	old := e.lease(db, e.now)
	renew := func(m outbox.Item, until time.Duration, want bool) {
		t.Helper()
		if held, err := db.Outbox().Renew(e.ctx, m, e.now.Add(until)); err != nil || held != want {
			t.Errorf("renewed: %v, %v", held, err)
		}
	}
	renew(old, 10*time.Minute, true)
	e.noneDue(db, e.now.Add(9*time.Minute+time.Second))
	newer := e.lease(db, e.now.Add(10*time.Minute))
	if newer.ID != old.ID || newer.Attempt != 2 {
		t.Fatalf("%+v", newer)
	}
	renew(old, time.Hour, false)
	renew(newer, 12*time.Minute, true)
	e.must(db.Outbox().Done(e.ctx, newer.ID))
	renew(newer, 12*time.Minute, false)
}

func retriedLater(t *testing.T, e *env, db *store.DB) {
	e.enqueue(db, "1")
	m := e.lease(db, e.now)
	e.must(db.Outbox().Retry(e.ctx, m, e.now.Add(time.Hour), strings.Repeat("grüße ", 200)))
	e.noneDue(db, e.now.Add(time.Hour-time.Millisecond))
	if got := e.lease(db, e.now.Add(time.Hour)); got.ID != m.ID || got.Attempt != 2 {
		t.Fatalf("%+v", got)
	}
}

func buriedIsKept(t *testing.T, e *env, db *store.DB) {
	e.must(db.Outbox().Queue(e.ctx, outbox.Item{UserID: "1", Purpose: purpose, Locale: "de", Sealed: "texts"}))
	m := e.lease(db, e.now)
	e.must(db.Outbox().Bury(e.ctx, m, e.now, "550 no such user"))
	e.noneDue(db, e.now.Add(24*time.Hour))
	e.counts(db, 1, `SELECT COUNT(*) FROM vestibule_outbox WHERE reason = '550 no such user' AND sealed IS NULL`)
}

func oldHolder(t *testing.T, e *env, db *store.DB) {
	e.enqueue(db, "1")
	old := e.lease(db, e.now)
	newer := e.lease(db, e.now.Add(time.Minute))
	e.must(db.Outbox().Retry(e.ctx, old, e.now, "late"))
	e.must(db.Outbox().Bury(e.ctx, old, e.now, "late"))
	e.noneDue(db, e.now.Add(90*time.Second))
	if got := e.lease(db, e.now.Add(2*time.Minute)); got.ID != newer.ID || got.Attempt != 3 {
		t.Fatalf("%+v", got)
	}
}

func leasedOnce(t *testing.T, e *env, db *store.DB) {
	pools := []*store.DB{db, e.pool(), e.pool()}
	const mails = 30
	for range mails {
		e.enqueue(db, "1")
	}
	var mu sync.Mutex
	seen := map[string]int{}
	e.together(12, pools, func(_ int, db *store.DB) error {
		// A host may find all candidates taken while others are due; it asks again.
		for misses := 0; misses < 3; {
			m, err := db.Outbox().Lease(e.ctx, claim(e.now, ""))
			if err != nil {
				return err
			}
			if m.ID == "" {
				misses++
				continue
			}
			mu.Lock()
			seen[m.ID]++
			mu.Unlock()
		}
		return nil
	})
	for id, n := range seen {
		if n != 1 {
			t.Errorf("mail %s was leased %d times", id, n)
		}
	}
	if len(seen) != mails {
		t.Errorf("%d mails were leased, want %d", len(seen), mails)
	}
}
