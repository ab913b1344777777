package store

import (
	"context"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/session"
)

// guestKeyLock is the row of vestibule_locks that changes of keys wait for.
const guestKeyLock = "guest_keys"

// guestKeys implements session.Keys.
type guestKeys struct{ *DB }

// CurrentKeys returns the two newest keys, the newest first, after adding fresh
// where the newest is as old as every.
func (k guestKeys) CurrentKeys(ctx context.Context, fresh session.Key, every time.Duration) ([]session.Key, error) {
	keys, err := k.newest(ctx)
	if err != nil || len(keys) > 0 && fresh.Created.Sub(keys[0].Created) < every {
		return keys, err
	}
	err = k.InTx(ctx, func(ctx context.Context) error {
		if err := k.lock(ctx, guestKeyLock); err != nil {
			return err
		}
		// Another host may have added one before this one got the lock.
		keys, err = k.newest(ctx)
		if err != nil || len(keys) > 0 && fresh.Created.Sub(keys[0].Created) < every {
			return err
		}
		const what = "change the key of guests"
		if err := k.run(ctx, what, `INSERT INTO vestibule_guest_keys (created, secret) VALUES (?, ?)`, ms(fresh.Created), fresh.Secret); err != nil {
			return err
		}
		if keys, err = k.newest(ctx); err != nil {
			return err
		}
		return k.run(ctx, what, `DELETE FROM vestibule_guest_keys WHERE created < ?`, ms(keys[len(keys)-1].Created))
	})
	return keys, err
}

func (k guestKeys) newest(ctx context.Context) ([]session.Key, error) {
	var rows []struct {
		Created int64
		Secret  []byte
	}
	if err := k.list(ctx, "read the keys of guests", &rows, `SELECT created, secret FROM vestibule_guest_keys ORDER BY created DESC LIMIT 2`); err != nil {
		return nil, err
	}
	keys := make([]session.Key, len(rows))
	for i, r := range rows {
		keys[i] = session.Key{Created: fromMS(r.Created), Secret: r.Secret}
	}
	return keys, nil
}
