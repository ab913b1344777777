package engine

import (
	"context"
	"time"
)

// takeSlot takes room for a connection, or waits for it.
func (db *SQLite) takeSlot(ctx context.Context) error {
	select {
	case db.slots <- struct{}{}:
		return nil
	default:
	}
	since := time.Now()
	db.waits.Add(1)
	defer func() { db.waited.Add(int64(time.Since(since))) }()
	select {
	case db.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Pool is the state of the connections: how many there may be, how many are in use and idle, how often none was free, and
// the time spent waiting for one.
func (db *SQLite) Pool() (most, used, idle int, waits int64, waited time.Duration) {
	db.mu.Lock()
	defer db.mu.Unlock()
	return cap(db.slots), len(db.slots), len(db.idle), db.waits.Load(), time.Duration(db.waited.Load())
}
