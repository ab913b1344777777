package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// SQL reads through database/sql. The handle stays the caller's.
type SQL struct {
	db *sql.DB
	// bound puts the time that is left into a statement; nil where the driver stops the server by itself.
	bound func(query string, left time.Duration) string
}

// NewSQL makes a DB of an open handle on PostgreSQL.
func NewSQL(db *sql.DB) *SQL { return &SQL{db: db} }

// NewMySQL makes a DB of an open handle on MariaDB or MySQL. The driver does not cancel a statement on the server
// when its context ends, so each statement carries its own time limit, in the syntax of MariaDB or of MySQL.
func NewMySQL(ctx context.Context, db *sql.DB) (*SQL, error) {
	var version string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return nil, fmt.Errorf("ask for the version: %w", err)
	}
	if strings.Contains(strings.ToLower(version), "mariadb") {
		return &SQL{db, func(query string, left time.Duration) string {
			return fmt.Sprintf("SET STATEMENT max_statement_time=%.3f FOR %s", left.Seconds(), query)
		}}, nil
	}
	return &SQL{db, func(query string, left time.Duration) string {
		return fmt.Sprintf("SELECT /*+ MAX_EXECUTION_TIME(%d) */%s", left.Milliseconds(), strings.TrimPrefix(query, "SELECT"))
	}}, nil
}

// Close does nothing: the handle is the caller's.
func (db *SQL) Close() error { return nil }

// Begin takes a connection, and for a snapshot starts a repeatable read transaction on it.
func (db *SQL) Begin(ctx context.Context, need Need) (Tx, error) {
	if !need.Snapshot {
		conn, err := db.db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		return &sqlTx{ctx: ctx, q: conn, end: conn.Close, bound: db.bound}, nil
	}
	tx, err := db.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &sqlTx{ctx: ctx, q: tx, end: tx.Rollback, bound: db.bound}, nil
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

type sqlTx struct {
	ctx  context.Context
	q    querier
	end  func() error
	done bool

	bound func(string, time.Duration) string
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
	if deadline, ok := tx.ctx.Deadline(); ok && tx.bound != nil {
		query = tx.bound(query, max(time.Until(deadline), time.Millisecond))
	}
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
		if err := c.cell(&cells[i], v); err != nil {
			return err
		}
	}
	return nil
}

// cell brings what drivers give into the five storage classes; times become text.
func (c *sqlCursor) cell(cell *Cell, v any) error {
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
		from := len(c.arena)
		c.arena = append(c.arena, v...)
		cell.Kind, cell.Bytes = Text, c.arena[from:len(c.arena):len(c.arena)]
	case []byte:
		cell.Kind, cell.Bytes = Text, v
	case time.Time:
		from := len(c.arena)
		c.arena = v.UTC().AppendFormat(c.arena, time.RFC3339Nano)
		cell.Kind, cell.Bytes = Text, c.arena[from:len(c.arena):len(c.arena)]
	default:
		return fmt.Errorf("a column has type %T", v)
	}
	return nil
}

func (c *sqlCursor) Close() error { return c.rows.Close() }
