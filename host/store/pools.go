package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

const (
	// maxConnections are few, so that several hosts fit into the 100 that a server allows
	// by default.
	maxConnections = 20
	// connectionIdle is the time after which a connection that nobody uses is given back to
	// the server, which other hosts share.
	connectionIdle = 30 * time.Second
)

// Connect makes a DB of a server, and asks whether it is there. Only the engine packages
// need it. A connection is closed after the time life, 0 for never.
func Connect(ctx context.Context, d Dialect, server driver.Connector, driverName string, life time.Duration) (*DB, error) {
	pool := func(connections int) *sqlx.DB {
		db := sqlx.NewDb(sql.OpenDB(server), driverName)
		db.SetMaxOpenConns(connections)
		db.SetMaxIdleConns(connections)
		db.SetConnMaxLifetime(life)
		db.SetConnMaxIdleTime(connectionIdle)
		return db
	}
	db := pool(maxConnections)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), db.Close())
	}
	return New(d, db, db, pool(1), ""), nil
}

// Pools returns the states of the pools: "sign_in", "readiness" for the connection of
// [DB.Ready], and on SQLite "sign_in_writer", of which there is one connection.
func (db *DB) Pools() map[string]sql.DBStats {
	pools := map[string]sql.DBStats{"sign_in": db.reader.Stats(), "readiness": db.probe.writer.Stats()}
	if db.writer != db.reader {
		pools["sign_in_writer"] = db.writer.Stats()
	}
	return pools
}
