package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"sync/atomic"
	"time"

	modernc "modernc.org/sqlite"
)

// Writer is a connection pool of one, through which this process alone writes to the database file, and the tables in it
// that no reader sees. Its writes to those do not make the data another.
type Writer struct {
	DB *sql.DB
	// Private tells whether a table has nothing that readers see.
	Private func(table string) bool
}

// patience is how long to wait for a writer that is busy; without an answer nothing is remembered.
const patience = 2 * time.Millisecond

// ownWrites watches what the writer does. PRAGMA data_version of the writer moves with the commits of others only; its
// own changes are counted row by row.
type ownWrites struct {
	Writer
	conn     any // the driver's connection that is being watched
	renewed  bool
	writes   atomic.Int64
	counted  int64
	last     writerState
	reported bool
}

// writerState is what the writer knows of the database without reading it.
type writerState struct{ data, schema int64 }

// hold calls f while nobody can write through the writer.
func (o *ownWrites) hold(ctx context.Context, f func(state func() (writerState, error)) error) error {
	wait := patience
	if o.DB.Stats().InUse == 0 { // it will be here at once, unless this machine is slow
		wait = time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	c, err := o.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	ctx = context.WithoutCancel(ctx) // now that it is here, asking takes no time
	return c.Raw(func(raw any) error {
		if raw != o.conn {
			hooks, ok := raw.(modernc.HookRegisterer)
			if !ok {
				return errors.New("the writer's driver does not tell what it changes")
			}
			hooks.RegisterPreUpdateHook(o.changed)
			o.conn, o.renewed = raw, true
		}
		return f(func() (s writerState, err error) {
			if s.data, err = pragma(ctx, raw, askVersion); err == nil {
				s.schema, err = pragma(ctx, raw, "PRAGMA schema_version")
			}
			return s, err
		})
	})
}

func (o *ownWrites) changed(d modernc.SQLitePreUpdateData) {
	if !o.Private(d.TableName) {
		o.writes.Add(1)
	}
}

// moved tells whether the data may be another than when it was last asked. The writer must be held.
func (o *ownWrites) moved(now writerState) bool {
	n := o.writes.Load()
	moved := o.renewed || !o.reported || n != o.counted || now != o.last
	o.renewed, o.reported, o.counted, o.last = false, true, n, now
	return moved
}

// pragma reads one number through a driver's connection.
func pragma(ctx context.Context, raw any, query string) (int64, error) {
	q, ok := raw.(driver.QueryerContext)
	if !ok {
		return 0, errors.New("the writer's driver cannot be asked")
	}
	rows, err := q.QueryContext(ctx, query, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	var dest [1]driver.Value
	if err := rows.Next(dest[:]); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("no answer")
		}
		return 0, err
	}
	n, ok := dest[0].(int64)
	if !ok {
		return 0, errors.New("the answer is no number")
	}
	return n, nil
}
