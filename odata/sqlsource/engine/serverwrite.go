package engine

import (
	"cmp"
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

// pgxWrite is a transaction of PostgreSQL that writes. BEGIN goes to the server with the first statement, which saves its way there
// and back.
type pgxWrite struct {
	pgxTx
	// open reports that the server has begun the transaction.
	open bool
}

// beginWrite makes each statement see what was committed before it: a row that was waited for is then the one that others have left.
var beginWrite = pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}

// BeginWrite takes a connection.
func (db *Postgres) BeginWrite(ctx context.Context) (WriteTx, error) {
	tx, err := db.begin(ctx, false)
	if err != nil {
		return nil, err
	}
	return &pgxWrite{pgxTx: *tx}, nil
}

// first sends BEGIN and the first statement, whose result is the next one of the batch.
func (tx *pgxWrite) first(query string, args []any) (pgx.BatchResults, error) {
	batch := &pgx.Batch{}
	batch.BeginTx(beginWrite)
	batch.Queue(query, args...)
	results := tx.pg.SendBatch(tx.ctx, batch)
	if _, err := results.Exec(); err != nil {
		_ = results.Close() // with the same error
		return nil, notSent(err)
	}
	tx.open = true
	return results, nil
}

// Query runs a statement.
func (tx *pgxWrite) Query(query string, args []any) (Cursor, error) {
	if tx.open {
		return tx.pgxTx.Query(query, args)
	}
	results, err := tx.first(query, args)
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close() // with the same error
		return nil, notSent(err)
	}
	return &pgxCursor{rows: rows, batch: results}, nil
}

// ReadsOnly reports whether the session begins transactions that only read, where nothing else is said.
func (tx *pgxWrite) ReadsOnly() (only bool, err error) {
	err = tx.pg.QueryRow(tx.ctx, "SELECT current_setting('default_transaction_read_only')::boolean").Scan(&only)
	return only, err
}

// Exec runs a statement.
func (tx *pgxWrite) Exec(query string, args []any) (int64, error) {
	if tx.open {
		tag, err := tx.pg.Exec(tx.ctx, query, args...)
		return tag.RowsAffected(), notSent(err)
	}
	results, err := tx.first(query, args)
	if err != nil {
		return 0, err
	}
	tag, err := results.Exec()
	return tag.RowsAffected(), notSent(cmp.Or(err, results.Close()))
}

// Commit ends the transaction.
func (tx *pgxWrite) Commit() error {
	if err := tx.ctx.Err(); err != nil || !tx.open {
		return err
	}
	tx.open = false
	return notSent(tx.end("commit"))
}

// Close undoes what was not committed.
func (tx *pgxWrite) Close() error {
	if tx.open && !tx.done && !tx.pg.IsClosed() && !tx.pg.PgConn().IsBusy() && tx.end("rollback") != nil {
		_ = tx.conn.Raw(func(any) error { return driver.ErrBadConn }) // the server undoes it with the end of the connection
	}
	return tx.pgxTx.Close()
}

func (tx *pgxWrite) end(command string) error {
	ctx, cancel := tx.ending()
	defer cancel()
	tag, err := tx.pg.Exec(ctx, command)
	if err == nil && command == "commit" && tag.String() == "ROLLBACK" {
		err = pgx.ErrTxCommitRollback
	}
	return err
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
