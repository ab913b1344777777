package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// SQL reads through database/sql. The handle stays the caller's.
type SQL struct{ db *sql.DB }

// NewSQL makes a DB of an open handle on PostgreSQL.
func NewSQL(db *sql.DB) *SQL { return &SQL{db: db} }

// Close does nothing: the handle is the caller's.
func (db *SQL) Close() error { return nil }

// Begin takes a connection, and for a snapshot starts a repeatable read transaction on it.
func (db *SQL) Begin(ctx context.Context, need Need) (Tx, error) {
	if !need.Snapshot {
		conn, err := db.db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		return &sqlTx{ctx: ctx, q: conn, end: conn.Close}, nil
	}
	tx, err := db.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &sqlTx{ctx: ctx, q: tx, end: tx.Rollback}, nil
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

type sqlTx struct {
	ctx  context.Context
	q    querier
	end  func() error
	done bool
}

func (tx *sqlTx) Interleaves() bool { return false }

func (tx *sqlTx) Version() string { return "" }

func (tx *sqlTx) Close() error {
	if tx.done {
		return nil
	}
	tx.done = true
	if err := tx.end(); err != nil && !errors.Is(err, sql.ErrTxDone) && tx.ctx.Err() == nil {
		return err
	}
	return nil
}

func (tx *sqlTx) Query(query string, args []any) (Cursor, error) {
	// The rows live as long as the cursor that is handed out; whoever has it closes them.
	rows, err := tx.q.QueryContext(tx.ctx, query, args...) //nolint:rowserrcheck // the cursor's Next asks for the fault
	if err != nil {
		return nil, err
	}
	return &sqlCursor{rows: rows}, nil
}

type sqlCursor struct {
	rows   *sql.Rows
	values []any
	into   []any
	arena  []byte
}

func (c *sqlCursor) Next() (bool, error) {
	if c.rows.Next() {
		return true, nil
	}
	return false, c.rows.Err()
}

func (c *sqlCursor) Row(cells []Cell) error {
	if len(c.values) != len(cells) {
		c.values, c.into = make([]any, len(cells)), make([]any, len(cells))
		for i := range c.values {
			c.into[i] = &c.values[i]
		}
	}
	if err := c.rows.Scan(c.into...); err != nil {
		return err
	}
	c.arena = c.arena[:0]
	for i, v := range c.values {
		var err error
		if c.arena, err = cellOf(&cells[i], v, c.arena); err != nil {
			return err
		}
	}
	return nil
}

// cellOf brings what drivers give into the five storage classes; times become text. What it has to write goes to the
// arena, which it gives back.
func cellOf(cell *Cell, v any, arena []byte) ([]byte, error) {
	*cell = Cell{}
	switch v := v.(type) {
	case nil:
	case int64:
		cell.Kind, cell.Int = Int, v
	case uint64:
		if v > 1<<63-1 {
			cell.Kind, cell.Bytes = Text, fmt.Append(nil, v)
		} else {
			cell.Kind, cell.Int = Int, int64(v)
		}
	case bool:
		cell.Kind = Int
		if v {
			cell.Int = 1
		}
	case float32:
		cell.Kind, cell.Float = Float, float64(v)
	case float64:
		cell.Kind, cell.Float = Float, v
	case string:
		from := len(arena)
		arena = append(arena, v...)
		cell.Kind, cell.Bytes = Text, arena[from:len(arena):len(arena)]
	case []byte:
		cell.Kind, cell.Bytes = Text, v
	case time.Time:
		from := len(arena)
		arena = v.UTC().AppendFormat(arena, time.RFC3339Nano)
		cell.Kind, cell.Bytes = Text, arena[from:len(arena):len(arena)]
	default:
		return arena, fmt.Errorf("a column has type %T", v)
	}
	return arena, nil
}

func (c *sqlCursor) Close() error { return c.rows.Close() }
