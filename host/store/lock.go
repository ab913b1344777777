package store

import (
	"context"
	"errors"
)

// addUserLock is the row of vestibule_locks that additions of people wait for.
const addUserLock = "add_user"

// errNoLock is returned when the row of a lock is missing, as after the table
// was emptied.
var errNoLock = errors.New("vestibule_locks has no such row: restore it from the INSERT in migrations/*.sql")

// lock waits until no other transaction holds the lock of this name, a row of
// vestibule_locks, and holds it until the transaction of ctx ends. On SQLite the
// transaction itself is the lock.
func (db *DB) lock(ctx context.Context, name string) error {
	var row struct{ Name string }
	return db.get(ctx, errNoLock, "lock "+name, &row, `SELECT name FROM vestibule_locks WHERE name = ?`+db.dialect.ForUpdate, name)
}
