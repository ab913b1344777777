package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func eventRules() []rule {
	return []rule{
		{"an event is one for each listener, with one id, and no mail", eventsForEach},
		{"an event holds back the user's later ones for that listener only", eventsInOrder},
		{"an event that failed is due later, and so are those behind it", eventRetried},
		{"what was tried less often comes first", eventsFresh},
		{"who has lost the lease holds nothing back", eventLeaseLost},
		{"events keep their order when the clock goes back", eventsAgainstTheClock},
		{"events that are given up, or rolled back, hold nothing back", eventsGivenUp},
		{"an event is taken with what it leads to, once, and by who holds it", eventTaken},
		{"an event for a listener that is gone is leased in the end", eventsOrphaned},
		{"the last release and this one read each other's events", besideLastRelease},
		{"several hosts never lease one event at the same time", eventLeasedOnce},
	}
}

const reset = "password_reset"

func (e *env) announce(db *store.DB, userID string, listeners ...string) {
	e.Helper()
	e.must(db.InTx(e.ctx, func(ctx context.Context) error { return db.Outbox().Announce(ctx, reset, userID, listeners) }))
}

// leaseEvent leases an event for a minute.
func (e *env) leaseEvent(db *store.DB, listeners ...string) outbox.Item {
	e.Helper()
	got, err := db.Outbox().Lease(e.ctx, claim(e.now, listeners...))
	e.must(err)
	return got
}

func (e *env) noEvent(db *store.DB, listeners ...string) {
	e.Helper()
	if got := e.leaseEvent(db, listeners...); got != (outbox.Item{}) {
		e.Errorf("leased %+v, want none", got)
	}
}

func eventsForEach(t *testing.T, e *env, db *store.DB) {
	e.announce(db, "1", "audit", "webhook")
	e.noneDue(db, e.now)
	e.noEvent(db)
	e.noEvent(db, "other")
	one, two := e.leaseEvent(db, "audit", "other"), e.leaseEvent(db, "webhook")
	want := outbox.Item{
		ID: one.ID, Listener: "audit", Locale: "audit", Purpose: reset, UserID: "1", Created: e.now.UTC().Truncate(time.Millisecond), Attempt: 1,
	}
	if diff := cmp.Diff(want, one); diff != "" || one.ID == two.ID || one.Event() != two.Event() || len(one.Event()) != 32 || two.Listener != "webhook" {
		t.Fatalf("%+v %+v %s", one, two, diff)
	}
	e.noEvent(db, "audit", "webhook")
	e.must(db.Outbox().Done(e.ctx, one.ID))
	e.must(db.Outbox().Done(e.ctx, two.ID))
	e.now = e.now.Add(24 * time.Hour)
	e.noEvent(db, "audit", "webhook")
}

func eventsInOrder(t *testing.T, e *env, db *store.DB) {
	e.announce(db, "1", "audit", "webhook")
	first := e.leaseEvent(db, "audit")
	e.now = e.now.Add(time.Second)
	e.announce(db, "1", "audit")
	e.announce(db, "2", "audit")
	if got := e.leaseEvent(db, "audit"); got.UserID != "2" {
		t.Fatalf("another user's event was held back: %+v", got)
	}
	e.noEvent(db, "audit")
	if got := e.leaseEvent(db, "webhook"); got.Event() != first.Event() {
		t.Fatalf("another listener's event was held back: %+v", got)
	}
	e.must(db.Outbox().Done(e.ctx, first.ID))
	if got := e.leaseEvent(db, "audit"); got.UserID != "1" || got.ID == first.ID {
		t.Fatalf("%+v", got)
	}
}

func eventRetried(t *testing.T, e *env, db *store.DB) {
	e.announce(db, "1", "audit")
	first := e.leaseEvent(db, "audit")
	e.now = e.now.Add(time.Second)
	e.announce(db, "1", "audit")
	e.must(db.Outbox().Retry(e.ctx, first, e.now.Add(time.Minute), "refused"))
	e.now = e.now.Add(time.Minute - time.Millisecond)
	e.noEvent(db, "audit")
	e.now = e.now.Add(time.Millisecond)
	again := e.leaseEvent(db, "audit")
	if again.ID != first.ID || again.Attempt != 2 || !again.Created.Equal(first.Created) {
		t.Fatalf("%+v, first %+v", again, first)
	}
	e.must(db.Outbox().Retry(e.ctx, first, e.now, "by one who lost the lease"))
	e.noEvent(db, "audit")
	e.must(db.Outbox().Done(e.ctx, again.ID))
	if got := e.leaseEvent(db, "audit"); got.ID == first.ID || got.Attempt != 1 {
		t.Fatalf("%+v", got)
	}
}

func eventsFresh(t *testing.T, e *env, db *store.DB) {
	e.announce(db, "1", "audit")
	e.must(db.Outbox().Retry(e.ctx, e.leaseEvent(db, "audit"), e.now, "refused"))
	e.now = e.now.Add(time.Second)
	e.announce(db, "2", "audit")
	for _, want := range []string{"2", "1"} {
		if got := e.leaseEvent(db, "audit"); got.UserID != want {
			t.Errorf("leased that of %q, want that of %s", got.UserID, want)
		}
	}
}

func eventLeaseLost(t *testing.T, e *env, db *store.DB) {
	e.announce(db, "1", "audit")
	lost := e.leaseEvent(db, "audit")
	e.now = e.now.Add(time.Hour)
	e.announce(db, "1", "audit")
	again := e.leaseEvent(db, "audit")
	e.must(db.Outbox().Retry(e.ctx, lost, e.now.Add(time.Hour), "by one who lost the lease"))
	e.must(db.Outbox().Done(e.ctx, again.ID))
	if got := e.leaseEvent(db, "audit"); got.ID == "" || got.ID == again.ID {
		t.Errorf("leased %+v, want the user's later event", got)
	}
}

func eventsAgainstTheClock(t *testing.T, e *env, db *store.DB) {
	e.announce(db, "1", "audit")
	first := e.leaseEvent(db, "audit")
	e.now = e.now.Add(-time.Hour)
	e.announce(db, "1", "audit")
	e.now = e.now.Add(2 * time.Hour) // the lease has ended
	if got := e.leaseEvent(db, "audit"); got.ID != first.ID {
		t.Fatalf("the later event came first: %+v", got)
	}
	e.noEvent(db, "audit")
}

func eventsGivenUp(t *testing.T, e *env, db *store.DB) {
	failed := errors.New("rolled back")
	err := db.InTx(e.ctx, func(ctx context.Context) error {
		return errors.Join(db.Outbox().Announce(ctx, reset, "1", []string{"audit"}), failed)
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	e.noEvent(db, "audit")
	e.announce(db, "1", "audit")
	first := e.leaseEvent(db, "audit")
	e.now = e.now.Add(time.Second)
	e.announce(db, "1", "audit")
	e.must(db.Outbox().Bury(e.ctx, first, e.now, "refused"))
	if got := e.leaseEvent(db, "audit"); got.ID == first.ID || got.ID == "" {
		t.Fatalf("%+v", got)
	}
	e.counts(db, 1, `SELECT COUNT(*) FROM vestibule_outbox WHERE reason = 'refused'`)
}

func eventsOrphaned(t *testing.T, e *env, db *store.DB) {
	e.announce(db, "1", "audit", "gone")
	e.enqueue(db, "1")
	for _, tt := range []struct {
		name  string
		after time.Duration
		claim func(now time.Time) outbox.Claim
		want  []string
	}{
		{"too young", day - time.Millisecond, func(now time.Time) outbox.Claim { return claim(now) }, nil},
		{"known, and busy", day, func(now time.Time) outbox.Claim {
			c := claim(now, "audit", "gone")
			c.Free = []string{"other"}
			return c
		}, nil},
		{"one is gone", day, func(now time.Time) outbox.Claim {
			c := claim(now, "audit")
			c.Free = nil
			return c
		}, []string{"gone"}},
		{"none listens any more", 2 * day, func(now time.Time) outbox.Claim { return claim(now) }, []string{"audit", "gone"}},
	} {
		var got []string
		for {
			item, err := db.Outbox().Lease(e.ctx, tt.claim(e.now.Add(tt.after)))
			e.must(err)
			if item.ID == "" {
				break
			}
			got = append(got, item.Listener)
		}
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: leased %q, want %q", tt.name, got, tt.want)
		}
	}
}

// besideLastRelease tests that both releases read each other's events. The last release
// finds the listener in the column locale, and knows no column of its own for it.
func besideLastRelease(t *testing.T, e *env, db *store.DB) {
	e.announce(db, "1", "audit")
	e.enqueue(db, "1")
	e.counts(db, 1, `SELECT COUNT(*) FROM vestibule_outbox WHERE purpose = 'event:password_reset' AND locale = 'audit'`)
	e.counts(db, 1, `SELECT COUNT(*) FROM vestibule_outbox WHERE purpose NOT LIKE 'event:%'`)
	e.must(db.Outbox().Done(e.ctx, e.leaseEvent(db, "audit").ID))
	e.must(db.Outbox().Done(e.ctx, e.lease(db, e.now).ID))
	const id = "00112233445566778899aabbccddeeff"
	e.sql(db, `INSERT INTO vestibule_outbox (id, user_id, purpose, locale, attempts, created, due, held, buried, reason)
		VALUES ('`+id+id+`', '1', 'event:password_reset', 'audit', 0, ?, 0, 0, 0, '')`, e.now.UnixMilli())
	e.noneDue(db, e.now)
	e.noEvent(db, "Audit")
	got := e.leaseEvent(db, "audit")
	if diff := cmp.Diff(outbox.Item{ID: id + id, UserID: "1", Purpose: reset, Listener: "audit", Locale: "audit", Created: e.now.UTC().Truncate(time.Millisecond), Attempt: 1}, got); diff != "" || got.Event() != id {
		t.Error(diff)
	}
}

func eventLeasedOnce(t *testing.T, e *env, db *store.DB) {
	const events = 12
	for i := range events {
		e.announce(db, string(rune('a'+i)), "audit")
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	rows := map[string]int{}
	for range 4 {
		all.Go(func() {
			for {
				got, err := db.Outbox().Lease(e.ctx, claim(e.now, "audit"))
				if err != nil {
					t.Error(err)
				}
				if err != nil || got.ID == "" {
					return
				}
				mu.Lock()
				rows[got.ID]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for row, n := range rows {
		if n > 1 {
			t.Errorf("%s was leased %d times", row, n)
		}
	}
	for got := e.leaseEvent(db, "audit"); got.ID != ""; got = e.leaseEvent(db, "audit") {
		rows[got.ID]++ // a read may find all of its candidates taken
	}
	if len(rows) != events {
		t.Errorf("%d of %d events were leased", len(rows), events)
	}
}

// eventTaken tests that an event is gone with the commit of what a listener asked for, and
// that nobody takes it who has lost the lease.
func eventTaken(t *testing.T, e *env, db *store.DB) {
	take := func(i outbox.Item, after error) (taken bool, err error) {
		err = db.InTx(e.ctx, func(ctx context.Context) (err error) {
			taken, err = db.Outbox().Take(ctx, i)
			return errors.Join(err, after)
		})
		return taken, err
	}
	e.announce(db, "1", "audit")
	first := e.leaseEvent(db, "audit")
	failed := errors.New("rolled back")
	if _, err := take(first, failed); !errors.Is(err, failed) {
		t.Fatal(err)
	}
	e.now = e.now.Add(time.Minute)
	second := e.leaseEvent(db, "audit")
	if second.ID != first.ID || second.Attempt != 2 {
		t.Fatalf("leased %+v", second)
	}
	if taken, err := take(first, nil); taken || err == nil {
		t.Errorf("who has lost the lease took the event: %v, %v", taken, err)
	}
	for _, want := range []bool{true, false} {
		if taken, err := take(second, nil); taken != want || err != nil {
			t.Errorf("taken: %v, %v, want %v", taken, err, want)
		}
	}
	e.counts(db, 0, `SELECT COUNT(*) FROM vestibule_outbox WHERE user_id = '1'`)
}
