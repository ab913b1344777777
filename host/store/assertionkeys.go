package store

import (
	"context"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/assertion"
)

// assertionKeyLock is the row of vestibule_locks that changes of keys wait for.
const assertionKeyLock = "assertion_keys"

// assertionKeys implements assertion.Keys.
type assertionKeys struct{ *DB }

// CurrentKeys returns the keys, the newest first, after adding fresh where the newest
// is as old as every, and after deleting those older than one as old as settled.
func (k assertionKeys) CurrentKeys(ctx context.Context, fresh assertion.Key, every, settled time.Duration) ([]assertion.Key, error) {
	keys, err := k.newest(ctx)
	if err != nil || !rotates(keys, fresh, every) && len(outlived(keys, fresh.Created, settled)) == 0 {
		return keys, err
	}
	err = k.InTx(ctx, func(ctx context.Context) error {
		if err := k.lock(ctx, assertionKeyLock); err != nil {
			return err
		}
		// Another host may have added one before the lock was ours.
		if keys, err = k.newest(ctx); err != nil {
			return err
		}
		const what = "change the key of assertions"
		if rotates(keys, fresh, every) {
			if err := k.run(ctx, what, `INSERT INTO vestibule_assertion_keys (created, secret) VALUES (?, ?)`, ms(fresh.Created), fresh.Secret); err != nil {
				return err
			}
			if keys, err = k.newest(ctx); err != nil {
				return err
			}
		}
		gone := outlived(keys, fresh.Created, settled)
		keys = keys[:len(keys)-len(gone)]
		if len(gone) == 0 {
			return nil
		}
		return k.run(ctx, what, `DELETE FROM vestibule_assertion_keys WHERE created < ?`, ms(keys[len(keys)-1].Created))
	})
	return keys, err
}

// rotates reports whether it is time for another key.
func rotates(keys []assertion.Key, fresh assertion.Key, every time.Duration) bool {
	return len(keys) == 0 || fresh.Created.Sub(keys[0].Created) >= every
}

// outlived returns the keys older than one that is as old as settled.
func outlived(keys []assertion.Key, now time.Time, settled time.Duration) []assertion.Key {
	for i, key := range keys {
		if now.Sub(key.Created) >= settled {
			return keys[i+1:]
		}
	}
	return nil
}

func (k assertionKeys) newest(ctx context.Context) ([]assertion.Key, error) {
	var rows []struct {
		Created int64
		Secret  []byte
	}
	if err := k.list(ctx, "read the keys of assertions", &rows, `SELECT created, secret FROM vestibule_assertion_keys ORDER BY created DESC`); err != nil {
		return nil, err
	}
	keys := make([]assertion.Key, len(rows))
	for i, r := range rows {
		keys[i] = assertion.Key{Created: fromMS(r.Created), Secret: r.Secret}
	}
	return keys, nil
}
