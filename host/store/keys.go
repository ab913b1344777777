package store

import (
	"context"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/clock"
	"github.com/vestibule-dev/vestibule/v2/host/keyring"
)

// keys implements keyring.Keys by a table, and the row of vestibule_locks of the same name.
type keys struct {
	*DB
	name string
}

// CurrentKeys returns the keys, the newest first, after adding fresh where the newest
// is as old as every, and after deleting those older than one as old as settled.
func (k keys) CurrentKeys(ctx context.Context, fresh keyring.Key, every, settled time.Duration) ([]keyring.Key, error) {
	list, err := k.newest(ctx)
	if err != nil || !rotates(list, fresh, every) && len(outlived(list, fresh.Created, settled)) == 0 && !aheadKeys(list, fresh.Created) {
		return list, err
	}
	err = k.InTx(ctx, func(ctx context.Context) error {
		if err := k.lock(ctx, k.name); err != nil {
			return err
		}
		// Another host may have added one before the lock was ours.
		if list, err = k.newest(ctx); err != nil {
			return err
		}
		if list, err = k.putRight(ctx, list, fresh.Created); err != nil {
			return err
		}
		if rotates(list, fresh, every) {
			if err := k.run(ctx, "add a key", `INSERT INTO `+k.table()+` (created, secret) VALUES (?, ?)`, ms(fresh.Created), fresh.Secret); err != nil {
				return err
			}
			if list, err = k.newest(ctx); err != nil {
				return err
			}
		}
		gone := outlived(list, fresh.Created, settled)
		list = list[:len(list)-len(gone)]
		if len(gone) == 0 {
			return nil
		}
		return k.run(ctx, "delete a key", `DELETE FROM `+k.table()+` WHERE created < ?`, ms(list[len(list)-1].Created))
	})
	return list, err
}

// putRight writes anew when keys were made that a clock which ran ahead has made, the
// newest now and each other before it, and returns the keys. Otherwise the next key would
// come as much later as the clock was ahead. The caller holds the lock of the keys.
func (k keys) putRight(ctx context.Context, newestFirst []keyring.Key, now time.Time) ([]keyring.Key, error) {
	if !aheadKeys(newestFirst, now) {
		return newestFirst, nil
	}
	at := ms(now)
	for _, key := range newestFirst {
		if !clock.Ahead(key.Created, now) {
			break
		}
		if err := k.run(ctx, "put the time of a key right", `UPDATE `+k.table()+` SET created = ? WHERE created = ?`, at, ms(key.Created)); err != nil {
			return nil, err
		}
		at--
	}
	return k.newest(ctx)
}

// aheadKeys reports whether a clock that ran ahead has made the newest key.
func aheadKeys(list []keyring.Key, now time.Time) bool {
	return len(list) > 0 && clock.Ahead(list[0].Created, now)
}

// rotates reports whether it is time for another key.
func rotates(list []keyring.Key, fresh keyring.Key, every time.Duration) bool {
	return len(list) == 0 || fresh.Created.Sub(list[0].Created) >= every
}

// outlived returns the keys older than one that is as old as settled.
func outlived(list []keyring.Key, now time.Time, settled time.Duration) []keyring.Key {
	for i, key := range list {
		if now.Sub(key.Created) >= settled {
			return list[i+1:]
		}
	}
	return nil
}

func (k keys) table() string { return "vestibule_" + k.name }

func (k keys) newest(ctx context.Context) ([]keyring.Key, error) {
	var rows []struct {
		Created int64
		Secret  []byte
	}
	if err := k.list(ctx, "read keys", &rows, `SELECT created, secret FROM `+k.table()+` ORDER BY created DESC`); err != nil {
		return nil, err
	}
	list := make([]keyring.Key, len(rows))
	for i, r := range rows {
		list[i] = keyring.Key{Created: fromMS(r.Created), Secret: r.Secret}
	}
	return list, nil
}
