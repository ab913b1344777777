package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlitefile"
)

// ErrExchanged is the error of a database that is Fixed after another file came in its place by rename.
var ErrExchanged = errors.New("another file was put in the place of the SQLite database: restart the host")

var errRenamed = errors.New("the file was exchanged meanwhile")

// renew closes the free connections when another file came in the place of theirs by rename. Those in use finish what
// they read, and are closed when they come back. It looks at the file once in sqlitefile.LookEvery. The caller holds mu.
func (db *SQLite) renew() error {
	if db.left {
		return ErrExchanged
	}
	at := time.Now()
	if at.Sub(db.looked) < sqlitefile.LookEvery && !db.copied {
		return nil
	}
	now, exchanged := db.file.Look()
	if !exchanged {
		db.looked = at // not before: whoever comes behind an error is to meet it, too
		return db.checkCopied(now)
	}
	if last := len(db.idle) - 1; last >= 0 { // the old file may have been kept under another name
		_ = db.idle[last].Exec("PRAGMA wal_checkpoint(PASSIVE)")
	}
	if err := db.file.Detach(); err != nil {
		return fmt.Errorf("the database file was exchanged: remove the log of the old one: %w", err)
	}
	if db.Fixed {
		db.left = true
		return ErrExchanged
	}
	file, err := db.file.Again()
	if err != nil {
		return fmt.Errorf("open SQLite database: %w", err)
	}
	db.file, db.disk, db.copied = file, onDisk{}, false
	db.exchanges.Add(1)
	var errs []error
	for _, c := range db.idle {
		errs = append(errs, db.drop(c))
	}
	db.idle = nil
	return errors.Join(append(errs, db.versions.reopen(db.dsn))...)
}

// verify returns the number of the exchange that the file is of, unless it was exchanged again.
func (db *SQLite) verify() (int64, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.file.Exchanged() {
		db.looked = time.Time{} // renew is to see it, too
		return 0, errRenamed
	}
	return db.exchanges.Load(), nil
}

// noteLog remembers which log a connection that has read has open.
func (db *SQLite) noteLog(c *conn) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.note(c)
}

// noteBegunLog does so for a log that an application began behind the first read of the connection.
func (db *SQLite) noteBegunLog(c *conn) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.file.LogBegun() {
		db.note(c)
	}
}

// note is noteLog for a caller who holds mu.
func (db *SQLite) note(c *conn) {
	now, err := sqlitefile.Identify(db.file.Path())
	// The second look tells that the log was that of the file, and not of another one that came in between.
	if err != nil || c.exchange != db.exchanges.Load() || !now.Same(db.file) || db.file.Exchanged() {
		return
	}
	if !c.logs() { // such a log may be gone, and its number that of the next file's
		now = now.Alone()
	}
	db.file = now
}

// logs tells whether the connection has a log open. It has read before.
func (c *conn) logs() bool {
	mode, err := c.pragma("journal_mode")
	return err == nil && mode == "wal"
}
