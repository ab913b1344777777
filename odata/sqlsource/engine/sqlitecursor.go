package engine

import (
	"context"

	"zombiezen.com/go/sqlite"
)

// maxArena is the largest arena, in bytes, that a connection keeps.
const maxArena = 64 << 10

type sqliteCursor struct {
	ctx       context.Context
	conn      *conn
	unread    *sqliteTx // nil behind the first row
	stmt      *sqlite.Stmt
	handle    uintptr // of stmt; see handleOf
	query     string
	transient bool
	arena     []byte
	// written is how columns are written as JSON; see WritesJSON.
	written []written
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
		c.unread.begun()
		c.unread = nil
	}
	return ok, nil
}

// Row copies texts to an arena. Each call into SQLite costs as much as copying a short text, so the length is asked for
// only where the copy filled the room that there was.
func (c *sqliteCursor) Row(cells []Cell) error {
	if c.handle != 0 {
		c.values(cells)
		return nil
	}
	arena := c.arena[:0]
	for i := range cells {
		cell := &cells[i]
		*cell = Cell{}
		switch c.stmt.ColumnType(i) {
		case sqlite.TypeInteger:
			cell.Kind, cell.Int = Int, c.stmt.ColumnInt64(i)
		case sqlite.TypeFloat:
			cell.Kind, cell.Float = Float, c.stmt.ColumnFloat(i)
		case sqlite.TypeText:
			cell.Kind = Text
			cell.Bytes, arena = c.text(i, arena)
		case sqlite.TypeBlob:
			cell.Kind = Blob
			cell.Bytes, arena = c.text(i, arena)
		}
	}
	c.arena = arena
	return nil
}

// text appends a cell's bytes to an arena, a new one where there is no room.
func (c *sqliteCursor) text(i int, arena []byte) (text, grown []byte) {
	from := len(arena)
	n := c.stmt.ColumnBytes(i, arena[from:cap(arena)])
	if from+n == cap(arena) { // perhaps there is more
		n = c.stmt.ColumnLen(i)
		arena, from = make([]byte, 0, max(2*(from+n), 1024)), 0
		n = c.stmt.ColumnBytes(i, arena[:cap(arena)])
	}
	arena = arena[:from+n]
	return arena[from : from+n : from+n], arena
}

func (c *sqliteCursor) Close() error {
	if c.stmt == nil {
		return nil
	}
	stmt := c.stmt
	c.stmt = nil
	if cap(c.arena) <= maxArena {
		c.conn.arena = c.arena
	}
	if c.written != nil {
		c.conn.columns, c.written = c.written, nil
	}
	if c.transient {
		return stmt.Finalize()
	}
	_ = stmt.Reset() // its error is that of the last step, which Next has returned
	return nil
}
