package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"
)

// Outbox is the queue of mail to send and of listeners to tell. It implements mail.Outbox
// and pluginproc.Outbox, where its methods are described.
type Outbox struct{ db *DB }

// Mail is one mail in the outbox, the same type as mail.Item. UserID is empty
// for a decoy, Attempt counts the leases from 1.
type Mail = struct {
	ID      string
	UserID  string
	Purpose string
	Locale  string
	Device  string
	Base    string
	Created time.Time
	Attempt int
}

// Enqueue queues a mail to the user, due at once. An empty userID queues a decoy,
// which costs the same and is never sent.
func (o Outbox) Enqueue(ctx context.Context, userID, purpose, locale string) error {
	return o.Queue(ctx, Mail{UserID: userID, Purpose: purpose, Locale: locale})
}

// EnqueueAbout is [Outbox.Enqueue] of a mail about what was done with a device, such as
// "Firefox (Linux)", which is cut at 64 characters and may be empty.
func (o Outbox) EnqueueAbout(ctx context.Context, userID, purpose, locale, device string) error {
	return o.Queue(ctx, Mail{UserID: userID, Purpose: purpose, Locale: locale, Device: device})
}

// Queue is [Outbox.Enqueue] of a mail with the fields UserID, Purpose, Locale, Device and
// Base, which are cut at 64 bytes; the other fields do not count.
func (o Outbox) Queue(ctx context.Context, m Mail) error {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	now := ms(o.db.Now())
	return o.db.run(ctx, "enqueue mail", `INSERT INTO vestibule_outbox
		(id, user_id, purpose, locale, device, base, attempts, created, due, held, buried, reason) VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, 0, 0, '')`,
		hex.EncodeToString(id), m.UserID, clip(m.Purpose, 64), clip(m.Locale, 64), clip(m.Device, 64), clip(m.Base, 64), now, now)
}

// leaseCandidates is how many due mails one read considers, and leaseReads how
// often it is repeated, so that hosts which lease at the same moment each find
// one.
const (
	leaseCandidates = 16
	leaseReads      = 4
)

// LeaseMail takes the mail, which events for listeners are not, that has been due longest and holds it until the
// given time; the zero Mail when none is due. Nothing is written then.
func (o Outbox) LeaseMail(ctx context.Context, now, until time.Time) (Mail, error) {
	if err := o.giveUpDoubtful(ctx); err != nil {
		return Mail{}, err
	}
	for range leaseReads {
		m, again, err := o.lease(ctx, ms(now), ms(until))
		if err == nil && !again && m.ID == "" {
			again, err = o.putRight(ctx, false, ms(now), ms(until))
		}
		if err != nil || !again {
			return m, err
		}
	}
	return Mail{}, nil
}

// lease also reports whether other hosts took every candidate, so that another
// read may find more.
func (o Outbox) lease(ctx context.Context, now, until int64) (m Mail, again bool, err error) {
	var rows []struct {
		ID, Purpose, Locale string
		UserID              string `db:"user_id"`
		Device, Base        string
		Attempts, Created   int64
	}
	err = o.db.list(ctx, "lease mail", &rows, `SELECT id, user_id, purpose, locale, coalesce(device, '') AS device, coalesce(base, '') AS base, created, attempts FROM vestibule_outbox
		WHERE buried = 0 AND due <= ? AND held <= ? AND purpose NOT LIKE 'event:%' ORDER BY due, id LIMIT ?`, now, now, leaseCandidates)
	if err != nil {
		return Mail{}, false, err
	}
	for _, r := range rows {
		n, err := o.db.exec(ctx, "lease mail", `UPDATE vestibule_outbox SET held = ?, attempts = attempts + 1
			WHERE id = ? AND attempts = ? AND buried = 0 AND due <= ? AND held <= ?`,
			until, r.ID, r.Attempts, now, now)
		if err != nil {
			o.db.doubtful.add(hold{id: r.ID, attempts: r.Attempts + 1, until: until})
			return Mail{}, false, err
		}
		if n == 1 {
			return Mail{
				ID: r.ID, UserID: r.UserID, Purpose: r.Purpose, Locale: r.Locale, Device: r.Device, Base: r.Base,
				Created: time.UnixMilli(r.Created).UTC(), Attempt: int(r.Attempts) + 1,
			}, false, nil
		}
	}
	return Mail{}, len(rows) > 0, nil
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

func (h *holds) add(one hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, one)
}

// take returns all of them, which are then gone.
func (h *holds) take() []hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.list
	h.list = nil
	return list
}

// giveUpDoubtful ends the leases of which nobody knows whether they were made: the mail
// would wait until they end. Another host's lease of the same mail ends in another
// millisecond, or else the mail may be sent twice.
func (o Outbox) giveUpDoubtful(ctx context.Context) error {
	list := o.db.doubtful.take()
	for i, h := range list {
		err := o.db.settle(ctx, "give up a lease", `UPDATE vestibule_outbox SET held = 0
			WHERE id = ? AND attempts = ? AND held = ? AND buried = 0`, h.id, h.attempts, h.until)
		if err != nil {
			for _, h := range list[i:] {
				o.db.doubtful.add(h)
			}
			return err
		}
	}
	return nil
}

// MailDone deletes the mail.
func (o Outbox) MailDone(ctx context.Context, id string) error {
	return o.db.settle(ctx, "delete mail", `DELETE FROM vestibule_outbox WHERE id = ?`, id)
}

// RetryMail ends the lease of this attempt and makes the mail due at next.
func (o Outbox) RetryMail(ctx context.Context, id string, attempt int, next time.Time, reason string) error {
	_, err := o.retry(ctx, id, attempt, next, reason)
	return err
}

// retry returns how many rows were put back: none where the lease was lost.
func (o Outbox) retry(ctx context.Context, id string, attempt int, next time.Time, reason string) (int64, error) {
	return o.db.execute(ctx, always, "put mail back", `UPDATE vestibule_outbox SET held = 0, due = ?, reason = ?
		WHERE id = ? AND attempts = ? AND buried = 0`, ms(next), clip(reason, 500), id, attempt)
}

// BuryMail ends the lease of this attempt for good. The mail is kept for the
// operator until [DB.Sweep] removes it.
func (o Outbox) BuryMail(ctx context.Context, id string, attempt int, now time.Time, reason string) error {
	return o.db.settle(ctx, "bury mail", `UPDATE vestibule_outbox SET held = 0, buried = ?, reason = ?
		WHERE id = ? AND attempts = ?`, ms(now), clip(reason, 500), id, attempt)
}
