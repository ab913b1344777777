package engine

import (
	"context"
	"errors"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
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
	if tx.ctx.Err() != nil {
		return nil, cause(tx.ctx, nil)
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
	switch {
	case ctx.Err() == nil:
		return err
	case errors.Is(context.Cause(ctx), errHeld):
		return errHeld
	}
	return ctx.Err()
}

// maxArena is the largest arena, in bytes, that a connection keeps.
const maxArena = 64 << 10

type sqliteCursor struct {
	ctx    context.Context
	conn   *conn
	unread *sqliteTx // nil behind the first row
	stmt   *sqlite3.Stmt
	arena  []byte
}

func (c *sqliteCursor) Next() (bool, error) {
	if c.stmt == nil {
		return false, nil
	}
	ok, err := c.stmt.Step()
	if err != nil {
		return false, cause(c.ctx, err)
	}
	if c.unread != nil {
		c.unread.db.noteBegunLog(c.conn)
		c.unread = nil
	}
	return ok, nil
}

// Row copies texts to an arena: SQLite's own end with the row.
func (c *sqliteCursor) Row(cells []Cell) error {
	c.arena = c.arena[:0]
	for i := range cells {
		cell := &cells[i]
		*cell = Cell{}
		switch v := c.stmt.Value(i); v.Kind() {
		case sqlite3.KindNull:
		case sqlite3.KindInt:
			cell.Kind, cell.Int = Int, v.Int()
		case sqlite3.KindFloat:
			cell.Kind, cell.Float = Float, v.Float()
		case sqlite3.KindText:
			cell.Kind, cell.Bytes = Text, c.copied(v.Bytes())
		case sqlite3.KindBlob:
			cell.Kind, cell.Bytes = Blob, c.copied(v.Bytes())
		}
	}
	return nil
}

// copied appends bytes to the arena. A full arena is replaced and not grown: the texts of the row stay where they are.
func (c *sqliteCursor) copied(stored []byte) []byte {
	if len(stored) > cap(c.arena)-len(c.arena) {
		c.arena = make([]byte, 0, max(2*(len(c.arena)+len(stored)), 1024))
	}
	from := len(c.arena)
	c.arena = append(c.arena, stored...)
	return c.arena[from:len(c.arena):len(c.arena)]
}

func (c *sqliteCursor) Close() error {
	if c.stmt == nil {
		return nil
	}
	c.stmt.Close()
	c.stmt = nil
	if cap(c.arena) <= maxArena {
		c.conn.arena = c.arena
	}
	return nil
}
