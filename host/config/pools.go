package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/mysql"
	"github.com/vestibule-dev/vestibule/v2/host/store/postgres"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
)

// openPool opens a database for sign-in.
func openPool(ctx context.Context, driver, dsn string, connections int) (*store.DB, error) {
	open := sqlite.Open
	switch driver {
	case "postgres":
		open = postgres.Open
	case "mysql":
		open = mysql.Open
	}
	return limited(connections)(open(ctx, dsn))
}

// openQueries opens a server of a driver other than sqlite.
func openQueries(ctx context.Context, driver, dsn string, connections int) (*store.DB, error) {
	open := postgres.OpenForQueries
	if driver == "mysql" {
		open = mysql.OpenForQueries
	}
	return limited(connections)(open(ctx, dsn))
}

func limited(connections int) func(*store.DB, error) (*store.DB, error) {
	return func(db *store.DB, err error) (*store.DB, error) {
		if err != nil {
			return nil, err
		}
		db.SetMaxConnections(connections)
		return db, nil
	}
}

// withEmpty runs do with an empty temporary database, and removes the database.
func withEmpty(ctx context.Context, do func(*store.DB) error) (err error) {
	dir, err := os.MkdirTemp("", "vestibule-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := sqlite.Open(ctx, filepath.Join(dir, "empty.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return do(db)
}

// withScratch is withEmpty with a database as the first migration leaves it.
func withScratch(ctx context.Context, do func(*store.DB) error) error {
	return withEmpty(ctx, func(db *store.DB) error {
		if _, err := db.Migrate(ctx); err != nil {
			return err
		}
		return do(db)
	})
}
