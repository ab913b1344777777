package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

// sqliteWrite is a transaction on the one connection that writes.
type sqliteWrite struct {
	sqliteTx
	// cancel ends the time that the transaction may keep the lock; nil before it has the lock.
	cancel context.CancelFunc
	// gate holds the place in the line of SQLite.Gate; nil where there is none.
	gate *sql.Conn
	// ended reports that Commit was called.
	ended bool
}

// maxHold is how long a transaction may keep the lock of the file. A sign-in waits for the lock several times, and gives up after
// 10 s: beside a client that always kept it, sign-ins failed with 3 s and passed with 2 s.
const maxHold = 2 * time.Second

// errHeld is the error of a transaction that has kept the lock for too long. The transaction is then undone.
var errHeld = errors.New("the transaction has kept the lock of the SQLite file for too long, which all others who write wait for")

// BeginWrite waits for its turn and takes the lock of the file at once: a transaction that reads first could lose it to
// another process.
func (db *SQLite) BeginWrite(ctx context.Context) (WriteTx, error) {
	select {
	case db.writing <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	tx := &sqliteWrite{sqliteTx: sqliteTx{db: db, ctx: ctx, end: func() {}}}
	if err := tx.begin(); err != nil {
		return nil, errors.Join(cause(ctx, err), tx.Close())
	}
	return tx, nil
}

func (tx *sqliteWrite) begin() (err error) {
	db, since, lock := tx.db, time.Now(), lockWait
	if db.Wait != nil {
		lock = db.Wait(tx.ctx)
	}
	if db.Gate != nil {
		if tx.gate, err = db.Gate.Conn(tx.ctx); err != nil {
			return fmt.Errorf("wait for the other writer of the program: %w", err)
		}
	}
	if deadline, ok := tx.ctx.Deadline(); ok {
		lock = min(lock, time.Until(deadline))
	}
	for range 3 {
		if err = tx.lock(lock - time.Since(since)); !errors.Is(err, errRenamed) {
			return err
		}
	}
	return err
}

// lock begins the transaction on a connection to the file that has the name now.
func (tx *sqliteWrite) lock(wait time.Duration) error {
	db := tx.db
	db.mu.Lock()
	db.looked = time.Time{} // what is written to a file that was exchanged is lost
	err := db.renew()
	written, done := db.written, db.done
	db.mu.Unlock()
	switch {
	case err != nil:
		return err
	case done:
		return errClosed
	}
	if c := db.writer; c != nil && c.exchange != db.exchanges.Load() {
		db.writer = nil
		if err := c.Close(); err != nil {
			return err
		}
	}
	if db.writer == nil {
		c, err := db.openConn(1, max(wait, 0), "foreign_keys=1", "synchronous=FULL")
		if err != nil {
			return err
		}
		c.written, db.writer = written, c
		db.noteLog(c)
	}
	tx.conn = db.writer
	if err := tx.conn.refresh(written); err != nil {
		return err
	}
	tx.conn.SetBusyTimeout(wait)
	tx.end = tx.conn.interruptAfter(tx.ctx)
	if err := tx.conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := tx.still(); err != nil {
		return err
	}
	hold := maxHold
	if db.Hold > 0 {
		hold = db.Hold
	}
	tx.end()
	tx.ctx, tx.cancel = context.WithTimeoutCause(tx.ctx, hold, errHeld)
	tx.end = tx.conn.interruptAfter(tx.ctx)
	return nil
}

// still returns errRenamed if the transaction is one of a file that has lost its name. The transaction is then undone.
func (tx *sqliteWrite) still() error {
	tx.db.mu.Lock()
	exchanged := tx.db.file.Exchanged() || tx.conn.exchange != tx.db.exchanges.Load()
	tx.db.mu.Unlock()
	if !exchanged {
		return nil
	}
	return errors.Join(errRenamed, tx.undo())
}

func (tx *sqliteWrite) undo() error {
	tx.end()
	tx.end = func() {}
	for _, c := range tx.cursors {
		_ = c.Close()
	}
	tx.cursors = nil
	if tx.conn.Autocommit() {
		return nil
	}
	return tx.conn.Exec("ROLLBACK")
}

// Exec runs a statement.
func (tx *sqliteWrite) Exec(query string, args []any) (n int64, err error) {
	cur, err := tx.Query(query, args)
	if err != nil {
		return 0, err
	}
	for more := true; more && err == nil; {
		more, err = cur.Next()
	}
	if err == nil {
		n = tx.conn.Changes()
	}
	return n, errors.Join(err, cur.Close())
}

// Query forgets the cursors that were closed: a transaction may have thousands of statements.
func (tx *sqliteWrite) Query(query string, args []any) (Cursor, error) {
	tx.cursors = slices.DeleteFunc(tx.cursors, func(c *sqliteCursor) bool { return c.stmt == nil })
	return tx.sqliteTx.Query(query, args)
}

// Commit ends the transaction. A file that was exchanged meanwhile has the changes, and nobody sees them.
func (tx *sqliteWrite) Commit() error {
	if tx.ctx.Err() != nil {
		return cause(tx.ctx, nil)
	}
	tx.end()
	tx.end = func() {}
	tx.ended = true
	if err := tx.conn.Exec("COMMIT"); err != nil {
		return err
	}
	tx.db.versions.forget()
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	if tx.db.file.Exchanged() {
		return errLeft
	}
	return nil
}

// errLeft is the error of a commit to a file that another one has taken the place of.
var errLeft = errors.New("another file was put in the place of the SQLite database while it was written")

// Close undoes what was not committed, and lets the next one write.
func (tx *sqliteWrite) Close() error {
	if tx.db == nil {
		return nil
	}
	db := tx.db
	tx.db = nil
	defer func() { <-db.writing }()
	var errs []error
	if tx.conn != nil {
		err := tx.undo()
		db.mu.Lock()
		if err != nil || db.done {
			db.writer = nil
			errs = append(errs, err, tx.conn.Close())
		}
		db.mu.Unlock()
	}
	if tx.cancel != nil {
		tx.cancel()
	}
	if tx.gate != nil {
		if err := tx.gate.Close(); !errors.Is(err, sql.ErrConnDone) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
