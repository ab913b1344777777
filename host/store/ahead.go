package store

import (
	"context"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/clock"
)

// longestPause is the longest time that a worker waits between two tries of a mail or event.
const longestPause = 15 * time.Minute

// aheadBatch bounds how many rows one look puts right.
const aheadBatch = 500

// putRight writes anew the times of rows of the outbox, mails or else events, that a clock
// which ran ahead has written, and reports whether there were any. A row was queued now, in
// the order in which the rows were, and is due now. One that is to be tried again is due
// after the longest pause at the latest, and held until the given time. It is called where
// nothing is due, and only reads as long as the clocks are right.
func (o Outbox) putRight(ctx context.Context, events bool, now, until int64) (bool, error) {
	kind := `purpose NOT LIKE 'event:%'`
	if events {
		kind = `purpose LIKE 'event:%'`
	}
	var rows []struct {
		ID                           string
		Attempts, Created, Due, Held int64
	}
	queued, due := now+clock.Skew.Milliseconds(), now+longestPause.Milliseconds()
	err := o.db.list(ctx, "look for times ahead", &rows, `SELECT id, attempts, created, due, held FROM vestibule_outbox
		WHERE buried = 0 AND (created > ? OR due > ? OR held > ?) AND `+kind+` ORDER BY created, id LIMIT ?`, queued, due, until, aheadBatch)
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
