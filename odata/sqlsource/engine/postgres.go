package engine

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Postgres reads through pgx below database/sql: rows come as the server sends them, without a value of Go for each. The
// pool stays that of database/sql, with its bounds and probes. The handle stays the caller's.
type Postgres struct{ db *sql.DB }

// NewPostgres makes a DB of an open handle on PostgreSQL, which pgx must drive.
func NewPostgres(db *sql.DB) *Postgres { return &Postgres{db} }

// Close does nothing: the handle is the caller's.
func (db *Postgres) Close() error { return nil }

// Begin takes a connection. A transaction for a snapshot begins with the first statement.
func (db *Postgres) Begin(ctx context.Context, need Need) (Tx, error) {
	tx, err := db.begin(ctx, need.Snapshot)
	if err != nil {
		return nil, err
	}
	return tx, nil
}

func (db *Postgres) begin(ctx context.Context, snapshot bool) (*pgxTx, error) {
	conn, err := db.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	var pg *pgx.Conn
	_ = conn.Raw(func(c any) error {
		if driven, ok := c.(interface{ Conn() *pgx.Conn }); ok {
			pg = driven.Conn()
		}
		return nil
	})
	if pg == nil {
		return nil, errors.Join(errors.New("the handle on PostgreSQL has another driver: open it with pgx, as github.com/jackc/pgx/v5/stdlib does"), conn.Close())
	}
	// A sql.Conn keeps its connection to itself until it is closed, which is what makes it safe to go on with pg here.
	return &pgxTx{borrowed: borrowed{ctx: ctx, conn: conn}, pg: pg, snapshot: snapshot}, nil
}

// borrowed is a connection of a pool of database/sql, for one transaction.
type borrowed struct {
	ctx  context.Context
	conn *sql.Conn
	done bool
}

func (b *borrowed) Interleaves() bool { return false }

func (b *borrowed) Version() string { return "" }

// giveBack gives the connection back after an error, or none.
func (b *borrowed) giveBack(err error) error {
	if closed := b.conn.Close(); !errors.Is(closed, sql.ErrConnDone) {
		err = errors.Join(err, closed)
	}
	if err != nil && b.ctx.Err() == nil { // what was read tells of its end
		return err
	}
	return nil
}

type pgxTx struct {
	borrowed
	pg       *pgx.Conn
	snapshot bool
	begun    pgx.Tx
}

func (tx *pgxTx) Query(query string, args []any) (Cursor, error) {
	if tx.snapshot && tx.begun == nil {
		begun, err := tx.pg.BeginTx(tx.ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
		if err != nil {
			return nil, notSent(err)
		}
		tx.begun = begun
	}
	all := make([]any, 1, 1+len(args))
	all[0] = binaryFormats
	rows, err := tx.pg.Query(tx.ctx, query, append(all, args...)...)
	if err != nil {
		return nil, notSent(err)
	}
	return &pgxCursor{rows: rows}, nil
}

// notSent is the error that database/sql has for what was certainly not done.
func notSent(err error) error {
	if pgconn.SafeToRetry(err) {
		return errors.Join(driver.ErrBadConn, err)
	}
	return err
}

func (tx *pgxTx) Close() error {
	if tx.done {
		return nil
	}
	tx.done = true
	var err error
	if tx.begun != nil && !tx.pg.IsClosed() {
		err = tx.begun.Rollback(tx.ctx)
	}
	if tx.pg.IsClosed() || tx.pg.PgConn().IsBusy() {
		_ = tx.conn.Raw(func(any) error { return driver.ErrBadConn }) // takes it out of the pool at once
	}
	return tx.giveBack(err)
}

type pgxCursor struct {
	rows pgx.Rows
	// batch holds the rows among its results; nil where they are the only one.
	batch pgx.BatchResults
	// forms is how the values of each column come; nil until the first row.
	forms []form
	arena []byte
}

func (c *pgxCursor) Next() (bool, error) {
	if c.rows.Next() {
		return true, nil
	}
	return false, c.rows.Err()
}

// Row leaves texts where the driver has them: they live until its next row.
func (c *pgxCursor) Row(cells []Cell) error {
	if c.forms == nil {
		c.forms = formsOf(c.rows.FieldDescriptions())
	}
	values := c.rows.RawValues()
	if len(values) != len(cells) {
		return fmt.Errorf("there are %d columns instead of %d", len(values), len(cells))
	}
	c.arena = c.arena[:0]
	for i, raw := range values {
		cells[i] = Cell{}
		if raw == nil {
			continue
		}
		var ok bool
		if c.arena, ok = c.forms[i].cell(&cells[i], raw, c.arena); !ok {
			return fmt.Errorf("column %d has %d bytes in the place of its value", i, len(raw))
		}
	}
	return nil
}

func (c *pgxCursor) Close() error {
	c.rows.Close()
	if c.batch != nil {
		return cmp.Or(c.rows.Err(), c.batch.Close())
	}
	return c.rows.Err()
}
