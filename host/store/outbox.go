package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/vestibule-dev/vestibule/v2/host/clock"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
)

// Outbox is the queue of mails, and of events for listeners. It implements outbox.Store.
type Outbox struct{ db *DB }

// eventPrefix begins the column purpose of an event, and the column locale holds its
// listener, because the last release reads events there. The database computes the column
// listener from both, which is empty for a mail.
const eventPrefix = "event:"

// Queue queues a mail with the fields UserID, Purpose, Locale, Device and Base, which are
// cut at 64 bytes, and Sealed. The mail is due at once. An empty UserID queues a decoy,
// which costs the same and is never sent.
func (o Outbox) Queue(ctx context.Context, m outbox.Item) error {
	m.ID, m.Created = randomID(), o.db.settings.Now()
	return o.insert(ctx, m)
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
		WHERE user_id = ? AND listener <> '' ORDER BY created DESC LIMIT 1`, userID)
	if err != nil {
		return err
	}
	at := ms(o.db.settings.Now())
	if len(last) > 0 {
		at = max(at, last[0]+1)
	}
	id := randomID()
	for _, listener := range listeners {
		sum := sha256.Sum256([]byte(listener)) // for a key of its own
		event := outbox.Item{ID: id + hex.EncodeToString(sum[:16]), UserID: userID, Purpose: eventPrefix + kind, Locale: listener, Created: fromMS(at)}
		if err := o.insert(ctx, event); err != nil {
			return err
		}
	}
	return nil
}

func (o Outbox) insert(ctx context.Context, i outbox.Item) error {
	var sealed []byte
	if i.Sealed != "" {
		sealed = []byte(i.Sealed)
	}
	return o.db.run(ctx, "queue in the outbox", `INSERT INTO vestibule_outbox
		(id, user_id, purpose, locale, device, base, sealed, attempts, created, due, held, buried, reason) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, 0, 0, '')`,
		i.ID, i.UserID, clip(i.Purpose, 64), clip(i.Locale, 64), clip(i.Device, 64), clip(i.Base, 64), orNull(sealed), ms(i.Created), ms(o.db.settings.Now()))
}

func randomID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}

// leaseCandidates is how many due items one read considers, and leaseReads how
// often it is repeated, so that hosts which lease at the same moment each find
// one.
const (
	leaseCandidates = 16
	leaseReads      = 4
)

// Lease takes one item that is due; see outbox.Store.
func (o Outbox) Lease(ctx context.Context, c outbox.Claim) (outbox.Item, error) {
	if err := o.giveUpDoubtful(ctx); err != nil {
		return outbox.Item{}, err
	}
	for range leaseReads {
		item, again, err := o.lease(ctx, c)
		if err == nil && !again && item.ID == "" {
			again, err = o.putRight(ctx, c)
		}
		if err != nil || !again {
			return item, err
		}
	}
	return outbox.Item{}, nil
}

// due returns the query for items of a claim that are due. Mails are sent in the order in
// which they are due. An event that failed comes after those that were tried less often, so
// that it delays no other.
func due(c outbox.Claim) (query string, args []any, err error) {
	which, order := `listener = ''`, `due, id`
	args = []any{ms(c.Now), ms(c.Now)}
	if !c.Mail() {
		which, order = `(listener IN (?) OR listener NOT IN (?) AND created <= ?) AND NOT EXISTS (SELECT 1 FROM vestibule_outbox e
			WHERE e.buried = 0 AND e.user_id = o.user_id AND e.listener = o.listener AND e.created < o.created)`, `attempts, due, id`
		// A list must not be empty, and an empty name among the known ones keeps mails out.
		args = append(args, append([]string{"?"}, c.Free...), append([]string{""}, c.Known...), ms(c.Orphaned))
	}
	return sqlx.In(`SELECT id, user_id, purpose, listener, locale, coalesce(device, '') AS device, coalesce(base, '') AS base, sealed, created, attempts
		FROM vestibule_outbox o WHERE buried = 0 AND due <= ? AND held <= ? AND `+which+` ORDER BY `+order+` LIMIT ?`, append(args, leaseCandidates)...)
}

// lease also reports whether other hosts took every candidate, so that another
// read may find more.
func (o Outbox) lease(ctx context.Context, c outbox.Claim) (item outbox.Item, again bool, err error) {
	const what = "lease in the outbox"
	query, args, err := due(c)
	if err != nil {
		return outbox.Item{}, false, failed(what, err)
	}
	var rows []struct {
		ID, Purpose, Listener, Locale, Device, Base string

		Sealed            []byte
		UserID            string `db:"user_id"`
		Attempts, Created int64
	}
	if err := o.db.list(ctx, what, &rows, query, args...); err != nil {
		return outbox.Item{}, false, err
	}
	now, until := ms(c.Now), ms(c.Until)
	for _, r := range rows {
		n, err := o.db.exec(ctx, what, `UPDATE vestibule_outbox SET held = ?, attempts = attempts + 1
			WHERE id = ? AND attempts = ? AND buried = 0 AND due <= ? AND held <= ?`,
			until, r.ID, r.Attempts, now, now)
		if err != nil {
			o.db.doubtful.add(hold{id: r.ID, attempts: r.Attempts + 1, until: until})
			return outbox.Item{}, false, err
		}
		if n == 1 {
			return outbox.Item{
				ID: r.ID, UserID: r.UserID, Purpose: strings.TrimPrefix(r.Purpose, eventPrefix), Listener: r.Listener, Locale: r.Locale,
				Device: r.Device, Base: r.Base, Sealed: string(r.Sealed), Created: time.UnixMilli(r.Created).UTC(), Attempt: int(r.Attempts) + 1,
			}, false, nil
		}
	}
	return outbox.Item{}, len(rows) > 0, nil
}

// A hold is a lease whose statement got no answer, so that nobody knows whether it was
// made.
type hold struct {
	id              string
	attempts, until int64
}

// holds are those that are doubtful.
type holds struct {
	mu   sync.Mutex
	list []hold
}

func (h *holds) add(some ...hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, some...)
}

// take returns all of them, which are then gone.
func (h *holds) take() []hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.list
	h.list = nil
	return list
}

// giveUpDoubtful ends the leases of which nobody knows whether they were made: the item
// would wait until they end. Another host's lease of the same item ends in another
// millisecond, or else the item may be delivered twice.
func (o Outbox) giveUpDoubtful(ctx context.Context) error {
	list := o.db.doubtful.take()
	for i, h := range list {
		err := o.db.settle(ctx, "give up a lease", `UPDATE vestibule_outbox SET held = 0
			WHERE id = ? AND attempts = ? AND held = ? AND buried = 0`, h.id, h.attempts, h.until)
		if err != nil {
			o.db.doubtful.add(list[i:]...)
			return err
		}
	}
	return nil
}

// Renew holds the item of this attempt until another moment.
func (o Outbox) Renew(ctx context.Context, i outbox.Item, until time.Time) (bool, error) {
	n, err := o.db.execute(ctx, always, "renew a lease in the outbox", `UPDATE vestibule_outbox SET held = ?
		WHERE id = ? AND attempts = ? AND buried = 0`, ms(until), i.ID, i.Attempt)
	return n == 1, err
}

// Done deletes the item.
func (o Outbox) Done(ctx context.Context, id string) error {
	return o.db.settle(ctx, "delete from the outbox", `DELETE FROM vestibule_outbox WHERE id = ?`, id)
}

// errLeasedAgain is returned by [Outbox.Take] if another attempt has begun.
var errLeasedAgain = errors.New("the lease has ended, and another host has taken the item")

// Take deletes the item of this attempt, and reports whether it was there. It belongs into
// the transaction that delivers the item.
func (o Outbox) Take(ctx context.Context, i outbox.Item) (bool, error) {
	const what = "take from the outbox"
	n, err := o.db.exec(ctx, what, `DELETE FROM vestibule_outbox WHERE id = ? AND attempts = ? AND buried = 0`, i.ID, i.Attempt)
	if err != nil || n > 0 {
		return n > 0, err
	}
	var left []string
	err = o.db.list(ctx, what, &left, `SELECT id FROM vestibule_outbox WHERE id = ?`, i.ID)
	if err == nil && len(left) > 0 {
		err = failed(what, errLeasedAgain)
	}
	return false, err
}

// Retry ends the lease of this attempt and makes the item due at next.
func (o Outbox) Retry(ctx context.Context, i outbox.Item, next time.Time, reason string) error {
	return o.db.settle(ctx, "put back into the outbox", `UPDATE vestibule_outbox SET held = 0, due = ?, reason = ?
		WHERE id = ? AND attempts = ? AND buried = 0`, ms(next), clip(reason, 500), i.ID, i.Attempt)
}

// Bury ends the lease of this attempt for good. The item is kept for the operator, without
// its sealed texts, until [DB.Sweep] removes it.
func (o Outbox) Bury(ctx context.Context, i outbox.Item, now time.Time, reason string) error {
	return o.db.settle(ctx, "bury in the outbox", `UPDATE vestibule_outbox SET held = 0, buried = ?, reason = ?, sealed = NULL
		WHERE id = ? AND attempts = ?`, ms(now), clip(reason, 500), i.ID, i.Attempt)
}

// aheadBatch bounds how many rows one look puts right.
const aheadBatch = 500

// putRight writes anew the times of mails, or else events, that a clock which ran ahead has
// written, and reports whether there were any. A row was queued now, in the order in which
// the rows were, and is due now. A row that is to be tried again is due after the longest
// pause at the latest, and held until the end of a lease of now. It is called if nothing is
// due, and only reads as long as the clocks are right.
func (o Outbox) putRight(ctx context.Context, c outbox.Claim) (bool, error) {
	var rows []struct {
		ID                           string
		Attempts, Created, Due, Held int64
	}
	now, until := ms(c.Now), ms(c.Until)
	queued, due := now+clock.Skew.Milliseconds(), now+outbox.LongestPause.Milliseconds()
	err := o.db.list(ctx, "look for times ahead", &rows, `SELECT id, attempts, created, due, held FROM vestibule_outbox
		WHERE buried = 0 AND (created > ? OR due > ? OR held > ?) AND (listener = '') = ? ORDER BY created, id LIMIT ?`,
		queued, due, until, c.Mail(), aheadBatch)
	if err != nil {
		return false, err
	}
	at, last := now, int64(0)
	for _, r := range rows {
		created, first := r.Created, r.Attempts == 0
		if r.Created > queued {
			if r.Created != last && last != 0 {
				at++ // rows of one event have one time
			}
			created, last = at, r.Created
		}
		next := min(r.Due, due)
		if first {
			next = min(r.Due, now)
		}
		_, err := o.db.exec(ctx, "put times right", `UPDATE vestibule_outbox SET created = ?, due = ?, held = ?
			WHERE id = ? AND attempts = ? AND created = ? AND due = ? AND held = ? AND buried = 0`,
			created, next, min(r.Held, until), r.ID, r.Attempts, r.Created, r.Due, r.Held)
		if err != nil {
			return false, err
		}
	}
	return len(rows) > 0, nil
}

// Backlog counts what is in the outbox of all hosts, "mail" and "event". It uses the
// connection of [DB.Ready], so that neither waits for requests.
func (o Outbox) Backlog(ctx context.Context) ([]outbox.Backlog, error) {
	var rows []struct {
		Event, Dead, N, Oldest int64
	}
	err := o.db.probe.list(ctx, "count the outbox", &rows, `SELECT
			CASE WHEN listener = '' THEN 0 ELSE 1 END AS event, CASE WHEN buried = 0 THEN 0 ELSE 1 END AS dead,
			COUNT(*) AS n, MIN(created) AS oldest
		FROM vestibule_outbox GROUP BY 1, 2`)
	if err != nil {
		return nil, err
	}
	list := []outbox.Backlog{{Kind: "mail"}, {Kind: "event"}}
	now := ms(o.db.settings.Now())
	for _, r := range rows {
		b := &list[r.Event]
		if r.Dead == 1 {
			b.Dead = r.N
			continue
		}
		b.Waiting, b.Oldest = r.N, time.Duration(max(now-r.Oldest, 0))*time.Millisecond
	}
	return list, nil
}
