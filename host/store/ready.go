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

// Ready reports why the database cannot serve: it does not answer, migrations are
// pending, or it takes no writes, as a replica, a server that is read-only, or a
// SQLite file that another process has locked. It has a connection of its own, so
// that it never waits for those of requests.
func (db *DB) Ready(ctx context.Context) error {
	if db.path != "" {
		if _, err := os.Stat(db.path); err != nil {
			return fmt.Errorf("database file cannot be found: %w", err)
		}
	}
	pending, err := db.probe.Pending(ctx)
	if err != nil {
		return fmt.Errorf("database does not answer: %w", err)
	}
	if len(pending) > 0 {
		return fmt.Errorf("migrations are pending: %s", strings.Join(pending, ", "))
	}
	if err := db.probe.tryWrite(ctx); err != nil {
		return fmt.Errorf("database takes no writes: %w", err)
	}
	return nil
}

// tryWrite begins a transaction that may write, which on SQLite takes the lock of
// the writer, and runs an update that matches no row, which servers refuse while
// they are read-only. It writes nothing: the data stays the same for caches, and
// servers have no dead rows to clean up.
func (db *DB) tryWrite(ctx context.Context) error {
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
