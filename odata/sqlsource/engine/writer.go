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

// Writer is the pool of one connection through which this process writes to the database file, with the tables that no
// reader sees. Writes to those tables do not invalidate caches.
type Writer struct {
	DB *sql.DB
	// Private tells whether readers see nothing of a table.
	Private func(table string) bool
}

// maxWriterWait is how long a request waits for a writer that is busy. After that the version of the data is unknown, and
// the request is answered without a cache.
const maxWriterWait = 2 * time.Millisecond

// ownWrites tells whether a commit, of the writer or of another process, changed what readers see. PRAGMA data_version of
// the writer's connection moves only with the commits of others; the writer's own changes are counted row by row.
type ownWrites struct {
	Writer
	// conn is the driver's connection whose changes are counted; replaced tells that it was opened since the last moved.
	conn     any
	replaced bool
	// writes counts the rows that the writer changed in tables that readers see.
	writes atomic.Int64
	// counted and last are writes and the writer's state at the last moved; asked tells that there was one.
	counted int64
	last    writerState
	asked   bool
}

// writerState is what the writer's connection tells of the database: PRAGMA data_version and schema_version.
type writerState struct{ data, schema int64 }

// hold calls f while nobody can write through the writer.
func (o *ownWrites) hold(ctx context.Context, f func(state func() (writerState, error)) error) error {
	wait := maxWriterWait
	if o.DB.Stats().InUse == 0 { // nobody holds it, so only a slow machine makes this wait
		wait = time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	c, err := o.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	ctx = context.WithoutCancel(ctx) // the limit is for the wait; asking takes microseconds
	return c.Raw(func(raw any) error {
		if raw != o.conn {
			hooks, ok := raw.(modernc.HookRegisterer)
			if !ok {
				return errors.New("the driver of the writer has no hook for its changes")
			}
			hooks.RegisterPreUpdateHook(o.changed)
			o.conn, o.replaced = raw, true
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

// moved tells whether the data that readers see may have changed since moved was last called. The writer must be held.
func (o *ownWrites) moved(now writerState) bool {
	n := o.writes.Load()
	moved := o.replaced || !o.asked || n != o.counted || now != o.last
	o.replaced, o.asked, o.counted, o.last = false, true, n, now
	return moved
}

// pragma reads one number through a driver's connection.
func pragma(ctx context.Context, raw any, query string) (int64, error) {
	q, ok := raw.(driver.QueryerContext)
	if !ok {
		return 0, errors.New("the driver of the writer runs no query on a raw connection")
	}
	rows, err := q.QueryContext(ctx, query, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	var dest [1]driver.Value
	if err := rows.Next(dest[:]); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the pragma has no row")
		}
		return 0, err
	}
	n, ok := dest[0].(int64)
	if !ok {
		return 0, errors.New("the pragma is no integer")
	}
	return n, nil
}
