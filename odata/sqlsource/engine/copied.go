package engine

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"net/url"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
)

// ErrCopied says that another file was copied over the database while connections were open to it. Its pages, those in
// memory and those in the log are then of two databases, so nothing is read until another file is renamed over it or the
// process starts anew.
var ErrCopied = errors.New("another file was copied over the SQLite database: stop the host, put the file in place, remove its -wal and -shm, and start again")

// onDisk is what a file looked like when it was last looked at.
type onDisk struct {
	info fs.FileInfo
	head header
}

// header is a part of the first page of a file. https://www.sqlite.org/fileformat2.html#the_database_header
type header struct {
	wal, autoVacuum bool
	// cookie grows when the schema changes and with VACUUM.
	cookie uint32
}

// readHeader reads the file itself, past its log. SQLite has to open it: closing a descriptor of our own would drop the
// locks of all connections of the process.
func readHeader(path string) (h header, err error) {
	uri := url.URL{Scheme: "file", Path: path, RawQuery: "immutable=1&mode=ro"}
	c, err := sqlite3.Open(uri.String())
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	stmt, err := c.Prepare("SELECT data FROM sqlite_dbpage WHERE pgno = 1")
	if err != nil {
		return h, err
	}
	defer stmt.Close()
	if row, err := stmt.Step(); err != nil || !row {
		return h, err
	}
	b := make([]byte, 100)
	copy(b, stmt.Value(0).Bytes())
	return header{wal: b[18] == 2, autoVacuum: binary.BigEndian.Uint32(b[52:]) > 0, cookie: binary.BigEndian.Uint32(b[40:])}, nil
}

// copied tells whether the file can only have become what it is now by something else than SQLite: while connections are
// open, none turns the log off, the schema's number only grows, and only VACUUM, which counts there, makes a file shorter
// that has a log and does not do so by itself.
func (d onDisk) copied(now onDisk) bool {
	back := int32(now.head.cookie-d.head.cookie) < 0 // it may wrap around
	shorter := now.info.Size() < d.info.Size() && now.head.cookie == d.head.cookie && !now.head.autoVacuum
	return back || d.head.wal && (!now.head.wal || shorter)
}

// checkCopied looks at a file that was written to since the last look. Pages of it in memory are then no longer used: they
// may be those of another file. info is what the file looks like now, nil where it is missing. The caller holds mu.
func (db *SQLite) checkCopied(info fs.FileInfo) error {
	if db.copied {
		return ErrCopied
	}
	if info == nil || db.disk.info != nil && info.Size() == db.disk.info.Size() && info.ModTime().Equal(db.disk.info.ModTime()) {
		return nil
	}
	first := db.disk.info == nil
	if !first {
		db.written++
		db.versions.forget()
	}
	head, err := readHeader(db.file.Path())
	if err != nil {
		return nil //nolint:nilerr // perhaps it is being written: the next look tells, and so does whoever reads
	}
	now := onDisk{info, head}
	if !first && db.disk.copied(now) {
		db.copied = true
		db.copies.Add(1)
		return ErrCopied
	}
	db.disk = now
	return nil
}

// refresh drops what a connection has in memory of a file that was written to.
func (c *conn) refresh(written int64) error {
	if c.written == written {
		return nil
	}
	c.written, c.name = written, unknown
	return c.Exec("PRAGMA shrink_memory")
}

// FileChanges counts how often another file came in the place of the database by rename, and how often one was seen to be
// copied over it.
func (db *SQLite) FileChanges() (exchanged, copied int64) {
	return db.exchanges.Load(), db.copies.Load()
}

// Look looks whether the file was exchanged. The error is ErrCopied, or why the new file cannot be opened.
func (db *SQLite) Look() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.renew()
}
