package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jmoiron/sqlx"
)

// Retries wait at random up to firstBackoff, then up to twice as long each time,
// so that those who collided once spread out.
const (
	maxRetries   = 9
	firstBackoff = 2 * time.Millisecond
	maxBackoff   = 250 * time.Millisecond
)

// txKey carries the transaction on db in a context. The database is part of the
// key, so that a transaction on one is never taken for one on another.
type txKey struct{ db *DB }

func (db *DB) tx(ctx context.Context) *sqlx.Tx {
	tx, _ := ctx.Value(txKey{db}).(*sqlx.Tx)
	return tx
}

// InTx calls f with a context that carries a transaction, which every method
// called with that context joins, a nested InTx as well. It commits when f
// returns nil and rolls back otherwise, and it calls f again, a bounded number
// of times, when the database reports a conflict with another transaction. f
// must not use the outer context: on SQLite it would wait for itself. An error
// of the commit may leave open whether it happened.
func (db *DB) InTx(ctx context.Context, f func(ctx context.Context) error) error {
	if db.tx(ctx) != nil {
		return f(ctx)
	}
	return db.retry(ctx, func() error { return db.once(ctx, f) })
}

func (db *DB) once(ctx context.Context, f func(ctx context.Context) error) error {
	db.writes.Prepare(ctx) // a transaction may hold the only connection
	tx, err := db.writer.BeginTxx(ctx, &sql.TxOptions{Isolation: db.dialect.Isolation})
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	// After a commit this does nothing; it also covers a panic in f.
	defer func() { _ = tx.Rollback() }()
	if err := f(context.WithValue(ctx, txKey{db}, tx)); err != nil {
		return err
	}
	return failed("commit transaction", tx.Commit())
}

// retry runs f until it succeeds or fails for good. When ctx ends between two
// tries, the last conflict is returned, because it tells the operator more.
func (db *DB) retry(ctx context.Context, f func() error) error {
	for n := range maxRetries {
		err := f()
		if err == nil || !db.dialect.Retryable(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(rand.N(min(firstBackoff<<n, maxBackoff))):
		}
	}
	return f()
}

// write runs f on the transaction of ctx or, with retries, on the writer.
func (db *DB) write(ctx context.Context, f func(sqlx.ExtContext) error) error {
	if tx := db.tx(ctx); tx != nil {
		return f(db.writes.On(nil, tx))
	}
	db.writes.Prepare(ctx)
	return db.retry(ctx, func() error { return f(db.writes.On(db.writer, nil)) })
}

// exec runs a statement and returns how many rows matched it. what begins the
// text of its errors, as in the methods below.
func (db *DB) exec(ctx context.Context, what, query string, args ...any) (int64, error) {
	var n int64
	err := db.write(ctx, func(q sqlx.ExtContext) error {
		res, err := q.ExecContext(ctx, db.rebind(query), args...)
		if err != nil {
			return err
		}
		n, err = res.RowsAffected()
		return err
	})
	return n, failed(what, err)
}

// run is exec for a statement that may match nothing.
func (db *DB) run(ctx context.Context, what, query string, args ...any) error {
	_, err := db.exec(ctx, what, query, args...)
	return err
}

// get reads one row into dest; missing is the error when there is none.
func (db *DB) get(ctx context.Context, missing error, what string, dest any, query string, args ...any) error {
	err := db.row(ctx, query, args...).StructScan(dest)
	if errors.Is(err, sql.ErrNoRows) {
		return missing
	}
	return failed(what, err)
}

// list reads all rows into dest, a pointer to a slice.
func (db *DB) list(ctx context.Context, what string, dest any, query string, args ...any) error {
	return failed(what, sqlx.SelectContext(ctx, db.read(ctx), dest, db.rebind(query), args...))
}

// read is where to read: in the transaction of ctx or with the reader. Statements are
// kept, so there must be a bounded number of texts.
func (db *DB) read(ctx context.Context) sqlx.QueryerContext {
	if tx := db.tx(ctx); tx != nil {
		return db.writes.On(nil, tx)
	}
	db.reads.Prepare(ctx)
	return db.reads.On(db.reader, nil)
}

func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// row starts reading one row by its key. Where the engine wants it, the statement
// is kept prepared, so query must be one of a bounded number of texts, and it is
// not watched for the end of ctx, which would take longer than reading.
func (db *DB) row(ctx context.Context, query string, args ...any) *sqlx.Row {
	if tx := db.tx(ctx); tx != nil {
		return db.writes.On(nil, tx).QueryRowxContext(ctx, db.rebind(query), args...)
	}
	query = db.rebind(query)
	db.reads.Prepare(ctx)
	if stmt := db.reads.Find(query); stmt != nil { //nolint:sqlclosecheck // kept
		return stmt.QueryRowxContext(context.WithoutCancel(ctx), args...)
	}
	return db.reader.QueryRowxContext(ctx, query, args...)
}

func (db *DB) rebind(query string) string { return sqlx.Rebind(db.dialect.Bind, query) }
