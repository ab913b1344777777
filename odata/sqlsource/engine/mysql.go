package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// MySQL reads rows as the driver hands them to database/sql, which would copy each text. The pool stays that of
// database/sql. The handle stays the caller's.
type MySQL struct {
	db        *sql.DB
	statement statement
}

// statement is a query as the server is to be asked, with the time that is left for it; 0 is no limit.
type statement func(query string, left time.Duration) string

// NewMySQL makes a DB of an open handle on MariaDB or MySQL. The driver does not cancel a statement on the server
// when its context ends, so each statement carries its own time limit, in the syntax of MariaDB or of MySQL.
func NewMySQL(ctx context.Context, db *sql.DB) (*MySQL, error) {
	var version, mode string
	if err := db.QueryRowContext(ctx, "SELECT VERSION(), @@sql_mode").Scan(&version, &mode); err != nil {
		return nil, fmt.Errorf("ask for the version: %w", err)
	}
	if !strings.Contains(strings.ToLower(version), "mariadb") {
		return &MySQL{db, askMySQL}, nil
	}
	if strings.Contains(mode, "STRICT_") {
		return &MySQL{db, askMariaDB}, nil
	}
	return &MySQL{db, askStrictly}, nil
}

// askMariaDB keeps MariaDB from taking the result of a subquery for another row: it remembers results by the columns of the
// outer row that the subquery uses, and takes texts for one that differ in case or in blanks at their ends, even where the
// subquery compares them exactly.
func askMariaDB(query string, left time.Duration) string {
	var set []string
	if left > 0 {
		set = append(set, fmt.Sprintf("max_statement_time=%.3f", left.Seconds()))
	}
	if strings.Contains(query, "(SELECT ") {
		set = append(set, "optimizer_switch='subquery_cache=off'")
	}
	if len(set) == 0 {
		return query
	}
	return "SET STATEMENT " + strings.Join(set, ", ") + " FOR " + query
}

// askStrictly is askMariaDB for sessions that are not strict: MariaDB would alter values that a column cannot hold.
func askStrictly(query string, left time.Duration) string {
	query = askMariaDB(query, left)
	_, after, limited := strings.Cut(query, " FOR ")
	switch {
	case strings.HasPrefix(query, "INSERT"), strings.HasPrefix(query, "UPDATE"):
		return "SET STATEMENT " + strict + " FOR " + query
	case limited && strings.HasPrefix(query, "SET STATEMENT ") && (strings.HasPrefix(after, "INSERT") || strings.HasPrefix(after, "UPDATE")):
		return "SET STATEMENT " + strict + ", " + strings.TrimPrefix(query, "SET STATEMENT ")
	}
	return query
}

const strict = "sql_mode=CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')"

func askMySQL(query string, left time.Duration) string {
	if left == 0 || !strings.HasPrefix(query, "SELECT") { // EXPLAIN takes no such hint
		return query
	}
	return fmt.Sprintf("SELECT /*+ MAX_EXECUTION_TIME(%d) */%s", left.Milliseconds(), strings.TrimPrefix(query, "SELECT"))
}

// Close does nothing: the handle is the caller's.
func (db *MySQL) Close() error { return nil }

// Begin takes a connection, and for a snapshot starts a repeatable read transaction on it.
func (db *MySQL) Begin(ctx context.Context, need Need) (Tx, error) {
	conn, err := db.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	tx := &driverTx{borrowed: borrowed{ctx: ctx, conn: conn}, statement: db.statement}
	if !need.Snapshot {
		return tx, nil
	}
	err = tx.with(func(c driver.Conn) (err error) {
		begins, ok := c.(driver.ConnBeginTx)
		if !ok {
			return fmt.Errorf("the driver's connection is a %T, which begins no transactions with options", c)
		}
		tx.begun, err = begins.BeginTx(ctx, driver.TxOptions{Isolation: driver.IsolationLevel(sql.LevelRepeatableRead), ReadOnly: true})
		return err
	})
	if err != nil {
		return nil, errors.Join(err, tx.Close())
	}
	return tx, nil
}

// watchable is a driver's connection that can end what waits for the server with less work than with a context of its own:
// the statements between Watch and end run with unwatched. end is called once; it is driver.ErrBadConn where ctx has ended.
type watchable interface {
	Watch(ctx context.Context) (unwatched context.Context, end func() error)
}

type driverTx struct {
	borrowed
	statement statement
	begun     driver.Tx
}

// with hands out the driver's connection. A sql.Conn keeps it to itself until it is closed, which is what makes it safe to
// go on with its rows behind use. The pool drops the connection when use says that it is broken.
func (tx *driverTx) with(use func(driver.Conn) error) error {
	return tx.conn.Raw(func(c any) error { return use(c.(driver.Conn)) }) // what database/sql drives
}

// limited is a query with the time that is left for it.
func (tx *driverTx) limited(query string) string {
	var left time.Duration
	if deadline, ok := tx.ctx.Deadline(); ok {
		left = max(time.Until(deadline), time.Millisecond)
	}
	return tx.statement(query, left)
}

func named(args []any) []driver.NamedValue {
	values := make([]driver.NamedValue, len(args))
	for i, v := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return values
}

func (tx *driverTx) Query(query string, args []any) (Cursor, error) {
	query = tx.limited(query)
	values := named(args)
	cur := &driverCursor{tx: tx, end: func() error { return nil }}
	err := tx.with(func(c driver.Conn) (err error) {
		ctx := tx.ctx
		if w, ok := c.(watchable); ok {
			ctx, cur.end = w.Watch(ctx)
		}
		err = driver.ErrSkip
		if direct, ok := c.(driver.QueryerContext); ok {
			cur.rows, err = direct.QueryContext(ctx, query, values)
		}
		if errors.Is(err, driver.ErrSkip) { // as drivers do that leave parameters to the server
			return cur.prepare(ctx, c, query, values)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, cur.Close(), tx.ctx.Err())
	}
	return cur, nil
}

func (tx *driverTx) Close() error {
	if tx.done {
		return nil
	}
	tx.done = true
	var err error
	if tx.begun != nil {
		err = tx.with(func(driver.Conn) error { return tx.begun.Rollback() })
	}
	return tx.giveBack(err)
}

type driverCursor struct {
	tx     *driverTx
	end    func() error // of watching; nil once the cursor is closed
	rows   driver.Rows
	stmt   driver.Stmt // nil where the rows need none
	values []driver.Value
	arena  []byte
}

func (c *driverCursor) prepare(ctx context.Context, conn driver.Conn, query string, values []driver.NamedValue) error {
	prepares, ok := conn.(driver.ConnPrepareContext)
	if !ok {
		return fmt.Errorf("the driver's connection is a %T, which prepares no statements", conn)
	}
	stmt, err := prepares.PrepareContext(ctx, query)
	if err != nil {
		return err
	}
	c.stmt = stmt
	queries, ok := stmt.(driver.StmtQueryContext)
	if !ok {
		return fmt.Errorf("the driver's statement is a %T, which gives no rows", stmt)
	}
	c.rows, err = queries.QueryContext(ctx, values)
	return err
}

func (c *driverCursor) Next() (bool, error) {
	if c.values == nil {
		c.values = make([]driver.Value, len(c.rows.Columns()))
	}
	switch err := c.rows.Next(c.values); {
	case err == nil:
		return true, nil
	case errors.Is(err, io.EOF):
		return false, nil
	default:
		return false, errors.Join(err, c.tx.ctx.Err())
	}
}

// Row leaves texts where the driver has them: they live until its next row.
func (c *driverCursor) Row(cells []Cell) error {
	if len(c.values) != len(cells) {
		return fmt.Errorf("there are %d columns instead of %d", len(c.values), len(cells))
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

func (c *driverCursor) Close() error {
	var err error
	if c.rows != nil {
		err = c.rows.Close()
		c.rows = nil
	}
	if c.stmt != nil {
		err = errors.Join(err, c.stmt.Close())
		c.stmt = nil
	}
	if c.end == nil {
		return err
	}
	if c.end() != nil {
		_ = c.tx.with(func(driver.Conn) error { return driver.ErrBadConn }) // takes it out of the pool at once
		err = errors.Join(err, c.tx.ctx.Err())
	}
	c.end = nil
	return err
}

// cellOf makes a cell of one of the five storage classes of what drivers give; times become text. What it has to write goes to the
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
