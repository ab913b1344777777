package engine

import (
	"context"
	"errors"
)

// sqliteTx is the use of a connection from Begin until Close.
type sqliteTx struct {
	db      *SQLite
	conn    *conn
	ctx     context.Context
	end     func() // the watch over ctx
	cursors []*sqliteCursor
	version string
}

func (tx *sqliteTx) Interleaves() bool { return true }

func (tx *sqliteTx) Version() string { return tx.version }

func (tx *sqliteTx) Close() error {
	if tx.conn == nil {
		return nil
	}
	conn := tx.conn
	tx.conn = nil
	var errs []error
	for _, c := range tx.cursors {
		errs = append(errs, c.Close())
	}
	tx.end()
	if !conn.Autocommit() {
		errs = append(errs, conn.Exec("COMMIT"))
	}
	return errors.Join(append(errs, tx.db.release(conn))...)
}

// Query uses the statement cache of the connection.
func (tx *sqliteTx) Query(query string, args []any) (Cursor, error) {
	if err := tx.ctx.Err(); err != nil {
		return nil, err
	}
	c := &sqliteCursor{ctx: tx.ctx, conn: tx.conn, unread: tx, arena: tx.conn.arena}
	tx.conn.arena = nil
	var err error
	if c.stmt, err = tx.conn.Prepare(query); err != nil {
		return nil, cause(tx.ctx, err)
	}
	tx.cursors = append(tx.cursors, c)
	for i, a := range args {
		if err := c.stmt.Bind(i+1, a); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// cause gives the context's error when that ended the statement.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
