package engine

import (
	"context"
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"
)

// sqliteTx is the use of a connection from Begin until Close.
type sqliteTx struct {
	db      *SQLite
	conn    *conn
	ctx     context.Context
	end     func() // the watch over ctx
	cursors []*sqliteCursor
	version string
	// before is the name of the state before the first statement; unknown behind it, and where nobody wants it.
	before string
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
	if !conn.AutocommitEnabled() {
		errs = append(errs, exec(conn.Conn, "COMMIT"))
	}
	return errors.Join(append(errs, conn.trim(), tx.db.release(conn))...)
}

// Query uses the statement cache of the connection. A statement whose cursor is still open is prepared anew.
func (tx *sqliteTx) Query(query string, args []any) (Cursor, error) {
	if err := tx.ctx.Err(); err != nil {
		return nil, err
	}
	c := &sqliteCursor{ctx: tx.ctx, conn: tx.conn, unread: tx, arena: tx.conn.arena}
	tx.conn.arena = nil
	var err error
	for _, open := range tx.cursors {
		if open.stmt != nil && open.query == query {
			c.transient = true
		}
	}
	if c.transient {
		c.stmt, _, err = tx.conn.PrepareTransient(query)
	} else {
		c.stmt, err = tx.conn.Prepare(query)
	}
	if err != nil {
		return nil, cause(tx.ctx, err)
	}
	c.query, c.handle = query, tx.conn.handle(c.stmt, query, c.transient)
	tx.cursors = append(tx.cursors, c)
	for i, a := range args {
		if err := bind(c.stmt, i+1, a); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

func bind(stmt *sqlite.Stmt, i int, arg any) error {
	switch v := arg.(type) {
	case nil:
		stmt.BindNull(i)
	case bool:
		stmt.BindBool(i, v)
	case int64:
		stmt.BindInt64(i, v)
	case float64:
		stmt.BindFloat(i, v)
	case string:
		stmt.BindText(i, v)
	case []byte:
		if v == nil {
			v = []byte{}
		}
		stmt.BindBytes(i, v)
	default:
		return fmt.Errorf("a parameter has type %T", arg)
	}
	return nil
}

// cause gives the context's error when that ended the statement.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
