package config

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// How long to wait between two attempts to open a database, and how often to say so.
const (
	startPause = 500 * time.Millisecond
	startTells = 10 * time.Second
)

// await opens the main database and brings it up to date, as soon as it can be
// reached. It also waits for another database of queries.
func (c *Config) await(ctx context.Context, logger hclog.Logger) (db *store.DB, err error) {
	end := time.Now().Add(c.Database.StartWait)
	if err = until(ctx, end, logger, "database", func() error { db, err = c.migrated(ctx); return err }); err != nil {
		return nil, Findings{c.databaseFinding(err)}.Err()
	}
	driver, dsn, other := c.otherQueries()
	if !other || driver == "sqlite" {
		return db, nil
	}
	// What else is wrong with it is found when it is used.
	_ = until(ctx, end, logger, "odata.database", func() error {
		pool, err := openPool(ctx, driver, dsn, 1)
		if err != nil {
			return err
		}
		return pool.Close()
	})
	return db, nil
}

// until calls open until it succeeds, fails for another reason than that the
// database is away, or the time is over.
func until(ctx context.Context, end time.Time, logger hclog.Logger, key string, open func() error) error {
	var told time.Time
	for {
		err := open()
		if err == nil || !store.IsAway(err) || !time.Now().Before(end) {
			return err
		}
		if time.Since(told) >= startTells {
			told = time.Now()
			logger.Warn("waiting for the database", "key", key, "for_seconds", int(time.Until(end).Round(time.Second).Seconds()), "cause", oneLine(err))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stopped while waiting for the database: %w", err)
		case <-time.After(startPause):
		}
	}
}
