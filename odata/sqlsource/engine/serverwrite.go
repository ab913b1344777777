package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// endTime bounds COMMIT and ROLLBACK, which a client that goes away does not end.
const endTime = 10 * time.Second

// ending returns a context for the end of a transaction.
func (b *borrowed) ending() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(b.ctx), endTime)
}

// pgxWrite is a transaction of PostgreSQL that writes.
type pgxWrite struct{ pgxTx }

// BeginWrite starts a transaction in which each statement sees what was committed before it: a row that was waited for is then
// the one that others have left.
func (db *Postgres) BeginWrite(ctx context.Context) (WriteTx, error) {
	tx, err := db.begin(ctx, false)
	if err != nil {
		return nil, err
	}
	w := &pgxWrite{*tx}
	w.begun, err = w.pg.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return nil, errors.Join(notSent(err), w.Close())
	}
	return w, nil
}

// ReadsOnly reports whether the session begins transactions that only read, where nothing else is said.
func (tx *pgxWrite) ReadsOnly() (only bool, err error) {
	err = tx.pg.QueryRow(tx.ctx, "SELECT current_setting('default_transaction_read_only')::boolean").Scan(&only)
	return only, err
}

// Exec runs a statement.
func (tx *pgxWrite) Exec(query string, args []any) (int64, error) {
	tag, err := tx.pg.Exec(tx.ctx, query, args...)
	if err != nil {
		return 0, notSent(err)
	}
	return tag.RowsAffected(), nil
}

// Commit ends the transaction.
func (tx *pgxWrite) Commit() error {
	if err := tx.ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := tx.ending()
	defer cancel()
	err := tx.begun.Commit(ctx)
	tx.begun = nil
	return notSent(err)
}

// Close undoes what was not committed.
func (tx *pgxWrite) Close() error {
	if tx.begun != nil && !tx.done && !tx.pg.IsClosed() && !tx.pg.PgConn().IsBusy() {
		ctx, cancel := tx.ending()
		defer cancel()
		if tx.begun.Rollback(ctx) == nil { // else the server does so with the end of the connection
			tx.begun = nil
		}
	}
	return tx.pgxTx.Close()
}

// driverWrite is a transaction of MariaDB that writes.
type driverWrite struct{ driverTx }

// BeginWrite starts a transaction like that of PostgreSQL. Statements that write refuse values that a column would alter, whatever
// the sql_mode of the session is.
func (db *MySQL) BeginWrite(ctx context.Context) (WriteTx, error) {
	conn, err := db.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	tx := &driverWrite{driverTx{borrowed: borrowed{ctx: ctx, conn: conn}, statement: db.statement}}
	err = tx.with(func(c driver.Conn) (err error) {
		begins, ok := c.(driver.ConnBeginTx)
		if !ok {
			return fmt.Errorf("the driver's connection is a %T, which begins no transactions with options", c)
		}
		tx.begun, err = begins.BeginTx(ctx, driver.TxOptions{Isolation: driver.IsolationLevel(sql.LevelReadCommitted)})
		return err
	})
	if err != nil {
		return nil, errors.Join(err, tx.Close())
	}
	return tx, nil
}

// Exec runs a statement.
func (tx *driverWrite) Exec(query string, args []any) (int64, error) {
	result, err := tx.exec(tx.ctx, tx.limited(query), named(args))
	if err != nil {
		return 0, errors.Join(err, tx.ctx.Err())
	}
	return result.RowsAffected()
}

func (tx *driverWrite) exec(ctx context.Context, query string, values []driver.NamedValue) (result driver.Result, err error) {
	err = tx.with(func(c driver.Conn) error {
		w, ok := c.(watchable)
		if !ok {
			result, err = execOn(ctx, c, query, values)
			return err
		}
		unwatched, end := w.Watch(ctx)
		result, err = execOn(unwatched, c, query, values)
		return errors.Join(err, end())
	})
	return result, err
}

func execOn(ctx context.Context, c driver.Conn, query string, values []driver.NamedValue) (driver.Result, error) {
	if direct, ok := c.(driver.ExecerContext); ok {
		if result, err := direct.ExecContext(ctx, query, values); !errors.Is(err, driver.ErrSkip) {
			return result, err
		}
	}
	prepares, ok := c.(driver.ConnPrepareContext)
	if !ok {
		return nil, fmt.Errorf("the driver's connection is a %T, which prepares no statements", c)
	}
	stmt, err := prepares.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stmt.Close() }()
	executes, ok := stmt.(driver.StmtExecContext)
	if !ok {
		return nil, fmt.Errorf("the driver's statement is a %T, which takes no context", stmt)
	}
	return executes.ExecContext(ctx, values)
}

// Commit ends the transaction.
func (tx *driverWrite) Commit() error {
	if err := tx.ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := tx.ending()
	defer cancel()
	tx.begun = nil
	_, err := tx.exec(ctx, "COMMIT", nil)
	return err
}
