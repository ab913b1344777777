package store

import (
	"context"
	"database/sql"
	"slices"
)

// ApplyMigration runs the migration of a version in tx as [DB.Migrate] does, for
// the moment when another host was faster.
func (db *DB) ApplyMigration(ctx context.Context, tx *sql.Tx, version int64) error {
	all, err := allMigrations()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(m migration) bool { return m.version == version })
	return db.applyOnce(ctx, tx, all[i])
}
