package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
)

// eventPrefix begins the purpose of a row of the outbox that is no mail but an event for
// a listener, whose name is in the column locale then.
const eventPrefix = "event:"

// Event is one event in the outbox for one listener, the same type as pluginproc.Item. Row is
// the key of the row, ID that of the event, which is the same for every listener. Attempt
// counts the leases from 1.
type Event = struct {
	Row, ID, Listener, Kind, UserID string
	At                              time.Time
	Attempt                         int
}

// Announce queues an event of a user for each of the listeners, due at once. It belongs
// into the transaction that makes the event true and that has written to the user's row,
// which keeps the events of one user apart. The time of an event is later than that of the
// user's events before it that are still queued, whatever the clocks of the hosts say.
func (o Outbox) Announce(ctx context.Context, kind, userID string, listeners []string) error {
	if len(listeners) == 0 {
		return nil
	}
	var last []int64
	err := o.db.list(ctx, "queue an event", &last, `SELECT created FROM vestibule_outbox
		WHERE user_id = ? AND purpose LIKE 'event:%' ORDER BY created DESC LIMIT 1`, userID)
	if err != nil {
		return err
	}
	now := ms(o.db.Now())
	at := now
	if len(last) > 0 {
		at = max(at, last[0]+1)
	}
	random := make([]byte, 16)
	_, _ = rand.Read(random) // never fails
	id := hex.EncodeToString(random)
	for _, listener := range listeners {
		err := o.db.run(ctx, "queue an event", `INSERT INTO vestibule_outbox
			(id, user_id, purpose, locale, attempts, created, due, held, buried, reason) VALUES (?, ?, ?, ?, 0, ?, ?, 0, 0, '')`,
			eventRow(id, listener), userID, clip(eventPrefix+kind, 64), listener, at, now)
		if err != nil {
			return err
		}
	}
	return nil
}

// eventRow is the key of an event's row: the event's id, and 32 digits for the listener.
func eventRow(id, listener string) string {
	sum := sha256.Sum256([]byte(listener))
	return id + hex.EncodeToString(sum[:16])
}

type eventRecord struct {
	ID, Purpose, Locale string
	UserID              string `db:"user_id"`
	Attempts, Created   int64
}

func (r eventRecord) event() Event {
	return Event{
		Row: r.ID, ID: r.ID[:32], Listener: r.Locale, Kind: r.Purpose[len(eventPrefix):], UserID: r.UserID,
		At: time.UnixMilli(r.Created).UTC(), Attempt: int(r.Attempts),
	}
}

// LeaseEvent takes an event for one of the listeners and holds it until the given time;
// the zero Event when none is due. Those that were tried least often come first, so that
// one that fails again and again delays no other, and of these the one that has been due
// longest. An event is not due while the listener has not been told of the user's earlier
// ones. With nothing due it only reads.
func (o Outbox) LeaseEvent(ctx context.Context, listeners []string, now, until time.Time) (Event, error) {
	if len(listeners) == 0 {
		return Event{}, nil
	}
	for range leaseReads {
		e, again, err := o.leaseEvent(ctx, listeners, ms(now), ms(until))
		if err == nil && !again && e.Row == "" {
			again, err = o.putRight(ctx, true, ms(now), ms(until))
		}
		if err != nil || !again {
			return e, err
		}
	}
	return Event{}, nil
}

func (o Outbox) leaseEvent(ctx context.Context, listeners []string, now, until int64) (e Event, again bool, err error) {
	query, args, err := sqlx.In(`SELECT id, user_id, purpose, locale, attempts, created FROM vestibule_outbox o
		WHERE buried = 0 AND due <= ? AND held <= ? AND purpose LIKE 'event:%' AND locale IN (?)
		AND NOT EXISTS (SELECT 1 FROM vestibule_outbox e WHERE e.buried = 0 AND e.user_id = o.user_id AND e.locale = o.locale
			AND e.purpose LIKE 'event:%' AND e.created < o.created)
		ORDER BY attempts, due, id LIMIT ?`, now, now, listeners, leaseCandidates)
	if err != nil {
		return Event{}, false, failed("lease an event", err)
	}
	var rows []eventRecord
	if err := o.db.list(ctx, "lease an event", &rows, query, args...); err != nil {
		return Event{}, false, err
	}
	for _, r := range rows {
		if !slices.Contains(listeners, r.Locale) {
			continue // MariaDB compares names without regard to case
		}
		n, err := o.db.exec(ctx, "lease an event", `UPDATE vestibule_outbox SET held = ?, attempts = attempts + 1
			WHERE id = ? AND attempts = ? AND buried = 0 AND due <= ? AND held <= ?`, until, r.ID, r.Attempts, now, now)
		if err != nil {
			return Event{}, false, err
		}
		if n == 1 {
			r.Attempts++
			return r.event(), false, nil
		}
		again = true
	}
	return Event{}, again, nil
}

// EventDone deletes the event of one listener.
func (o Outbox) EventDone(ctx context.Context, row string) error { return o.MailDone(ctx, row) }

// RetryEvent ends the lease of this attempt and makes the event due at next, and the
// user's later ones for the listener not before. It changes nothing where the event has
// been leased again since.
func (o Outbox) RetryEvent(ctx context.Context, e Event, next time.Time, reason string) error {
	n, err := o.retry(ctx, e.Row, e.Attempt, next, reason)
	if err != nil || n == 0 {
		return err
	}
	return o.db.run(ctx, "hold events back", `UPDATE vestibule_outbox SET due = ?
		WHERE user_id = ? AND locale = ? AND purpose LIKE 'event:%' AND buried = 0 AND held = 0 AND due < ?`,
		ms(next), e.UserID, e.Listener, ms(next))
}

// BuryEvent ends the lease of this attempt for good. The event is kept for the operator
// until [DB.Sweep] removes it.
func (o Outbox) BuryEvent(ctx context.Context, e Event, now time.Time, reason string) error {
	return o.BuryMail(ctx, e.Row, e.Attempt, now, reason)
}

// OrphanedEvents returns events of before the given time that nobody holds and that are
// for other listeners than these, at most 100.
func (o Outbox) OrphanedEvents(ctx context.Context, listeners []string, now, before time.Time) ([]Event, error) {
	query := `SELECT id, user_id, purpose, locale, attempts, created FROM vestibule_outbox
		WHERE buried = 0 AND created <= ? AND held <= ? AND purpose LIKE 'event:%' AND locale NOT IN (?) ORDER BY created LIMIT 100`
	query, args, err := sqlx.In(query, ms(before), ms(now), append([]string{""}, listeners...))
	if err != nil {
		return nil, failed("look for orphaned events", err)
	}
	var rows []eventRecord
	err = o.db.list(ctx, "look for orphaned events", &rows, query, args...)
	events := make([]Event, len(rows))
	for i, r := range rows {
		events[i] = r.event()
	}
	return events, err
}
