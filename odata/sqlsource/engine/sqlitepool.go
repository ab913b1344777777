package engine

import (
	"context"
	"database/sql"
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

// Pool returns the state of the connections.
func (db *SQLite) Pool() sql.DBStats {
	db.mu.Lock()
	defer db.mu.Unlock()
	return sql.DBStats{
		MaxOpenConnections: cap(db.slots), InUse: len(db.slots), Idle: len(db.idle),
		WaitCount: db.waits.Load(), WaitDuration: time.Duration(db.waited.Load()),
	}
}
