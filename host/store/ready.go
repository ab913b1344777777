package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// errUndo ends the transaction of a probe, which is then rolled back.
var errUndo = errors.New("undo")

// The checks of [DB.Ready] and [DB.TryWrite].
const (
	CheckDatabase   = "database"   // it answers
	CheckMigrations = "migrations" // our tables are those of this program
	CheckTables     = "tables"     // none of them is missing
	CheckWrites     = "writes"     // it takes writes
)

// NotReadyError is the error of a check, whose name is public; the cause is not.
type NotReadyError struct {
	Check string
	cause error
}

// Error tells the cause.
func (e *NotReadyError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *NotReadyError) Unwrap() error { return e.cause }

// Ready reports as a [*NotReadyError] why the database cannot serve: it does not answer,
// migrations are pending, a table is missing, or it takes no writes, as a replica, a
// server that is read-only, or a SQLite file that another process has locked. It has a
// connection of its own, so that it never waits for those of requests.
func (db *DB) Ready(ctx context.Context) error {
	if db.path != "" {
		if _, err := os.Stat(db.path); err != nil {
			return &NotReadyError{CheckDatabase, fmt.Errorf("database file cannot be found: %w", err)}
		}
	}
	pending, err := db.probe.Pending(ctx)
	if err != nil {
		return &NotReadyError{CheckDatabase, fmt.Errorf("database does not answer: %w", err)}
	}
	if len(pending) > 0 {
		return &NotReadyError{CheckMigrations, fmt.Errorf("migrations are pending: %s", strings.Join(pending, ", "))}
	}
	if _, err := db.probe.Newer(ctx); err != nil {
		return &NotReadyError{CheckMigrations, err}
	}
	if err := db.probe.lookAtTables(ctx); err != nil {
		return &NotReadyError{CheckTables, fmt.Errorf("a table is missing: %w: restore it from a backup", err)}
	}
	if err := db.probe.beginWrite(ctx); err != nil {
		return &NotReadyError{CheckWrites, fmt.Errorf("database takes no writes: %w", err)}
	}
	return nil
}

// lookAtTables reads no row of each table of ours.
func (db *DB) lookAtTables(ctx context.Context) error {
	tables, err := ownTables()
	if err != nil {
		return err
	}
	var none []int
	return db.list(ctx, "look at the tables", &none,
		`SELECT 1 FROM `+strings.Join(tables, ` WHERE 1 = 0 UNION ALL SELECT 1 FROM `)+` WHERE 1 = 0`)
}

// beginWrite begins a transaction that may write, which on SQLite takes the lock of
// the writer, and runs an update that matches no row, which servers refuse while
// they are read-only. It writes nothing: the data stays the same for caches, and
// servers have no dead rows to clean up.
func (db *DB) beginWrite(ctx context.Context) error {
	err := db.InTx(ctx, func(ctx context.Context) error {
		if err := db.run(ctx, "write", `UPDATE `+versionTable+` SET version_id = version_id WHERE version_id < 0`); err != nil {
			return err
		}
		return errUndo
	})
	if errors.Is(err, errUndo) {
		return nil
	}
	return err
}

// TryWrite writes a row or a message that nobody reads, and reports as a [*NotReadyError] why that
// failed, such as a full disk. On PostgreSQL it writes into the log of the server alone, since a
// commit that changes a row ends what is remembered of the data. It writes on the connection of
// Ready; on SQLite on that of the writer, whose changes to our own tables do not make cached
// answers invalid. That nobody had time for it is no error: Ready reports what hangs.
func (db *DB) TryWrite(ctx context.Context) error {
	on := db.probe
	if db.path != "" {
		on = db
	}
	const write = `UPDATE ` + versionTable + ` SET tstamp = CURRENT_TIMESTAMP WHERE version_id = 0`
	var refused error
	if logged := db.dialect.Logged; logged != "" && !db.unlogged.Load() {
		if refused = on.settle(ctx, "write", write+` AND `+logged); refused == nil {
			return nil
		}
	}
	err := on.settle(ctx, "write", write)
	if err == nil {
		// A server that only speaks the protocol is not asked again.
		db.unlogged.CompareAndSwap(false, refused != nil && !IsAway(refused))
		return nil
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // Ready tells what hangs
	}
	return &NotReadyError{CheckWrites, fmt.Errorf("database takes no writes: %w", err)}
}
