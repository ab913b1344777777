package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"reflect"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/internal/repeat"
)

// Retries wait at random up to firstBackoff, then up to twice as long each time,
// so that those who collided once spread out. Conflicts are repeated maxRetries
// times, what found no database for as long as there is time.
const (
	maxRetries   = 9
	firstBackoff = 2 * time.Millisecond
	maxBackoff   = 250 * time.Millisecond
)

// txKey carries the transaction on db in a context. The database is part of the
// key, so that a transaction on one is never taken for one on another.
type txKey struct{ db *shared }

func (db *DB) tx(ctx context.Context) *sqlx.Tx {
	tx, _ := ctx.Value(txKey{db.shared}).(*sqlx.Tx)
	return tx
}

// bounded calls f with a context that ends after Settings.Wait, unless a transaction is
// under way, which is bounded as a whole. What failed because the database did not
// answer in that time, is away, or lacks a table, is an auth.ErrUnavailable.
func (db *DB) bounded(ctx context.Context, f func(context.Context) error) error {
	if db.tx(ctx) != nil {
		return f(ctx)
	}
	request := auth.RequestOf(ctx)
	left := request.Left(db.settings.Wait)
	if left <= 0 {
		return fmt.Errorf("%w: the request has waited for it already", auth.ErrUnavailable)
	}
	limited, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	defer request.Spend(time.Now())
	err := f(limited)
	if remedy := Remedy(err); remedy != "" && ctx.Err() == nil {
		return fmt.Errorf("%w: %w: %s", auth.ErrUnavailable, err, remedy)
	}
	if err == nil || ctx.Err() != nil || limited.Err() == nil && !db.away(err) {
		return err
	}
	return fmt.Errorf("%w: %w", auth.ErrUnavailable, err)
}

// away reports whether a statement failed because the database cannot be reached,
// or takes no more work.
func (db *DB) away(err error) bool {
	var network net.Error
	verdict := repeat.Of(err)
	return verdict == repeat.NotSent || verdict == repeat.Lost || errors.As(err, &network) || db.dialect.Unavailable != nil && db.dialect.Unavailable(err)
}

// IsAway reports whether an error says that the database could not be reached, or was
// in use by somebody else, and may be there later.
func IsAway(err error) bool { return repeat.Of(err) != repeat.Never }

// InTx calls f with a context that carries a transaction, which every method
// called with that context joins, a nested InTx as well. It commits when f
// returns nil and rolls back otherwise, and it calls f again when the database
// reports a conflict with another transaction, a bounded number of times, and when
// the database was away or got lost before the commit. f
// must not use the outer context: on SQLite it would wait for itself. An error
// of the commit may leave open whether it happened. All of it takes Settings.Wait
// at most; then, or when the database is away, the error is an auth.ErrUnavailable.
func (db *DB) InTx(ctx context.Context, f func(ctx context.Context) error) error {
	return db.transact(ctx, beforeCommit, f)
}

// Settle is InTx for an f that may be done twice, because it leaves the same behind or
// notices that it was done: it is called again as well where the connection was lost with
// the commit, so that nobody knows whether that happened. In a transaction of the context
// it is InTx.
func (db *DB) Settle(ctx context.Context, f func(ctx context.Context) error) error {
	return db.transact(ctx, always, f)
}

func (db *DB) transact(ctx context.Context, lost losing, f func(ctx context.Context) error) error {
	if db.tx(ctx) != nil {
		return f(ctx)
	}
	return db.bounded(ctx, func(ctx context.Context) error {
		return db.retry(ctx, lost, func() error { return db.once(ctx, f) })
	})
}

// A commitError is that of a commit, after which nobody knows whether it happened.
type commitError struct{ error }

func (e commitError) Unwrap() error { return e.error }

func (db *DB) once(ctx context.Context, f func(ctx context.Context) error) error {
	tx, err := db.writer.BeginTxx(ctx, &sql.TxOptions{Isolation: db.dialect.Isolation})
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	// After a commit this does nothing; it also covers a panic in f.
	defer func() { _ = tx.Rollback() }()
	if err := f(context.WithValue(ctx, txKey{db.shared}, tx)); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return commitError{failed("commit transaction", err)}
	}
	return nil
}

// losing reports whether something may be repeated whose connection was
// lost with this error.
type losing func(error) bool

func always(error) bool { return true } // reads, and writes that may be done twice
func never(error) bool  { return false }

// beforeCommit is for transactions: what was not committed is rolled back.
func beforeCommit(err error) bool {
	var commit commitError
	return !errors.As(err, &commit)
}

// retry runs f until it succeeds, fails for good, or Settings.Wait is over; package repeat
// decides. When ctx ends, the last error of the database is returned, because it
// tells the operator more.
func (db *DB) retry(ctx context.Context, lost losing, f func() error) error {
	var last error
	conflicts, end := 0, time.Now().Add(db.settings.Wait)
	for n := 0; ; n++ {
		err := f()
		switch repeat.Of(err) {
		case repeat.Conflict:
			conflicts++
		case repeat.NotSent:
		case repeat.Lost:
			if !lost(err) {
				return err
			}
		default:
			if err != nil && ctx.Err() != nil && last != nil {
				return last
			}
			return err
		}
		last = err
		if conflicts > maxRetries || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(rand.N(min(firstBackoff<<min(n, maxRetries), maxBackoff))):
		}
	}
}

// write runs f on the transaction of ctx or, with retries, on the writer. lost tells
// whether it may be done twice.
func (db *DB) write(ctx context.Context, lost losing, f func(context.Context, sqlx.ExtContext) error) error {
	if tx := db.tx(ctx); tx != nil {
		return f(ctx, tx)
	}
	return db.bounded(ctx, func(ctx context.Context) error {
		return db.retry(ctx, lost, func() error { return f(ctx, db.writer) })
	})
}

// exec runs a statement and returns how many rows matched it. what begins the
// text of its errors, as in the methods below.
func (db *DB) exec(ctx context.Context, what, query string, args ...any) (int64, error) {
	return db.execute(ctx, never, what, query, args...)
}

func (db *DB) execute(ctx context.Context, lost losing, what, query string, args ...any) (int64, error) {
	var n int64
	err := db.write(ctx, lost, func(ctx context.Context, q sqlx.ExtContext) error {
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

// settle is run for a statement that may be done twice, because it leaves the same
// behind: it deletes, or sets columns to values that do not depend on what they were.
func (db *DB) settle(ctx context.Context, what, query string, args ...any) error {
	_, err := db.execute(ctx, always, what, query, args...)
	return err
}

// get reads one row into dest; missing is the error when there is none.
func (db *DB) get(ctx context.Context, missing error, what string, dest any, query string, args ...any) error {
	err := db.row(ctx, func(r *sqlx.Row) error { return r.StructScan(dest) }, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return missing
	}
	return failed(what, err)
}

// list reads all rows into dest, a pointer to a slice.
func (db *DB) list(ctx context.Context, what string, dest any, query string, args ...any) error {
	return failed(what, db.bounded(ctx, func(ctx context.Context) error {
		read := func() error {
			reflect.ValueOf(dest).Elem().SetLen(0)
			return sqlx.SelectContext(ctx, db.read(ctx), dest, db.rebind(query), args...)
		}
		if db.tx(ctx) != nil { // its connection is lost with it: InTx repeats the whole
			return read()
		}
		return db.retry(ctx, always, read)
	}))
}

// rows reads all rows of a query; take goes through them, and is called again where
// reading is repeated.
func (db *DB) rows(ctx context.Context, take func(*sqlx.Rows) error, query string, args ...any) error {
	return db.bounded(ctx, func(ctx context.Context) error {
		read := func() (err error) {
			rows, err := db.read(ctx).QueryxContext(ctx, db.rebind(query), args...)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, rows.Close()) }()
			return take(rows)
		}
		if db.tx(ctx) != nil { // its connection is lost with it: InTx repeats the whole
			return read()
		}
		return db.retry(ctx, always, read)
	})
}

// read is where to read: in the transaction of ctx or with the reader.
func (db *DB) read(ctx context.Context) sqlx.QueryerContext {
	if tx := db.tx(ctx); tx != nil {
		return tx
	}
	return db.reader
}

func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// row reads one row by its key; scan takes it, and is called again where reading is
// repeated.
func (db *DB) row(ctx context.Context, scan func(*sqlx.Row) error, query string, args ...any) error {
	query = db.rebind(query)
	return db.one(ctx, func(ctx context.Context, q sqlx.QueryerContext) error {
		return scan(q.QueryRowxContext(ctx, query, args...))
	})
}

// one calls read where one row is to be read, and again where reading is repeated.
func (db *DB) one(ctx context.Context, read func(context.Context, sqlx.QueryerContext) error) error {
	if tx := db.tx(ctx); tx != nil {
		return read(ctx, tx)
	}
	if db.isQuick() {
		err := db.watched(context.WithoutCancel(ctx), read)
		if err == nil || errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return db.bounded(ctx, func(ctx context.Context) error {
		return db.retry(ctx, always, func() error { return db.watched(ctx, read) })
	})
}

// watched calls f with a connection for reading and a context that does not end: what
// waits for the server ends with ctx nevertheless. For a context that may end, package
// database/sql has a goroutine for each query, which takes half as long as finding a row.
func (db *DB) watched(ctx context.Context, f func(context.Context, sqlx.QueryerContext) error) error {
	conn, err := db.reader.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if db.dialect.Watch == nil {
		return f(context.WithoutCancel(ctx), conn)
	}
	var driven any // which a sql.Conn keeps to itself until it is closed
	_ = conn.Raw(func(c any) error { driven = c; return nil })
	unwatched, end := db.dialect.Watch(ctx, driven)
	err = f(unwatched, conn)
	if broken := end(); broken != nil {
		_ = conn.Raw(func(any) error { return broken }) // takes it out of the pool
		if err != nil {
			err = errors.Join(err, ctx.Err())
		}
	}
	return err
}

// isQuick reports whether one row is read without a deadline: the database is part of the process, and a connection is free.
func (db *DB) isQuick() bool {
	if !db.dialect.InProcess {
		return false
	}
	pool := db.reader.Stats()
	return pool.MaxOpenConnections == 0 || pool.InUse < pool.MaxOpenConnections
}

func (db *DB) rebind(query string) string {
	if !strings.Contains(query, "?") { // rebound already
		return query
	}
	return sqlx.Rebind(db.dialect.Bind, query)
}
